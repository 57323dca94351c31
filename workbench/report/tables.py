"""Shapes the tables of a run for reading: rows in, small tables out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import pandas as pd

from workbench.analysis.estimate import Estimate, estimate
from workbench.analysis.survival import Survival, survival_of
from workbench.errors import UnknownName
from workbench.palette import REFERENCES
from workbench.report.ranked import RETENTION as RETENTION
from workbench.report.ranked import larger, left_out, stays_larger, unranked


class Source(Protocol):
    """A run as it is on disk: `workbench.experiment.Results` is one."""

    @property
    def manifest(self) -> Mapping[str, object]:
        """What the run was made with."""
        ...

    def table(self, name: str, /) -> pd.DataFrame:
        """One table by name, see `docs/tables.md`."""
        ...


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a run with plain columns: missing numbers are NaN, missing words are empty."""

    manifest: Mapping[str, object]
    sessions: pd.DataFrame
    steps: pd.DataFrame
    compactions: pd.DataFrame
    retention: pd.DataFrame
    scores: pd.DataFrame
    losses: pd.DataFrame
    replays: pd.DataFrame
    survival: pd.DataFrame
    baseline: str = ""
    order: tuple[str, ...] = ()
    larger: frozenset[tuple[str, str, float]] = frozenset()
    """Strategy, session and share where a strategy stays larger than the size that was set."""

    @classmethod
    def of(cls, run: Source, baseline: str = "") -> Tables:
        """Read all that a report looks at.

        Args:
            run: a finished run.
            baseline: the strategy that the others are compared with; see `baseline` where none is named.

        Raises:
            UnknownName: the run has no such strategy.
        """
        names = ("sessions", "steps", "compactions", "retention", "scores", "losses", "replays", "survival")
        found = cls(run.manifest, **{name: plain(run.table(name)) for name in names}, baseline=baseline)
        found = replace(found, larger=larger(found.scores))
        found = replace(found, order=strategies(found))
        if baseline and baseline not in found.order:
            raise UnknownName("strategy of this run", baseline, found.order)
        return found


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """The table with numpy's columns in the place of those that know a missing value."""
    found = {}
    for name, column in table.items():
        if pd.api.types.is_numeric_dtype(column.dtype):
            found[name] = column.astype("float64" if column.isna().any() or column.dtype.kind == "f" else "int64")
        else:
            found[name] = column.astype(object).where(column.notna(), "")
    return pd.DataFrame(found, columns=table.columns)


def strategies(run: Tables) -> tuple[str, ...]:
    """All strategies of the run: contenders by what they keep, best first, then the references.

    Where all are cut to the same size, those come last that cannot be.
    """
    if run.order:
        return run.order
    names = list(dict.fromkeys([*run.replays["strategy"], *run.scores["strategy"]]))
    over_target = unranked(run)
    kept = {
        name: found.mean
        for name in names
        if name not in over_target and (found := equal_size(run, name) or own_trigger(run, name)) is not None
    }
    contenders = sorted((n for n in names if n not in REFERENCES), key=lambda name: (-kept.get(name, -1.0), name))
    return (*contenders, *(name for name in REFERENCES if name in names))


def contenders(run: Tables) -> tuple[str, ...]:
    """The strategies that are no reference, best first."""
    return tuple(name for name in strategies(run) if name not in REFERENCES)


def shares(run: Tables) -> tuple[float, ...]:
    """The budgets of matched mode as shares of the history, smallest first."""
    found = run.scores.loc[run.scores["mode"] == "matched", "share"].dropna().unique()
    return tuple(sorted(float(share) for share in found))


def values(
    run: Tables, metric: str, strategy: str, mode: str = "natural", share: float | None = None, of: str = "value"
) -> pd.Series[float]:
    """One metric of a strategy, one value a session; its mean over all shares where none is named.

    At equal size, what is kept is taken from the same sessions for all who are ranked: see `left_out`.
    """
    rows = run.scores
    if rows.empty:
        return pd.Series(dtype=float)
    chosen = (rows["metric"] == metric) & (rows["strategy"] == strategy) & (rows["mode"] == mode)
    if share is not None:
        chosen &= (rows["share"] - share).abs() < 1e-9
    if mode == "matched" and metric == RETENTION and run.larger:
        out = left_out(run, share) | stays_larger(run, share).get(strategy, set())
        chosen &= ~rows["session"].isin(out)
    return rows[chosen & rows[of].notna()].groupby("session", sort=True)[of].mean()


