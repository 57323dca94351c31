"""Small tables for reading, made from the tables of a run: rows in, means, shares and worst cases
out. Pure.

Their columns are in docs/reference/tables.md, with units.
"""

import re
from collections import Counter
from dataclasses import dataclass

import pandas as pd

from workbench.base.formats import missing
from workbench.base.palette import REFERENCES
from workbench.engine.models.bundled_answers import NAME as BUNDLED
from workbench.evaluation.analysis.paired import interval_columns
from workbench.evaluation.analysis.survival import survival
from workbench.evaluation.findings.tables import SAVED, Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import NAMES
from workbench.evaluation.metrics.work_exam.reader_error import RULES

RECORDED = "recorded"
"""The recorded agent's own compaction, as a strategy."""


def replayed_contenders(run: Tables) -> list[str]:
    """The contenders, best first, without the agents' own compaction: it has no figures
    elsewhere.
    """
    return [name for name in run.contenders if name != RECORDED]


def recorded(run: Tables) -> pd.DataFrame:
    """What was kept at the recorded agents' own compactions, best first; no row where no recording
    has one.

    One row a strategy, cut to the size with which the agent went on; `recorded` is the agent's own
    compaction. Columns: `strategy`, `sessions`, `recall` with its interval, `tokens_kept` (shares,
    means over projects).
    """
    columns = ["strategy", "sessions", "recall", "recall_low", "recall_high", "tokens_kept"]
    recall = run.select(NAMES, "recorded").dropna(subset="value")
    if RECORDED not in set(recall["strategy"]):
        return pd.DataFrame(columns=columns)
    rows = []
    for name in recall["strategy"].unique():
        values = run.values(NAMES, name, "recorded")
        recall_mean = run.mean_over_projects(values, highest=1)
        size = run.mean_over_projects(run.values("tokens_kept", name, "recorded"))
        size_column = {"tokens_kept": size.mean if size else None}
        rows.append(
            {
                "strategy": name,
                "sessions": len(values),
                **interval_columns("recall", recall_mean),
                **size_column,
            }
        )
    return pd.DataFrame(rows, columns=columns).sort_values(
        "recall", ascending=False, ignore_index=True
    )


def by_kind(run: Tables) -> pd.DataFrame:
    """What each strategy keeps of each kind of entity.

    At equal size over all shares where the run has matched mode, else under each strategy's own
    trigger. Kinds that were needed most come first; `demanded` counts an entity once a boundary,
    however many shares there are.
    """
    rows = run.retention
    rows = rows[rows["mode"] == ("matched" if (rows["mode"] == "matched").any() else "natural")]
    rows = rows[~rows["strategy"].isin(run.unranked()) & ~rows["session"].isin(run.left_out)]
    sums = rows.groupby(["kind", "strategy"], sort=True)[["demanded", "bound"]].sum().reset_index()
    sums = sums[sums["demanded"] > 0]
    needed = sums.groupby("kind")["demanded"].transform("max") / max(1, len(run.shares))
    sums = sums.assign(recall=sums["bound"] / sums["demanded"], demanded=needed.round().astype(int))
    sums = sums.sort_values(["demanded", "kind"], ascending=[False, True])
    return sums[["kind", "demanded", "strategy", "recall"]].reset_index(drop=True)


def by_session(run: Tables) -> pd.DataFrame:
    """What each strategy keeps in each session.

    At equal size, mean over the shares, where the run has matched mode, else under each strategy's
    own trigger.
    """
    mode = "matched" if run.shares else "natural"
    recalls = {name: run.values(run.first_half, name, mode) for name in replayed_contenders(run)}
    titles = session_titles(run)
    rows = [
        (session, titles[str(session)], name, float(recall.get(session, float("nan"))))
        for session in run.replayed["session"]
        for name, recall in recalls.items()
    ]
    return pd.DataFrame(rows, columns=["session", "title", "strategy", "recall"])


def session_titles(run: Tables, longest: int = 60) -> dict[str, str]:
    """A short title of each session, numbered where several read the same; the session's id
    where it has none.
    """
    titles = zip(run.sessions["session"], run.sessions["title"], strict=True)
    full_titles = {
        str(id): str(id if missing(title) or not title else title) for id, title in titles
    }
    short = {
        id: title if len(title) <= longest else title[: longest - 1].rstrip() + "…"
        for id, title in full_titles.items()
    }
    times, number = Counter(short.values()), Counter[str]()
    for id, title in short.items():
        number[title] += 1
        if times[title] > 1:
            short[id] = f"{title} ({number[title]} of {times[title]})"
    return short


def lives(run: Tables, strategy: str) -> pd.DataFrame:
    """How long entities stay in the context on a strategy's own trigger: a row a compaction since
    their first mention.

    Columns: `strategy`, those of `analysis.survival`, and `sessions`, which had as many
    compactions.
    """
    rows = run.survival[(run.survival["strategy"] == strategy) & (run.survival["at_risk"] > 0)]
    rows = rows.assign(project=[run.project(name) for name in rows["session"]])
    sums = (
        rows.pivot_table(name, "project", "round", "sum", fill_value=0)
        for name in ("at_risk", "lost")
    )
    curve = survival(*sums)
    sessions = curve["round"].map(rows.groupby("round")["session"].nunique())
    return pd.DataFrame({"strategy": strategy, **curve, "sessions": sessions})


