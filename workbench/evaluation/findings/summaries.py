"""Small tables for reading, made from the tables of a run: rows in, means, shares and worst cases
out. Pure.

Their columns are in docs/reference/tables.md, with units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import pandas as pd

from workbench.base.formats import missing
from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.paired import interval_columns
from workbench.evaluation.analysis.survival import survival
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import NAMES
from workbench.evaluation.metrics.builtin import BUILTIN

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