def baseline(run: Tables) -> str | None:
    """What the others are compared with: as named; else `truncate`, the plainest way; else the one named first.

    It does not depend on the figures. None where there are not two contenders.
    """
    if run.baseline:
        return run.baseline
    settings = run.manifest.get("settings")
    asked = settings.get("strategies") if isinstance(settings, Mapping) else ()
    names = contenders(run)
    order = ["truncate", *(str(name) for name in (asked if isinstance(asked, list | tuple) else ())), *sorted(names)]
    return next((name for name in order if name in names), None) if len(names) > 1 else None


def equal_size(run: Tables, strategy: str, share: float | None = None) -> Estimate | None:
    """What a strategy keeps when all are cut to the same size; over all shares where none is named."""
    return estimate(values(run, RETENTION, strategy, "matched", share).tolist(), least=0, most=1)


def own_trigger(run: Tables, strategy: str, metric: str = RETENTION) -> Estimate | None:
    """A metric of a strategy that compacts when its own trigger says so."""
    found = values(run, metric, strategy).tolist()
    return estimate(found, least=0, most=1) if metric == RETENTION else estimate(found)


def over_window(run: Tables) -> dict[str, tuple[int, int]]:
    """The contenders that sent requests larger than the window: in how many sessions, and of how many."""
    found = {name: values(run, "over_window", name) for name in contenders(run)}
    return {name: (int((share > 0).sum()), len(share)) for name, share in found.items() if (share > 0).any()}


def headline(run: Tables) -> pd.DataFrame:
    """One row a strategy: what it keeps and saves, means over sessions.

    Columns: `strategy`, `reference`, `sessions`, `failed`, `equal_size` with `equal_size_low` and `equal_size_high`,
    `recall`, `recall_low`, `recall_high`, `scaled`, `saved`, `saved_low`, `saved_high` (shares), `mean_context`,
    `peak_context` (tokens), `over_window` (share of the requests that are larger than the window), `compactions`
    (a session), `prefix_reuse`, `fabrication` (shares), `cost` (USD a session), `cost_saved` (share; after summaries
    and fetching again).
    """
    return pd.DataFrame([_headline(run, name) for name in strategies(run)])


def _headline(run: Tables, name: str) -> dict[str, object]:
    replays = run.replays[run.replays["strategy"] == name] if not run.replays.empty else run.replays
    row: dict[str, object] = {"strategy": name, "reference": name in REFERENCES}
    row["sessions"] = replays["session"].nunique() if len(replays) else 0
    row["failed"] = int((replays["status"] == "failed").sum()) if len(replays) else 0
    for column, found in (
        ("equal_size", equal_size(run, name)),
        ("recall", own_trigger(run, name)),
        ("saved", own_trigger(run, name, "tokens_saved")),
    ):
        row[column] = found.mean if found else None
        row[f"{column}_low"] = found.low if found else None
        row[f"{column}_high"] = found.high if found else None
    scaled = estimate(values(run, RETENTION, name, of="scaled").tolist())
    row["scaled"] = scaled.mean if scaled else None
    for metric in (
        "mean_context", "peak_context", "over_window", "compactions", "prefix_reuse", "fabrication", "cost",
        "cost_saved",
    ):  # fmt: skip
        found = own_trigger(run, name, metric)
        row[metric] = found.mean if found else None
    return row


def by_size(run: Tables) -> pd.DataFrame:
    """What each strategy keeps at each share: `strategy`, `share`, `mean`, `low`, `high`, `sessions`."""
    rows = []
    for name in strategies(run):
        for share in shares(run):
            found = equal_size(run, name, share)
            if found is not None:
                rows.append({"strategy": name, "share": share, **_columns(found)})
    return pd.DataFrame(rows, columns=["strategy", "share", "mean", "low", "high", "sessions"])


