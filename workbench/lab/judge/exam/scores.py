"""What a reader's exams say: scores by strategy, and agreement with the lexical reader."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import inf

import numpy as np
import pandas as pd

from workbench.base.formats import decimal, percent
from workbench.evaluation.analysis.equal_size import evenly, over_target
from workbench.evaluation.analysis.paired import Estimate, estimate
from workbench.lab.validation.fetched_again import kappa

PLACE = ["session", "share", "at"]
KNOWN = 0.5
"""The score from which an item counts as known."""


@dataclass(frozen=True, slots=True)
class ExamScore:
    """What one strategy's contexts score, over items that were answered from the context of every
    compared strategy.

    Attributes:
        score: the reader's mean over projects, 0 for guessing and 1 for every item; None without
            such items.
        used: the size that was really used, as a share of the history: a mean over projects.
        baseline: of `difference`; empty where there is none.
        difference: the score less that of the baseline, cut to the very sizes that the strategy
            used, on the same items; None for the baseline, for references, and where the baseline
            cannot be cut to them.
        lexical: the lexical reader's on the same items.
        items, sessions: how many.
        unanswered: items without an answer.
        over_target: sessions in which the strategy cannot reach the size that was set; see
            `evenly`.
    """

    strategy: str
    score: Estimate | None
    lexical: float | None
    items: int
    sessions: int
    unanswered: int
    over_target: int
    used: float | None = None
    baseline: str = ""
    difference: Estimate | None = None


def _in_common(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with a score where every compared strategy has one for the same item.

    The reference `none` may lack it: the whole history is often larger than a model's window.
    """
    rows = evenly(table)
    rows = rows[rows["score"].notna()]
    apart = {"none"}
    for name, reach in over_target(table).items():
        if not reach.compared:
            apart.add(name)
    compared = set(table["strategy"]) - apart
    compared_strategies = rows["strategy"].where(rows["strategy"].isin(compared))
    items = [rows[column] for column in (*PLACE, "item", "replicate")]
    answered_by = compared_strategies.groupby(items).transform("nunique")
    return rows[answered_by == len(compared)]


def scores(table: pd.DataFrame) -> list[ExamScore]:
    """The scores of each strategy in a table of `workbench lab judge exam`."""
    asked_rows = at_asked_sizes(table)
    common = _in_common(asked_rows)
    even = evenly(asked_rows)
    larger = over_target(asked_rows)
    exam_scores = []
    for name in dict.fromkeys(map(str, asked_rows["strategy"])):
        common_rows = common[common["strategy"] == name]
        even_rows = even[even["strategy"] == name]
        is_unanswered = even_rows["item"].notna() & even_rows["score"].isna()
        over_target_count = 0
        if name in larger:
            over_target_count = len(larger[name].inside)
        used = None
        if "used" in even_rows:
            used = _mean_value(even_rows, "used")
        baseline, difference = _difference(even_rows, table)
        exam_score = ExamScore(
            strategy=name,
            score=_mean(common_rows, "score", highest=1),
            lexical=_mean_value(common_rows, "lexical", highest=1),
            items=len(common_rows),
            sessions=common_rows["session"].nunique(),
            unanswered=int(is_unanswered.sum()),
            over_target=over_target_count,
            used=used,
            baseline=baseline,
            difference=difference,
        )
        exam_scores.append(exam_score)
    return exam_scores


