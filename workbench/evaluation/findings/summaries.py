"""Small tables for reading, made from the tables of a run: rows in, means, shares and worst cases
out. Pure.

Their columns are in docs/reference/tables.md, with units.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

import pandas as pd

from workbench.base.formats import missing
from workbench.base.palette import REFERENCES
from workbench.engine.models.bundled_answers import NAME as BUNDLED
from workbench.evaluation.analysis.paired import interval_columns
from workbench.evaluation.analysis.survival import survival
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import NAMES
from workbench.evaluation.metrics.builtin import BUILTIN
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
        size = run.mean_over_projects(run.values("tokens_kept", name, "recorded"))
        row: dict[str, object] = {"strategy": name, "sessions": len(values)}
        row |= interval_columns("recall", run.mean_over_projects(values, highest=1))
        row["tokens_kept"] = size.mean if size else None
        rows.append(row)
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("recall", ascending=False, ignore_index=True)


def own_metrics(run: Tables) -> pd.DataFrame:
    """What each strategy has in metrics of the caller's own or of installed packages, a row each;
    docs/reference/tables.md has the columns.
    """
    columns = [
        "strategy",
        "metric",
        "unit",
        "better",
        "sessions",
        "mean",
        "low",
        "high",
        "same_size",
    ]
    scores = run.scores
    described = scores[~scores["metric"].isin(BUILTIN)].drop_duplicates("metric")
    rows = []
    for metric in described.itertuples():
        name = str(metric.metric)
        for strategy in run.strategies:
            values = run.values(name, strategy)
            same_size = run.at_sizes(strategy, name)
            row: dict[str, object] = {"strategy": strategy, "metric": name}
            row |= {"unit": metric.unit, "better": metric.better, "sessions": len(values)}
            row |= interval_columns("mean", run.mean_over_projects(values))
            if same_size is not None:
                row["same_size"] = same_size.mean
            rows.append(row)
    renamed = {"mean_low": "low", "mean_high": "high"}
    return pd.DataFrame(rows).rename(columns=renamed).reindex(columns=columns)


def by_kind(run: Tables) -> pd.DataFrame:
    """What each strategy keeps of each kind of entity.

    At equal size over all shares where the run has matched mode, else under each strategy's own
    trigger. Kinds that were needed most come first; `demanded` counts an entity once a boundary,
    however many shares there are.
    """
    rows = run.retention
    has_sizes = (rows["mode"] == "matched").any()
    rows = rows[rows["mode"] == ("matched" if has_sizes else "natural")]
    rows = rows[~rows["strategy"].isin(run.unranked())]
    rows = rows[~rows["session"].isin(run.left_out)]
    groups = rows.groupby(["kind", "strategy"], sort=True)
    sums = groups[["demanded", "bound"]].sum().reset_index()
    sums = sums[sums["demanded"] > 0]
    most_demanded = sums.groupby("kind")["demanded"].transform("max")
    demanded_once = most_demanded / max(1, len(run.shares))
    recall = sums["bound"] / sums["demanded"]
    sums = sums.assign(recall=recall, demanded=demanded_once.round().astype(int))
    sums = sums.sort_values(["demanded", "kind"], ascending=[False, True])
    return sums[["kind", "demanded", "strategy", "recall"]].reset_index(drop=True)


def by_session(run: Tables) -> pd.DataFrame:
    """What each strategy keeps in each session.

    At equal size, mean over the shares, where the run has matched mode, else under each strategy's
    own trigger.
    """
    recalls = {}
    for name in replayed_contenders(run):
        recalls[name] = run.values(run.first_half, name, run.main_mode)
    titles = session_titles(run)
    rows = []
    for session in run.replayed["session"]:
        for name, recall in recalls.items():
            value = float(recall.get(session, float("nan")))
            rows.append((session, titles[str(session)], name, value))
    return pd.DataFrame(rows, columns=["session", "title", "strategy", "recall"])


def session_titles(run: Tables, longest: int = 60) -> dict[str, str]:
    """A short title of each session, numbered where several read the same; the session's id
    where it has none.
    """
    titles: dict[str, str] = {}
    sessions = run.sessions
    for id, title in zip(sessions["session"], sessions["title"], strict=True):
        has_none = missing(title) or not title
        titles[str(id)] = _shortened(str(id if has_none else title), longest)
    times = Counter(titles.values())
    numbers = Counter[str]()
    for id, title in titles.items():
        numbers[title] += 1
        if times[title] > 1:
            titles[id] = f"{title} ({numbers[title]} of {times[title]})"
    return titles


def _shortened(title: str, longest: int) -> str:
    """At most so many characters of a title."""
    if len(title) <= longest:
        return title
    return title[: longest - 1].rstrip() + "…"


def lives(run: Tables, strategy: str) -> pd.DataFrame:
    """How long entities stay in the context on a strategy's own trigger: a row a compaction since
    their first mention.

    Columns: `strategy`, those of `analysis.survival`, and `sessions`, which had as many
    compactions.
    """
    rows = run.survival[run.survival["strategy"] == strategy]
    rows = rows[rows["at_risk"] > 0]
    projects = run.projects_by_session(rows["session"])
    rows = rows.assign(project=projects)
    at_risk = rows.pivot_table("at_risk", "project", "round", "sum", fill_value=0)
    lost = rows.pivot_table("lost", "project", "round", "sum", fill_value=0)
    curve = survival(at_risk, lost)
    sessions = curve["round"].map(rows.groupby("round")["session"].nunique())
    return pd.DataFrame({"strategy": strategy, **curve, "sessions": sessions})


def by_round(run: Tables) -> pd.DataFrame:
    """What outlives one compaction, two, ..., with a 95 % interval; rounds are counted from the
    first mention.
    """
    if not run.contenders:
        return lives(run, "")
    curves = [lives(run, name) for name in run.contenders]
    return pd.concat(curves, ignore_index=True)


def typical(run: Tables) -> str | None:
    """The session in the middle by how often it is compacted, of those that are; None if nothing
    was replayed.
    """
    compactions = run.compactions[run.compactions["mode"] == "natural"]
    compactions = compactions[~compactions["strategy"].isin(REFERENCES)]
    requests = run.steps.groupby("session")["request"].max()
    if requests.empty:
        return None
    counts = requests
    if len(compactions):
        counts = compactions.groupby("session").size()

    def place_in_order(session: Hashable) -> tuple[int, int, str]:
        return counts[session], requests[session], str(session)

    ordered = sorted(counts.index, key=place_in_order)
    return str(ordered[len(ordered) // 2])


def worst_losses(run: Tables, row_limit: int = 60, each: int = 0) -> pd.DataFrame:
    """What was lost and needed again, worst first; an entity that several strategies lost at one
    boundary is one row.

    First stands what one strategy lost and another kept, then what all lost; last what is
    boilerplate.

    Columns: those of the `losses` table, with `lost_by`: a tuple of `(strategy, stage, level)`.
    Under the strategies' own triggers where that lost anything, else at equal size. The references
    are left out. Beyond the `most` rows, each session has so many of its worst.
    """
    rows = run.losses[~run.losses["strategy"].isin(REFERENCES)]
    is_natural = rows["mode"] == "natural"
    if is_natural.any():
        rows = rows[is_natural]
    if rows.empty:
        return rows.assign(lost_by=[])
    losses = rows.drop_duplicates(LOSS).set_index(LOSS, drop=False)
    largest_weights = rows.groupby(LOSS)["weight"].max()
    losses = losses.assign(lost_by=_losers(run, rows), weight=largest_weights)
    losses = losses.reset_index(drop=True)
    losses["times"] = losses["lost_by"].map(len)
    losses["by_all"] = losses["times"] >= losses["session"].map(_strategies_by_session(run))
    losses["boilerplate"] = [
        _is_boilerplate(str(kind), str(entity), str(evidence))
        for kind, entity, evidence in zip(
            losses["kind"], losses["entity"], losses["evidence"], strict=True
        )
    ]
    # so that no session fills it
    alike = losses.groupby(["weight", "times", "session"], sort=False)
    losses["turn"] = alike.cumcount()
    losses = losses.sort_values(
        ["boilerplate", "by_all", "weight", "times", "turn"],
        ascending=[True, True, False, False, True],
        kind="stable",
        ignore_index=True,
    )
    place_in_session = losses.groupby("session", sort=False).cumcount()
    is_shown = (losses.index < row_limit) | (place_in_session < each)
    return losses[is_shown].reset_index(drop=True)


LOSS = ["session", "kind", "entity", "needed_at"]
"""The columns by which the losses of several strategies are one row."""


def _losers(run: Tables, rows: pd.DataFrame) -> pd.Series:
    """By loss the strategies that had it, best first, each as `(strategy, stage, level)`."""
    losers = rows.drop_duplicates([*LOSS, "strategy"]).sort_values(
        "strategy", key=lambda names: names.map(run.strategies.index), kind="stable"
    )
    columns = losers[["strategy", "stage", "level"]]
    lost_by = list(columns.itertuples(index=False, name=None))
    losers = losers.assign(lost_by=lost_by)
    return losers.groupby(LOSS)["lost_by"].agg(tuple)


def _strategies_by_session(run: Tables) -> pd.Series:
    """How many strategies, without the references, were replayed in each session."""
    replays = run.replays[run.replays["status"] == "ok"]
    replays = replays[~replays["strategy"].isin(REFERENCES)]
    return replays.groupby("session")["strategy"].nunique()


_KEY_ENDS = re.compile(r"[\"']?\??:(?![:=])")
_CLASSES = re.compile(r"\bclass(?:Name)?=[\"'`{][^\"'`]*$")


def _is_boilerplate(kind: str, entity: str, evidence: str) -> bool:
    """Whether an entity is stated as the key of a field, as a class of a page's style, or inside
    a longer word.
    """
    text_before, match, text_after = evidence.partition(entity)
    if not match:
        return False
    is_quoted_key = text_before.endswith('"') and text_after.startswith('":')
    begins_line = not any(map(str.isalnum, text_before.rpartition("\n")[2]))
    is_key = begins_line and _KEY_ENDS.match(text_after) is not None
    is_inside = kind in ("identifier", "error", "id") and text_before[-1:].isalnum()
    is_class = _CLASSES.search(text_before) is not None
    return is_quoted_key or is_key or is_inside or is_class


def integrity(run: Tables) -> pd.DataFrame:
    """What the guard found and what has no figure, one row a replayed contender, in counts."""
    compactions = run.compactions.assign(too_large=run.compactions["outcome"] == "too_large")
    by = compactions.groupby("strategy")
    counts = by[["violations", "too_large", "fallbacks"]].sum()
    counts.insert(0, "compactions", by.size())
    for status in ("failed", "pending"):
        has_status = run.replays["status"] == status
        counts[status] = has_status.groupby(run.replays["strategy"]).sum()
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
        if both.empty:
            continue
        recall = run.mean_over_projects(both["recall"], highest=1)
        saved = run.mean_over_projects(both["saved"])
        row: dict[str, object] = {"strategy": name, "reference": name in REFERENCES}
        row |= interval_columns("recall", recall)
        row |= interval_columns("saved", saved)
        row["sessions"] = len(both)
        row["of"] = len(either)
        rows.append(row)
    return pd.DataFrame(rows)


def dots(run: Tables, strategy: str) -> pd.DataFrame:
    """One row a session that has a number: `recall`, `saved`; NaN for the one that it has not."""
    recall = run.values(run.leading("natural"), strategy).rename("recall")
    saved = run.values(SAVED, strategy).rename("saved")
    return pd.concat([recall, saved], axis=1)


def writers(run: Tables) -> pd.DataFrame:
    """One row a strategy that asked for summaries: who wrote them, at what cost, and with which
    faults.
    """
    with_requests = run.compactions[run.compactions["requests"] > 0]
    rows = []
    for name in run.strategies:
        compactions = with_requests[with_requests["strategy"] == name]
        if len(compactions):
            rows.append(_writer(run, name, compactions))
    return pd.DataFrame(rows)


def _writer(run: Tables, name: str, compactions: pd.DataFrame) -> dict[str, object]:
    writer_counts = compactions["writer"].value_counts()
    writer = str(writer_counts.index[0])
    if len(writer_counts) > 1:
        writer = ", ".join(f"{writer} ({count})" for writer, count in writer_counts.items())
    replays = run.replays[run.replays["strategy"] == name]
    has_findings = compactions["findings"].astype(str) != ""
    has_fallback = compactions["fallbacks"] > 0
    is_repaired = compactions["method"].astype(str).str.contains("repaired")
    return {
        "strategy": name,
        "writer": writer,
        "summaries": len(compactions),
        "recall": run.values(run.leading("natural"), name).mean(),
        "recall_at_size": _mean_at_size(run, run.leading("matched"), name),
        "fabricated": _mean_at_size(run, "fabrication", name),
        "usd": replays["usd"].sum(skipna=False),
        "price": compactions["usd"].sum(skipna=False),
        "seconds": compactions["seconds"].mean(),
        "read": compactions["input_tokens"].sum(),
        "wrote": compactions["output_tokens"].sum(),
        "repaired": int(is_repaired.sum()),
        "replaced": int(has_fallback.sum()),
        "faulty": int((has_findings & (compactions["fallbacks"] == 0)).sum()),
        "unread": int(compactions["left_out"].fillna(0).sum()),
    }


def _mean_at_size(run: Tables, metric: str, name: str) -> float:
    scores = run.select(metric, "matched")
    return float(scores.loc[scores["strategy"] == name, "value"].mean())


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
    writers = rows["writer"].str.split(" + ", regex=False).explode()
    models = tuple(name for name in writers.unique() if name not in RULES)
    by_rule = int(rows["by_rule"].sum())
    by_model = int(rows["requests"].sum()) - by_rule
    return SummaryCounts(by_model, by_rule, models)


def author(model: str) -> str:
    """Who a model is, for readers: `bundled` is the name of recorded answers, not of a model."""
    name, _, writer = model.partition(" (")
    if name != BUNDLED:
        return model
    who, _, date = writer.removesuffix(")").partition(", ")
    who = who or "a large language model"
    recorded_when = f"recorded {date}".strip()
    return f"{who} ({recorded_when}; its answers ship with the package)"


OWN = ("", "extractive")
"""Writers that no provider stands behind."""
COUNTS = ["summaries", "written", "useless"]


def answers(replays: pd.DataFrame) -> pd.DataFrame:
    """One row a model that may not answer, from the table `replays`.

    Returns:
        `model`; `summaries` that the run needs; those `written` by it; those `useless`, for which
        other text stands; those `not_bundled`, which `extractive` wrote; `pending` replays, which
        are in no figure; `usd`, the dollars that the run has paid, missing if unknown.
    """
    with_model = replays[~replays["model"].fillna("").isin(OWN)]
    with_model = with_model.assign(pending=with_model["status"] == "pending")
    by_model = with_model.groupby("model", sort=False)
    counts = by_model[[*COUNTS, "pending"]].sum().astype(int)
    lacking = counts["summaries"] - counts["written"] - counts["useless"]
    counts["not_bundled"] = lacking.where(counts.index == BUNDLED, 0)
    counts["usd"] = by_model["usd"].apply(lambda dollars: dollars.sum(skipna=False))
    return counts.reset_index()


def answer_sentences(replays: pd.DataFrame) -> list[str]:
    """Where a model did not write all summaries: `0 of 8 summaries were written by gpt-4o-mini;
    ...`.
    """
    models = answers(replays)
    incomplete = models[models["written"] < models["summaries"]]
    incomplete = incomplete.assign(author=incomplete["model"].map(author))
    return sentences("answers", models=incomplete.to_dict("records"))