def by_round(run: Tables) -> pd.DataFrame:
    """What outlives one compaction, two, ..., with a 95 % interval; rounds are counted from the
    first mention.
    """
    curves = [lives(run, name) for name in run.contenders]
    return pd.concat(curves, ignore_index=True) if curves else lives(run, "")


def typical(run: Tables) -> str | None:
    """The session in the middle by how often it is compacted, of those that are; None if nothing
    was replayed.
    """
    fired = run.compactions[
        (run.compactions["mode"] == "natural") & ~run.compactions["strategy"].isin(REFERENCES)
    ]
    sizes = run.steps.groupby("session")["request"].max()
    times = fired.groupby("session").size()
    counts = times if len(times) else sizes
    ordered = sorted(
        counts.index, key=lambda session: (counts[session], sizes[session], str(session))
    )
    return str(ordered[len(ordered) // 2]) if len(sizes) else None


def worst_losses(run: Tables, row_limit: int = 60, each: int = 0) -> pd.DataFrame:
    """What was lost and needed again, worst first; an entity that several strategies lost at one
    boundary is one row.

    First stands what one strategy lost and another kept, then what all lost; last what is
    boilerplate.

    Columns: those of the `losses` table, with `lost_by`: a tuple of `(strategy, stage, level)`.
    Under the strategies' own triggers where that lost anything, else at equal size. The references
    are left out. Beyond the `most` rows, each session has so many of its worst.
    """
    keys = ["session", "kind", "entity", "needed_at"]
    rows = run.losses[~run.losses["strategy"].isin(REFERENCES)]
    is_natural = rows["mode"] == "natural"
    rows = rows[is_natural] if is_natural.any() else rows
    if rows.empty:
        return rows.assign(lost_by=[])
    losers = rows.drop_duplicates([*keys, "strategy"])
    losers = losers.sort_values(
        "strategy", key=lambda names: names.map(run.strategies.index), kind="stable"
    )
    losers = losers.assign(
        lost_by=list(losers[["strategy", "stage", "level"]].itertuples(index=False, name=None))
    )
    losses = rows.drop_duplicates(keys).set_index(keys, drop=False)
    losses = losses.assign(
        lost_by=losers.groupby(keys)["lost_by"].agg(tuple),
        weight=rows.groupby(keys)["weight"].max(),
    )
    losses = losses.reset_index(drop=True)
    losses["times"] = losses["lost_by"].map(len)
    replays = run.replays[
        (run.replays["status"] == "ok") & ~run.replays["strategy"].isin(REFERENCES)
    ]
    losses["by_all"] = losses["times"] >= losses["session"].map(
        replays.groupby("session")["strategy"].nunique()
    )
    stated = zip(losses["kind"], losses["entity"], losses["evidence"], strict=True)
    losses["boilerplate"] = [_is_boilerplate(*map(str, statement)) for statement in stated]
    # so that no session fills it
    losses["turn"] = losses.groupby(["weight", "times", "session"], sort=False).cumcount()
    order = ["boilerplate", "by_all", "weight", "times", "turn"]
    losses = losses.sort_values(
        order, ascending=[True, True, False, False, True], kind="stable", ignore_index=True
    )
    of_session = losses.groupby("session", sort=False).cumcount()
    return losses[(losses.index < row_limit) | (of_session < each)].reset_index(drop=True)


_KEY_ENDS = re.compile(r"[\"']?\??:(?![:=])")
_CLASSES = re.compile(r"\bclass(?:Name)?=[\"'`{][^\"'`]*$")


def _is_boilerplate(kind: str, entity: str, evidence: str) -> bool:
    """Whether an entity is stated as the key of a field, as a class of a page's style, or inside
    a longer word.
    """
    text_before, match, text_after = evidence.partition(entity)
    begins_line = not any(map(str.isalnum, text_before.rpartition("\n")[2]))
    key = (text_before.endswith('"') and text_after.startswith('":')) or (
        begins_line and _KEY_ENDS.match(text_after)
    )
    inside = kind in ("identifier", "error", "id") and text_before[-1:].isalnum()
    return bool(match and (key or inside or _CLASSES.search(text_before)))


def integrity(run: Tables) -> pd.DataFrame:
    """What the guard found and what has no figure, one row a replayed contender, in counts."""
    compactions = run.compactions.assign(too_large=run.compactions["outcome"] == "too_large")
    by = compactions.groupby("strategy")
    counts = by[["violations", "too_large", "fallbacks"]].sum()
    counts.insert(0, "compactions", by.size())
    for status in ("failed", "pending"):
        counts[status] = (run.replays["status"] == status).groupby(run.replays["strategy"]).sum()
    counts = counts.reindex(pd.Index(replayed_contenders(run), name="strategy"))
    return counts.apply(pd.to_numeric).fillna(0).astype(int).reset_index()


def points(run: Tables) -> pd.DataFrame:
    """One row a strategy that some session has both numbers for; a session with one of them
    counts in neither mean.
    """
    rows = []
    for name in run.strategies:
        either = dots(run, name)
        both = either.dropna()
        if len(both):
            recall = run.mean_over_projects(both["recall"], highest=1)
            saved = run.mean_over_projects(both["saved"])
            figures = interval_columns("recall", recall) | interval_columns("saved", saved)
            counts = {"sessions": len(both), "of": len(either)}
            rows.append({"strategy": name, "reference": name in REFERENCES, **figures, **counts})
    return pd.DataFrame(rows)


def dots(run: Tables, strategy: str) -> pd.DataFrame:
    """One row a session that has a number: `recall`, `saved`; NaN for the one that it has not."""
    recall, saved = run.values(run.leading("natural"), strategy), run.values(SAVED, strategy)
    return pd.concat([recall.rename("recall"), saved.rename("saved")], axis=1)


def writers(run: Tables) -> pd.DataFrame:
    """One row a strategy that asked for summaries: who wrote them, at what cost, and with which
    faults.
    """
    compactions = run.compactions[run.compactions["requests"] > 0]
    rows = [
        _writer(run, name, own_compactions)
        for name in run.strategies
        if len(own_compactions := compactions[compactions["strategy"] == name])
    ]
    return pd.DataFrame(rows)


def _writer(run: Tables, name: str, compactions: pd.DataFrame) -> dict[str, object]:
    counts, faulty = (
        compactions["writer"].value_counts(),
        (compactions["findings"].astype(str) != "") & (compactions["fallbacks"] == 0),
    )
    several = ", ".join(f"{writer} ({n})" for writer, n in counts.items())
    leading = run.leading("matched")
    at_size, fabricated = (run.select(metric, "matched") for metric in (leading, "fabrication"))
    return {
        "strategy": name,
        "writer": several if len(counts) > 1 else str(counts.index[0]),
        "summaries": len(compactions),
        "recall": run.values(run.leading("natural"), name).mean(),
        "recall_at_size": at_size.loc[at_size["strategy"] == name, "value"].mean(),
        "fabricated": fabricated.loc[fabricated["strategy"] == name, "value"].mean(),
        "usd": run.replays.loc[run.replays["strategy"] == name, "usd"].sum(skipna=False),
        "price": compactions["usd"].sum(skipna=False),
        "seconds": compactions["seconds"].mean(),
        "read": compactions["input_tokens"].sum(),
        "wrote": compactions["output_tokens"].sum(),
        "repaired": int(compactions["method"].astype(str).str.contains("repaired").sum()),
        "replaced": int((compactions["fallbacks"] > 0).sum()),
        "faulty": int(faulty.sum()),
        "unread": int(compactions["left_out"].fillna(0).sum()),
    }


@dataclass(frozen=True, slots=True)
class SummaryCounts:
    """Who wrote the summaries of a run.

    Attributes:
        by_model: how many models wrote.
        by_rule: how many a rule wrote: `extractive`, or a strategy's stand-in.
        models: the models, as the tables name them.
    """

    by_model: int = 0
    by_rule: int = 0
    models: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """All summaries."""
        return self.by_model + self.by_rule


def summary_counts(run: Tables) -> SummaryCounts:
    """Who wrote the summaries of a run's contenders."""
    rows = run.summaries[~run.summaries["strategy"].isin(REFERENCES)]
    writers = rows["writer"].str.split(" + ", regex=False).explode().unique()
    total, by_rule = int(rows["requests"].sum()), int(rows["by_rule"].sum())
    return SummaryCounts(
        total - by_rule, by_rule, tuple(name for name in writers if name not in RULES)
    )


OWN = ("", "extractive")
"""Writers that no provider stands behind."""
COUNTS = ["summaries", "written", "useless"]


def answers(replays: pd.DataFrame) -> pd.DataFrame:
    """One row a model that may not answer, from the table `replays`.

    Returns:
        `model`; `summaries` that the run needs; those `written` by it; those `useless`, for which
            other text stands;
        those `not_bundled`, which `extractive` wrote; `pending` replays, which are in no figure;
            `usd`, the dollars
        that the run has paid, missing if unknown.
    """
    with_model = replays[~replays["model"].fillna("").isin(OWN)]
    by = with_model.assign(pending=with_model["status"] == "pending").groupby("model", sort=False)
    counts = by[[*COUNTS, "pending"]].sum().astype(int)
    lacking = counts["summaries"] - counts["written"] - counts["useless"]
    counts["not_bundled"] = lacking.where(counts.index == BUNDLED, 0)
    return counts.assign(usd=by["usd"].apply(lambda each: each.sum(skipna=False))).reset_index()


def answer_sentences(replays: pd.DataFrame) -> list[str]:
    """Where a model did not write all summaries: `0 of 8 summaries were written by gpt-4o-mini;
    ...`.
    """
    models = answers(replays)
    return sentences(
        "answers", models=models[models["written"] < models["summaries"]].to_dict("records")
    )