def at_asked_sizes(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of contexts that were cut to the sizes asked for, not to those that another
    strategy used.
    """
    if "at_size_of" not in table:
        return table
    return table[table["at_size_of"].fillna("") == ""]


def _difference(own_rows: pd.DataFrame, all_rows: pd.DataFrame) -> tuple[str, Estimate | None]:
    """The baseline, and the mean difference of a strategy from it on the items that both
    answered at one size.
    """
    if "at_size_of" not in all_rows or own_rows.empty:
        return "", None
    strategy = own_rows["strategy"].iloc[0]
    baseline_rows = all_rows[all_rows["at_size_of"] == strategy]
    baseline = ""
    if len(baseline_rows):
        baseline = str(baseline_rows["strategy"].iloc[0])
    scored_rows = own_rows[own_rows["score"].notna()]
    baseline_rows = baseline_rows[baseline_rows["score"].notna()]
    items = [*PLACE, "project", "item", "replicate"]
    both = scored_rows.merge(
        baseline_rows,
        on=items,
        suffixes=("", "_baseline"),
    )
    both["gap"] = both["score"] - both["score_baseline"]
    return baseline, _mean(both, "gap")


def _mean(
    rows: pd.DataFrame,
    column: str,
    highest: float = inf,
) -> Estimate | None:
    """The mean of a column over projects, each the mean of its sessions."""
    sessions = rows.groupby(["session", "project"])
    means = sessions[column].mean().astype(float)
    projects = means.index.get_level_values("project")
    return estimate(means.tolist(), projects.tolist(), most=highest)


def _mean_value(
    rows: pd.DataFrame,
    column: str,
    highest: float = inf,
) -> float | None:
    """The same without its interval."""
    mean = _mean(rows, column, highest)
    if mean is None:
        return None
    return mean.mean


def agreement(table: pd.DataFrame) -> dict[str, float | int | None]:
    """How far the reader agrees with the lexical reader.

    `items` that both scored; `agreement`: the share that both call known, or neither; `kappa`: the
    same beyond chance; `rank`: the mean rank correlation of the strategies' scores at a boundary,
    over `boundaries` where both readers tell three strategies or more apart.
    """
    rows = at_asked_sizes(table)
    rows = rows[rows["score"].notna()]
    if rows.empty:
        return {
            "items": 0,
            "agreement": None,
            "kappa": None,
            "rank": None,
            "boundaries": 0,
        }
    is_known = rows["score"].to_numpy(dtype=float) >= KNOWN
    is_known_lexically = rows["lexical"].to_numpy(dtype=float) >= KNOWN
    agrees = is_known == is_known_lexically
    ranks = _rank_correlations(rows)
    mean_rank = None
    if ranks:
        mean_rank = float(np.mean(ranks))
    return {
        "items": len(rows),
        "agreement": float(agrees.mean()),
        "kappa": kappa(is_known, is_known_lexically),
        "rank": mean_rank,
        "boundaries": len(ranks),
    }


def _rank_correlations(rows: pd.DataFrame) -> list[float]:
    """Of the strategies' mean scores by both readers, at each boundary where both tell three
    strategies or more apart.
    """
    places = rows.groupby([*PLACE, "strategy"])
    means = places[["score", "lexical"]].mean().astype(float)
    correlations = []
    for _, strategies in means.groupby(PLACE):
        varies = (strategies.nunique() > 1).all()
        if len(strategies) > 2 and varies:
            correlation = strategies["score"].corr(strategies["lexical"], method="spearman")
            correlations.append(correlation)
    return correlations


def agreement_note(figures: Mapping[str, float | int | None]) -> str:
    """The agreement in words."""
    if figures["agreement"] is None:
        return "No item was answered."
    note = (
        f"Agreement with the lexical reader: {percent(figures['agreement'])} of {figures['items']}"
        " items"
    )
    if figures["kappa"] is not None:
        note += f", kappa {decimal(figures['kappa'])}"
    if figures["rank"] is not None:
        note += (
            f"; rank correlation of strategies {decimal(figures['rank'])}, a mean over"
            f" {figures['boundaries']} boundaries"
        )
    return note + "."


def readers_agreement(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """How far readers agree: each with the lexical one, then with each other reader that sat the
    same exams.

    Args:
        tables: of `workbench lab judge exam`; several of one reader count together, replicates by
            their mean.

    Returns:
        A row a pair: `reader other`, and what `agreement` gives; readers without an exam in common
        have no row.
    """
    item_means = _item_means(tables)
    rows_by_reader: dict[str, pd.DataFrame] = {}
    agreements: list[dict[str, object]] = []
    for name, rows in item_means.groupby("reader", sort=False):
        reader = str(name)
        rows_by_reader[reader] = rows.drop(columns="reader")
        figures = agreement(rows)
        agreements.append({"reader": reader, "other": "lexical", **figures})
    for reader, other in combinations(rows_by_reader, 2):
        both = _with_other_scores(rows_by_reader[reader], rows_by_reader[other])
        if len(both):
            figures = agreement(both)
            agreements.append({"reader": reader, "other": other, **figures})
    return pd.DataFrame(agreements)


def _item_means(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The scores of each reader and item that has one, as means over its replicates."""
    all_tables = pd.concat(list(tables), ignore_index=True)
    rows = at_asked_sizes(all_tables)
    has_score = rows["score"].notna()
    columns = ["reader", *PLACE, "strategy", "item"]
    items = rows[has_score].groupby(columns, dropna=False, sort=False)
    return items[["score", "lexical"]].mean().reset_index()


def _with_other_scores(rows: pd.DataFrame, other_rows: pd.DataFrame) -> pd.DataFrame:
    """The items that two readers scored, with the other one in the place of the lexical reader."""
    scores_of_reader = rows.drop(columns="lexical")
    scores_of_other = other_rows.drop(columns="lexical")
    scores_of_other = scores_of_other.rename(columns={"score": "lexical"})
    return scores_of_reader.merge(scores_of_other, on=[*PLACE, "strategy", "item"])
