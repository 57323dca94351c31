"""Small tables for reading, made from the tables of a run: rows in, means, shares and worst cases
out. Pure.

Their columns are in docs/reference/tables.md, with units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from math import nan

import pandas as pd

from workbench.base.formats import missing
from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.paired import interval_columns
from workbench.evaluation.analysis.survival import survival
from workbench.evaluation.analysis.table_rows import rows_of_contenders, rows_with
from workbench.evaluation.findings.broken import rules_broken
from workbench.evaluation.findings.mean_tables import USED
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import NAMES
from workbench.evaluation.metrics.builtin import BUILTIN

RECORDED = "recorded"
"""The recorded agent's own compaction, as a strategy."""
RECORDED_COLUMNS = [
    "strategy",
    "sessions",
    "recall",
    "recall_low",
    "recall_high",
    "tokens_kept",
]
OWN_METRIC_COLUMNS = [
    "strategy",
    "metric",
    "unit",
    "better",
    "sessions",
    "mean",
    "low",
    "high",
    "same_size",
    "sessions_same_size",
    "why",
]


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
    scores = run.select(NAMES, "recorded").dropna(subset="value")
    names = list(scores["strategy"].unique())
    rows = []
    if RECORDED in names:
        rows = [_recorded_row(run, name) for name in names]
    table = pd.DataFrame(rows, columns=RECORDED_COLUMNS)
    return table.sort_values("recall", ascending=False, ignore_index=True)


def _recorded_row(run: Tables, strategy: str) -> dict[str, object]:
    values = run.values(NAMES, strategy, "recorded")
    sizes = run.values(USED, strategy, "recorded")
    size = run.mean_over_projects(sizes)
    row: dict[str, object] = {
        "strategy": strategy,
        "sessions": len(values),
        "tokens_kept": None if size is None else size.mean,
    }
    recall = run.mean_over_projects(values, highest=1)
    row |= interval_columns("recall", recall)
    return row


def own_metrics(run: Tables) -> pd.DataFrame:
    """What each strategy has in metrics of the caller's own or of installed packages, a row each;
    docs/reference/tables.md has the columns.
    """
    is_builtin = run.scores["metric"].isin(BUILTIN)
    own_scores = run.scores[~is_builtin]
    rows = []
    for metric in own_scores.drop_duplicates("metric").itertuples():
        name = str(metric.metric)
        for strategy in run.strategies:
            row = _own_metric_row(run, strategy, name)
            row["unit"] = metric.unit
            row["better"] = metric.better
            rows.append(row)
    table = pd.DataFrame(rows)
    table = table.rename(columns={"mean_low": "low", "mean_high": "high"})
    return table.reindex(columns=OWN_METRIC_COLUMNS)


def _own_metric_row(
    run: Tables,
    strategy: str,
    metric: str,
) -> dict[str, object]:
    values = run.values(metric, strategy)
    row: dict[str, object] = {
        "strategy": strategy,
        "metric": metric,
        "sessions": len(values),
    }
    mean = run.mean_over_projects(values)
    row |= interval_columns("mean", mean)
    at_same_size = run.values(metric, strategy, "matched")
    same_size = run.mean_over_projects(at_same_size)
    if same_size is not None:
        row["same_size"] = same_size.mean
    row["sessions_same_size"] = len(at_same_size)
    row["why"] = _usual_reason(run, strategy, metric)
    return row


def _usual_reason(run: Tables, strategy: str, metric: str) -> str:
    """Why a metric has no value, as most replays without one say; empty where all have one."""
    scores = run.scores
    is_of_pair = (scores["strategy"] == strategy) & (scores["metric"] == metric)
    is_unscored = is_of_pair & scores["value"].isna()
    reasons = Counter(scores.loc[is_unscored, "why"])
    for reason, _ in reasons.most_common(1):
        return str(reason)
    return ""


def by_kind(run: Tables) -> pd.DataFrame:
    """What each strategy keeps of each kind of entity.

    At equal size over all shares where the run has matched mode, else under each strategy's own
    trigger. Kinds that were needed most come first; `demanded` counts an entity once a boundary,
    however many shares there are.
    """
    rows = rows_with(run.retention, mode="matched")
    if rows.empty:
        rows = rows_with(run.retention, mode="natural")
    is_unranked = rows["strategy"].isin(run.unranked())
    is_left_out = rows["session"].isin(run.left_out)
    rows = rows[~is_unranked & ~is_left_out]
    groups = rows.groupby(["kind", "strategy"], sort=True)
    sums = groups[["demanded", "bound"]].sum()
    is_demanded = sums["demanded"] > 0
    sums = sums[is_demanded].reset_index()
    sums["recall"] = sums["bound"] / sums["demanded"]
    kinds = sums.groupby("kind")
    most_demanded = kinds["demanded"].transform("max")
    demanded_once = most_demanded / max(1, len(run.shares))
    sums["demanded"] = demanded_once.round().astype(int)
    table = sums[["kind", "demanded", "strategy", "recall"]]
    return table.sort_values(
        ["demanded", "kind"],
        ascending=[False, True],
        ignore_index=True,
    )


