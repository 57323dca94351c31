"""The tables of a run, and what is read off them: who is compared, over which sessions, with which values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import pandas as pd

from workbench.analysis.estimate import Estimate, estimate
from workbench.errors import UnknownName
from workbench.metrics.sizes import MOST_OVER_TARGET, TOO_LARGE
from workbench.palette import REFERENCES

RETENTION = "recall"
"""The headline metric: future-reference recall, at the level where an entity still stands with its context."""
SAVED = "tokens_saved"
"""The metric of tokens that a strategy saves on its own trigger."""


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
    """Strategy, session and share where a strategy stays larger than the target size."""

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


def larger(scores: pd.DataFrame) -> frozenset[tuple[str, str, float]]:
    """Strategy, session and share where a strategy stays larger than the target size."""
    if scores.empty:
        return frozenset()
    rows = scores[(scores["metric"] == RETENTION) & (scores["mode"] == "matched")]
    rows = rows[rows["why"].astype(str).str.startswith(TOO_LARGE)]
    return frozenset(
        (str(name), str(session), float(share))
        for name, session, share in zip(rows["strategy"], rows["session"], rows["share"], strict=True)
    )


def strategies(run: Tables) -> tuple[str, ...]:
    """All strategies of the run: contenders by recall, best first, then the references.

    Contenders that cannot reach the common size come last.
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

    At equal size, recall is taken from the same sessions for all ranked strategies: see `left_out`.
    """
    rows = run.scores
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
    """Recall of a strategy when all are cut to the same size; over all shares where none is named."""
    return estimate(values(run, RETENTION, strategy, "matched", share).tolist(), least=0, most=1)


def own_trigger(run: Tables, strategy: str, metric: str = RETENTION) -> Estimate | None:
    """A metric of a strategy that compacts on its own trigger."""
    found = values(run, metric, strategy).tolist()
    return estimate(found, least=0, most=1) if metric == RETENTION else estimate(found)


def over_window(run: Tables) -> dict[str, tuple[int, int]]:
    """The contenders that sent requests larger than the window: in how many sessions, and of how many."""
    found = {name: values(run, "over_window", name) for name in contenders(run)}
    return {name: (int((share > 0).sum()), len(share)) for name, share in found.items() if (share > 0).any()}


def stays_larger(run: Tables, share: float | None = None) -> dict[str, set[str]]:
    """By strategy the sessions in which it stays larger than a share; than any of them where none is named."""
    found: dict[str, set[str]] = {}
    for name, session, at in run.larger:
        if share is None or abs(at - share) < 1e-9:
            found.setdefault(name, set()).add(session)
    return found


def over_target(run: Tables, share: float | None = None) -> dict[str, tuple[int, int]]:
    """The strategies that stay larger than the target size: in how many sessions, and of how many.

    Sessions in which too little is needed later for a score count in neither.
    """
    large = stays_larger(run, share)
    if not large:
        return {}
    rows = run.scores[(run.scores["metric"] == RETENTION) & (run.scores["mode"] == "matched")]
    rows = rows[rows["session"].isin(rows.loc[rows["value"].notna(), "session"])]
    of = rows.groupby("strategy")["session"].unique()
    found = {str(name): (len(large.get(name, set()) & set(every)), len(every)) for name, every in of.items()}
    return {name: (many, every) for name, (many, every) in found.items() if many}


def unranked(run: Tables, share: float | None = None) -> dict[str, tuple[int, int]]:
    """Those of `over_target` in too many sessions for a mean that compares with the others'."""
    found = over_target(run, share)
    return {name: (large, every) for name, (large, every) in found.items() if large > MOST_OVER_TARGET * every}


def left_out(run: Tables, share: float | None = None) -> set[str]:
    """The sessions in which a ranked strategy stays larger: no strategy's mean at that size counts them."""
    large = stays_larger(run, share)
    out = unranked(run, share) if large else {}
    return {session for name, sessions in large.items() if name not in out for session in sessions}


def replayed(run: Tables) -> pd.DataFrame:
    """The sessions that could be read."""
    return run.sessions[run.sessions["status"] == "ok"]


def unreadable(run: Tables) -> pd.DataFrame:
    """The files that could not be read, with the reason."""
    return run.sessions[run.sessions["status"] != "ok"]