def _columns(found: Estimate) -> dict[str, object]:
    return {"mean": found.mean, "low": found.low, "high": found.high, "sessions": found.n}


def by_kind(run: Tables) -> pd.DataFrame:
    """What each strategy keeps of each kind of entity: `kind`, `demanded`, `strategy`, `recall` (share).

    At equal size over all shares where the run has matched mode, else under each strategy's own trigger. Kinds that
    were needed most come first; `demanded` counts an entity once a boundary, however many shares there are.
    """
    rows = run.retention
    columns = ["kind", "demanded", "strategy", "recall"]
    if rows.empty:
        return pd.DataFrame(columns=columns)
    rows = rows[rows["mode"] == ("matched" if (rows["mode"] == "matched").any() else "natural")]
    rows = rows[~rows["strategy"].isin(unranked(run)) & ~rows["session"].isin(left_out(run))]
    sums = rows.groupby(["kind", "strategy"], sort=True)[["demanded", "bound"]].sum().reset_index()
    sums = sums[sums["demanded"] > 0]
    sums["recall"] = sums["bound"] / sums["demanded"]
    sums["demanded"] = (
        (sums.groupby("kind")["demanded"].transform("max") / max(1, len(shares(run)))).round().astype(int)
    )
    return sums.sort_values(["demanded", "kind"], ascending=[False, True])[columns].reset_index(drop=True)


def lives(run: Tables, strategy: str) -> Survival:
    """How long things live under a strategy's own trigger: from when they were first said, in compactions."""
    rows = run.survival[run.survival["strategy"] == strategy]
    sums = rows.groupby(["session", "round"])[["at_risk", "lost"]].sum().unstack("round", fill_value=0)
    return survival_of(sums["at_risk"], sums["lost"]) if len(sums) else Survival((), 0)


def by_round(run: Tables) -> pd.DataFrame:
    """What outlives one compaction, two, ...: `strategy`, `round`, `at_risk`, `lost` (counts), `surviving` (share).

    With `low`, `high` (95 % interval of the share) and `sessions`. Rounds are counted from when a thing was first said.
    """
    columns = ["strategy", "round", "at_risk", "lost", "surviving", "low", "high", "sessions"]
    found = []
    for name in contenders(run):
        curve = lives(run, name)
        of = run.survival[(run.survival["strategy"] == name) & (run.survival["at_risk"] > 0)]
        reached = of.groupby("round")["session"].nunique()
        found += [
            (name, one.number, one.at_risk, one.lost, one.surviving, one.low, one.high, int(reached.get(one.number, 0)))
            for one in curve.rounds
        ]
    return pd.DataFrame(found, columns=columns)


