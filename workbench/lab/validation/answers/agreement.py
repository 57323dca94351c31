"""How well what metrics say of answers agrees with their grades."""

import numpy as np
import pandas as pd

KNOWN = 0.5
"""The value above which an item counts as known."""
OLD_METRICS = ("presence", "bound", "coverage", "exam")
METRICS = (*OLD_METRICS, "fitted", "bm25")
"""`fitted` is the fitted reader of the work; BM25, the baseline, is the last."""


def agreement(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a metric, of the rows of `verdicts`.

    Columns: `questions`; `agreement`: the share of answers that the metric calls known and that are
    right, or neither; `auc`: how often a right answer has a higher value than a wrong one;
    `contexts` and `spearman`: the rank correlation of the contexts' means with the share of right
    answers; `pairs` and `signs`: pairs of contexts from one history, and how many of them the
    metric orders as the answers do (an equal number of right answers wants an equal number known).
    """
    figures = []
    for metric in METRICS:
        of_metric = rows[rows["metric"] == metric]
        figures.append({"metric": metric, **_figures(of_metric)})
    return pd.DataFrame(figures)


def _figures(rows: pd.DataFrame) -> dict[str, float | int | None]:
    is_known = rows["value"] > KNOWN
    with_known = rows.assign(known=is_known)
    groups = with_known.groupby(["group", "variant", "context"], sort=False)
    contexts = groups.agg(
        right=("right", "sum"),
        known=("known", "sum"),
        value=("value", "mean"),
        n=("right", "size"),
    )
    signs = []
    for _, pair in contexts.groupby("group"):
        if len(pair) == 2:
            signs.append(_same_sign(pair))
    return {
        "questions": len(rows),
        "agreement": float((is_known == rows["right"]).mean()),
        "auc": auc(rows["value"], rows["right"]),
        "contexts": len(contexts),
        "spearman": _rank_correlation(contexts),
        "pairs": len(signs),
        "signs": sum(signs),
    }


def _rank_correlation(contexts: pd.DataFrame) -> float | None:
    """Of the contexts' mean values with their shares of right answers; None where one side is
    constant, or contexts are few or have one answer each.
    """
    values = contexts["value"]
    shares = contexts["right"] / contexts["n"]
    has_one_answer = contexts["n"] <= 1
    if len(contexts) <= 2 or has_one_answer.all():
        return None
    if shares.nunique() <= 1 or values.nunique() <= 1:
        return None
    return float(values.corr(shares, method="spearman"))


def _same_sign(pair: pd.DataFrame) -> bool:
    change = pair.diff().iloc[1]
    change_of_right = np.sign(change["right"])
    change_of_known = np.sign(change["known"])
    return bool(change_of_right == change_of_known)


def auc(values: pd.Series, right: pd.Series) -> float | None:
    """How often a right answer has a higher value than a wrong one, ties half; None where all
    are the same.
    """
    from scipy.stats import mannwhitneyu  # slow to import

    right_values = values[right]
    wrong_values = values[~right]
    if right_values.empty or wrong_values.empty:
        return None
    wins = mannwhitneyu(right_values, wrong_values).statistic
    pair_count = len(right_values) * len(wrong_values)
    return float(wins / pair_count)


def by_category(rows: pd.DataFrame) -> pd.DataFrame:
    """The agreement a question of each metric, by category; a row a category."""
    is_known = rows["value"] > KNOWN
    agreed = rows.assign(agreed=is_known == rows["right"])
    shares = agreed.pivot_table(
        index="category",
        columns="metric",
        values="agreed",
        sort=False,
    )
    of_exam = rows[rows["metric"] == "exam"]
    questions = of_exam.groupby("category").size()
    by_metric = shares[list(METRICS)]
    return by_metric.assign(questions=questions).reset_index()
