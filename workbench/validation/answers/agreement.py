"""How well metrics agree with graded answers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.validation.answers.exams import KNOWN

METRICS = ("presence", "bound", "coverage", "exam")


def agreement(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a metric, of the rows of `verdicts`.

    Columns: `questions`; `agreement`: the share of answers that the metric calls known and that are right, or neither;
    `auc`: how often a right answer has a higher value than a wrong one; `contexts` and `spearman`: the rank correlation
    of the contexts' means with the share of right answers; `pairs` and `signs`: pairs of contexts from one history, and
    how many of them the metric orders as the answers do (an equal number of right answers wants an equal number known).
    """
    found = [{"metric": metric, **_figures(rows[rows["metric"] == metric])} for metric in METRICS]
    return pd.DataFrame(found)


def _figures(rows: pd.DataFrame) -> dict[str, float | int | None]:
    known = rows["value"] > KNOWN
    means = rows.assign(known=known).groupby(["group", "variant", "context"], sort=False)
    contexts = means.agg(right=("right", "sum"), known=("known", "sum"), value=("value", "mean"), n=("right", "size"))
    signs = [_same_sign(pair) for _, pair in contexts.groupby("group") if len(pair) == 2]
    share = contexts["right"] / contexts["n"]
    varied = len(contexts) > 2 and share.nunique() > 1 and contexts["value"].nunique() > 1 and (contexts["n"] > 1).any()
    return {
        "questions": len(rows),
        "agreement": float((known == rows["right"]).mean()),
        "auc": auc(rows["value"], rows["right"]),
        "contexts": len(contexts),
        "spearman": float(contexts["value"].corr(share, method="spearman")) if varied else None,
        "pairs": len(signs),
        "signs": sum(signs),
    }


def _same_sign(pair: pd.DataFrame) -> bool:
    change = pair.diff().iloc[1]
    return bool(np.sign(change["right"]) == np.sign(change["known"]))


def auc(values: pd.Series, right: pd.Series) -> float | None:
    """How often a right answer has a higher value than a wrong one, ties half; None where all are the same."""
    ranks, n = values.rank(), int(right.sum())
    if n in (0, len(right)):
        return None
    return float((ranks[right].sum() - n * (n + 1) / 2) / (n * (len(right) - n)))


def by_category(rows: pd.DataFrame, column: str = "category") -> pd.DataFrame:
    """The agreement a question of each metric, by category; a row a category."""
    agreed = rows.assign(agreed=(rows["value"] > KNOWN) == rows["right"])
    found = agreed.pivot_table(index=column, columns="metric", values="agreed", sort=False)[list(METRICS)]
    return found.assign(questions=rows[rows["metric"] == "exam"].groupby(column).size()).reset_index()