def by_session(run: Tables) -> pd.DataFrame:
    """What each strategy keeps in each session.

    At equal size, mean over the shares, where the run has matched mode, else under each strategy's
    own trigger.
    """
    recall_by_strategy = {}
    for name in replayed_contenders(run):
        recall_by_strategy[name] = run.same_size_values(name)
    titles = session_titles(run)
    rows = []
    for session in run.replayed["session"]:
        title = titles[str(session)]
        for name, recall in recall_by_strategy.items():
            value = float(recall.get(session, nan))
            rows.append((session, title, name, value))
    columns = ["session", "title", "strategy", "recall"]
    return pd.DataFrame(rows, columns=columns)


def session_titles(run: Tables, longest: int = 60) -> dict[str, str]:
    """A short title of each session, numbered where several read the same; the session's id
    where it has none.
    """
    titles: dict[str, str] = {}
    sessions = run.sessions
    for id, title in zip(sessions["session"], sessions["title"], strict=True):
        if missing(title) or not title:
            title = id
        titles[str(id)] = _shortened(str(title), longest)
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
    rows = rows_with(run.survival, strategy=strategy)
    is_at_risk = rows["at_risk"] > 0
    rows = rows[is_at_risk]
    projects = run.projects_by_session(rows["session"])
    rows = rows.assign(project=projects)
    sums = rows.groupby(["project", "round"])[["at_risk", "lost"]].sum()
    at_risk = sums["at_risk"].unstack("round", fill_value=0)
    lost = sums["lost"].unstack("round", fill_value=0)
    curve = survival(at_risk, lost)
    by_round = rows.groupby("round")
    session_counts = by_round["session"].nunique()
    sessions = curve["round"].map(session_counts)
    columns = {"strategy": strategy, **curve, "sessions": sessions}
    return pd.DataFrame(columns)


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
    compactions = rows_with(run.compactions, mode="natural")
    compactions = rows_of_contenders(compactions)
    steps = run.steps.groupby("session")
    requests = steps["request"].max()
    if requests.empty:
        return None
    counts = requests
    if len(compactions):
        counts = compactions.groupby("session").size()

    def place_in_order(session: Hashable) -> tuple[int, int, str]:
        return counts[session], requests[session], str(session)

    in_order = sorted(counts.index, key=place_in_order)
    middle = len(in_order) // 2
    return str(in_order[middle])


def integrity(run: Tables) -> pd.DataFrame:
    """What the guard found and what has no figure, one row a replayed contender, in counts."""
    is_too_large = run.compactions["outcome"] == "too_large"
    compactions = run.compactions.assign(too_large=is_too_large)
    by_strategy = compactions.groupby("strategy")
    counts = by_strategy[["too_large", "fallbacks"]].sum()
    counts.insert(0, "compactions", by_strategy.size())
    for status in ("failed", "pending"):
        has_status = run.replays["status"] == status
        counts[status] = has_status.groupby(run.replays["strategy"]).sum()
    names = pd.Index(replayed_contenders(run), name="strategy")
    counts = counts.reindex(names)
    violations = pd.Series(rules_broken(run), dtype=float)
    counts.insert(1, "violations", violations.reindex(names))
    counts = counts.apply(pd.to_numeric).fillna(0)
    return counts.astype(int).reset_index()


def points(run: Tables) -> pd.DataFrame:
    """One row a strategy that some session has both numbers for; a session with one of them
    counts in neither mean.
    """
    rows = []
    for name in run.strategies:
        sessions = dots(run, name)
        with_both = sessions.dropna()
        if with_both.empty:
            continue
        recall = run.mean_over_projects(with_both["recall"], highest=1)
        saved = run.mean_over_projects(with_both["saved"])
        row: dict[str, object] = {
            "strategy": name,
            "reference": name in REFERENCES,
        }
        row |= interval_columns("recall", recall)
        row |= interval_columns("saved", saved)
        row["sessions"] = len(with_both)
        row["of"] = len(sessions)
        rows.append(row)
    return pd.DataFrame(rows)


def dots(run: Tables, strategy: str) -> pd.DataFrame:
    """One row a session that has a number: `recall`, `saved`; NaN for the one that it has not."""
    half = run.leading("natural")
    columns = {
        "recall": run.values(half, strategy),
        "saved": run.values(SAVED, strategy),
    }
    return pd.concat(columns, axis=1)