def typical(run: Tables) -> str | None:
    """The session in the middle by how often it is compacted, of those that are; None if nothing was replayed."""
    if run.steps.empty:
        return None
    fired = run.compactions[(run.compactions["mode"] == "natural") & ~run.compactions["strategy"].isin(REFERENCES)]
    sizes = run.steps.groupby("session")["request"].max()
    times = fired.groupby("session").size()
    chosen = times if len(times) else sizes
    ordered = sorted(chosen.index, key=lambda session: (chosen[session], sizes[session], str(session)))
    return str(ordered[len(ordered) // 2])


def trigger_share(run: Tables) -> float | None:
    """The share of the window at which all contenders compact, as the manifest has it; None if they do not agree."""
    presets = run.manifest.get("presets")
    found: set[object] = set()
    for one in presets if isinstance(presets, list) else ():
        if isinstance(one, Mapping) and one.get("name") not in REFERENCES:
            trigger = one.get("trigger")
            found.add(trigger.get("threshold") if isinstance(trigger, Mapping) else None)
    (share,) = found if len(found) == 1 else (None,)
    return share if isinstance(share, float) else None


def worst_losses(run: Tables, most: int = 60, each: int = 0) -> pd.DataFrame:
    """What was lost and needed again, worst first; an entity that several strategies lost at one boundary is one row.

    Columns: those of the `losses` table, with `lost_by`: a tuple of `(strategy, stage, level)`. Under the strategies'
    own triggers where that lost anything, else at equal size. The references are left out.

    Args:
        run: the tables.
        most: rows, >= 1.
        each: rows of each session beyond those, so that no session is without its worst.
    """
    rows = run.losses
    if rows.empty:
        return rows.assign(lost_by=[])
    rows = rows[~rows["strategy"].isin(REFERENCES)]
    own = rows["mode"] == "natural"
    rows = rows[own] if own.any() else rows
    groups = rows.groupby(["session", "kind", "entity", "needed_at"], sort=False)
    found = groups.head(1).assign(lost_by=None)
    order = {name: place for place, name in enumerate(strategies(run))}
    by = {key: tuple(sorted(_losers(group), key=lambda one: order[one[0]])) for key, group in groups}
    keys = zip(found["session"], found["kind"], found["entity"], found["needed_at"], strict=True)
    found["lost_by"] = pd.Series([by[key] for key in keys], index=found.index, dtype=object)
    found["weight"] = (
        groups["weight"].max().reindex(found.set_index(["session", "kind", "entity", "needed_at"]).index).values
    )
    found["times"] = found["lost_by"].map(len)
    found = found.sort_values(["weight", "times"], ascending=False, kind="stable")
    found["turn"] = found.groupby(["weight", "times", "session"], sort=False).cumcount()  # so that no session fills it
    found = found.sort_values(["weight", "times", "turn"], ascending=[False, False, True], kind="stable")
    place = pd.Series(range(len(found)), index=found.index)
    of_session = found.groupby("session", sort=False).cumcount()
    return found[(place < most) | (of_session < each)].reset_index(drop=True)


def _losers(group: pd.DataFrame) -> Sequence[tuple[str, str, str]]:
    found: dict[str, tuple[str, str, str]] = {}
    for strategy, stage, level in zip(group["strategy"], group["stage"], group["level"], strict=True):
        found.setdefault(strategy, (strategy, str(stage), str(level)))
    return tuple(found.values())


def integrity(run: Tables) -> pd.DataFrame:
    """What the guard found, one row a contender: `compactions`, `violations`, `too_large`, `fallbacks`, `failed`."""
    rows = []
    for name in contenders(run):
        fired = run.compactions[run.compactions["strategy"] == name] if not run.compactions.empty else run.compactions
        replays = run.replays[run.replays["strategy"] == name]
        rows.append({
            "strategy": name, "compactions": len(fired),
            "violations": int(fired["violations"].sum()) if len(fired) else 0,
            "too_large": int((fired["outcome"] == "too_large").sum()) if len(fired) else 0,
            "fallbacks": int(fired["fallbacks"].sum()) if len(fired) else 0,
            "failed": int((replays["status"] == "failed").sum()),
        })  # fmt: skip
    return pd.DataFrame(rows, columns=["strategy", "compactions", "violations", "too_large", "fallbacks", "failed"])


def replayed(run: Tables) -> pd.DataFrame:
    """The sessions that could be read."""
    return run.sessions[run.sessions["status"] == "ok"] if not run.sessions.empty else run.sessions


def unreadable(run: Tables) -> pd.DataFrame:
    """The files that could not be read, with the reason."""
    return run.sessions[run.sessions["status"] != "ok"] if not run.sessions.empty else run.sessions


def uncalibrated(run: Tables) -> pd.DataFrame:
    """Sessions whose sizes are a tokenizer's and not their provider's."""
    found = replayed(run)
    return found[found["scale"].isna()] if len(found) else found


def widened(run: Tables) -> pd.DataFrame:
    """Sessions whose overhead fills the window asked for, so that they were replayed in a larger one."""
    found = replayed(run)
    settings = run.manifest.get("settings")
    asked = settings.get("window") if isinstance(settings, Mapping) else None
    wanted = found["window"] if asked is None else asked
    return found[found["window_used"] > wanted] if len(found) else found


def skipped(run: Tables) -> int:
    """Damaged lines that a lenient reader left out, in all files together."""
    if run.sessions.empty:
        return 0
    return int(run.sessions["skipped"].map(lambda text: len(str(text).splitlines())).sum())
