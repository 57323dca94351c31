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
    apart = {"none", *(name for name, one in over_target(table).items() if not one.compared)}
    inner = set(table["strategy"]) - apart
    compared = rows["strategy"].where(rows["strategy"].isin(inner))
    items = [rows[one] for one in (*PLACE, "item", "replicate")]
    return rows[compared.groupby(items).transform("nunique") == len(inner)]


def scores(table: pd.DataFrame) -> list[ExamScore]:
    """The scores of each strategy in a table of `workbench lab judge exam`."""
    all_rows, table = table, at_asked_sizes(table)
    common, even_rows, large, exam_scores = _in_common(table), evenly(table), over_target(table), []
    for name in dict.fromkeys(map(str, table["strategy"])):
        common_rows, rows = (
            common[common["strategy"] == name],
            even_rows[even_rows["strategy"] == name],
        )
        unanswered = int((rows["item"].notna() & rows["score"].isna()).sum())
        larger = len(large[name].inside) if name in large else 0
        score, lexical = (_mean(common_rows, column, highest=1) for column in ("score", "lexical"))
        used = _mean(rows, "used") if "used" in rows else None
        baseline, difference = _difference(rows, all_rows)
        exam_scores.append(
            ExamScore(
                name,
                score,
                None if lexical is None else lexical.mean,
                len(common_rows),
                common_rows["session"].nunique(),
                unanswered,
                larger,
                None if used is None else used.mean,
                baseline,
                difference,
            )
        )
    return exam_scores


def at_asked_sizes(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of contexts that were cut to the sizes asked for, not to those that another
    strategy used.
    """
    return table[table["at_size_of"].fillna("") == ""] if "at_size_of" in table else table


def _difference(own_rows: pd.DataFrame, all_rows: pd.DataFrame) -> tuple[str, Estimate | None]:
    """The baseline, and the mean difference of a strategy from it on the items that both
    answered at one size.
    """
    if "at_size_of" not in all_rows or own_rows.empty:
        return "", None
    baseline_rows = all_rows[all_rows["at_size_of"] == own_rows["strategy"].iloc[0]]
    items = [*PLACE, "project", "item", "replicate"]
    both = own_rows[own_rows["score"].notna()].merge(
        baseline_rows[baseline_rows["score"].notna()], on=items, suffixes=("", "_there")
    )
    baseline = str(baseline_rows["strategy"].iloc[0]) if len(baseline_rows) else ""
    return baseline, _mean(both.assign(gap=both["score"] - both["score_there"]), "gap")


def _mean(rows: pd.DataFrame, column: str, highest: float = inf) -> Estimate | None:
    """The mean of a column over projects, each the mean of its sessions."""
    by = rows.groupby(["session", "project"])[column].mean().astype(float)
    return estimate(by.tolist(), by.index.get_level_values("project").tolist(), most=highest)


def agreement(table: pd.DataFrame) -> dict[str, float | int | None]:
    """How far the reader agrees with the lexical reader.

    `items` that both scored; `agreement`: the share that both call known, or neither; `kappa`: the
    same beyond chance; `rank`: the mean rank correlation of the strategies' scores at a boundary,
    over `boundaries` where both readers tell three strategies or more apart.
    """
    rows = at_asked_sizes(table)
    rows = rows[rows["score"].notna()]
    is_known, is_known_lexically = (
        rows[name].to_numpy(dtype=float) >= KNOWN for name in ("score", "lexical")
    )
    if not len(rows):
        return {"items": 0, "agreement": None, "kappa": None, "rank": None, "boundaries": 0}
    means = rows.groupby([*PLACE, "strategy"])[["score", "lexical"]].mean().astype(float)
    ranks = [
        means_at_place["score"].corr(means_at_place["lexical"], method="spearman")
        for _, means_at_place in means.groupby(PLACE)
        if len(means_at_place) > 2 and (means_at_place.nunique() > 1).all()
    ]
    return {
        "items": len(rows),
        "agreement": float((is_known == is_known_lexically).mean()),
        "kappa": kappa(is_known, is_known_lexically),
        "rank": float(np.mean(ranks)) if ranks else None,
        "boundaries": len(ranks),
    }


def agreement_note(figures: Mapping[str, float | int | None]) -> str:
    """The agreement in words."""
    if figures["agreement"] is None:
        return "No item was answered."
    note = (
        f"Agreement with the lexical reader: {percent(figures['agreement'])} of {figures['items']}"
        " items"
    )
    note += f", kappa {decimal(figures['kappa'])}" if figures["kappa"] is not None else ""
    rank = (
        f"; rank correlation of strategies {decimal(figures['rank'])}, a mean over"
        f" {figures['boundaries']} boundaries"
    )
    return note + (rank if figures["rank"] is not None else "") + "."


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
    all_rows = at_asked_sizes(pd.concat(list(tables), ignore_index=True))
    by = all_rows[all_rows["score"].notna()].groupby(
        ["reader", *PLACE, "strategy", "item"], dropna=False, sort=False
    )
    means = by[["score", "lexical"]].mean().reset_index()
    rows_by_reader = {
        str(reader): reader_rows.drop(columns="reader")
        for reader, reader_rows in means.groupby("reader", sort=False)
    }
    pairs = [(reader, "lexical", reader_rows) for reader, reader_rows in rows_by_reader.items()]
    for first_reader, second_reader in combinations(rows_by_reader, 2):
        second_scores = (
            rows_by_reader[second_reader]
            .drop(columns="lexical")
            .rename(columns={"score": "lexical"})
        )
        both = (
            rows_by_reader[first_reader]
            .drop(columns="lexical")
            .merge(second_scores, on=[*PLACE, "strategy", "item"])
        )
        pairs += [(first_reader, second_reader, both)] if len(both) else []
    return pd.DataFrame(
        [
            {"reader": first_reader, "other": second_reader, **agreement(rows)}
            for first_reader, second_reader, rows in pairs
        ]
    )
