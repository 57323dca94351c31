"""Checks of a run: the references that must be lowest and highest are."""

import pandas as pd

from workbench.evaluation.experiment.results import Results
from workbench.evaluation.metrics import NAMES
from workbench.lab.validation.checks import Check, check

REFERENCES = frozenset({"none", "null", "random", "oracle", "recorded"})
TINY = 1e-9
PLACE = ["session", "mode", "share"]
AT_SIZE = ["strategy", "session", "share"]


def floor(run: Results) -> Check:
    """The reference `null` is 0 on the scale, and never above the median strategy."""
    rows = _scores_of_names(run).copy()
    rows["share"] = rows["share"].fillna(-1.0)
    null = rows[rows["strategy"] == "null"]
    is_off = null["scaled"].abs() > TINY
    off_scale = null[null["scaled"].notna() & is_off]
    contenders = _contenders(rows)
    medians = contenders.groupby(PLACE)["value"].median()
    medians = medians.rename("median").reset_index()
    both = null.merge(medians, on=PLACE)
    above = both[both["value"] > both["median"] + TINY]
    wrong = []
    for row in off_scale.itertuples():
        wrong.append(f"{row.session}, {row.mode}: null is {row.scaled} on the scale")
    for row in above.itertuples():
        values = f"null {row.value:.3f}, median {row.median:.3f}"
        wrong.append(f"{row.session}, {row.mode}: {values}")
    return check(
        "floor",
        "the reference null is 0 on the scale and never above the median strategy",
        not wrong if len(both) else None,
        f"{len(both) - len(above)} of {len(both)} times not above the median",
        wrong,
    )


def _scores_of_names(run: Results) -> pd.DataFrame:
    scores = run.table("scores")
    of_names = scores["metric"] == NAMES
    return scores[of_names & scores["value"].notna()]


def _contenders(scores: pd.DataFrame) -> pd.DataFrame:
    """The scores of strategies, without those of references."""
    is_reference = scores["strategy"].isin(REFERENCES)
    return scores[~is_reference]


def ceiling(run: Results) -> Check:
    """No strategy whose contexts are all within the budget answers more than the reference
    `oracle` there.
    """
    scores = _scores_of_names(run)
    scores = scores[scores["mode"] == "matched"]
    place = ["session", "share"]
    is_oracle = scores["strategy"] == "oracle"
    oracle = scores[is_oracle].set_index(place)["value"]
    both = _contenders(scores).join(
        oracle.rename("oracle"),
        on=place,
        how="inner",
    )
    rows_at_size = both.set_index(AT_SIZE).index
    both = both[rows_at_size.isin(_within_budget(run))]
    above = both[both["value"] > both["oracle"] + TINY]
    wrong = []
    for row in above.itertuples():
        values = f"{row.value:.3f}, oracle {row.oracle:.3f}"
        wrong.append(f"{row.strategy} on {row.session} at {row.share:g}: {values}")
    return check(
        "ceiling",
        "no strategy within its budget answers more of the exam than the reference oracle at the"
        " same size",
        not wrong if len(both) else None,
        f"{len(both) - len(above)} of {len(both)} means are not above it",
        wrong,
    )


def _within_budget(run: Results) -> pd.MultiIndex:
    """Strategy, session and share of those whose contexts are all within the budget."""
    compactions = run.table("compactions")
    compactions = compactions[compactions["mode"] == "matched"]
    fits = compactions["tokens_sent"] <= compactions["target"]
    places = [compactions[column] for column in AT_SIZE]
    all_fit = fits.groupby(places).all()
    within: pd.MultiIndex = all_fit.index[all_fit]
    return within
