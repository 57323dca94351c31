"""What real readers' answers say of each strategy, and how far two readings of one context
agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

CONTEXT = ["session", "at", "share", "strategy", "writer", "chain"]
"""The columns that name a context."""


@dataclass(frozen=True, slots=True)
class WorkScore:
    """The answers from one strategy's contexts.

    Attributes:
        writer: the model that wrote its summaries; empty where it has none.
        chain: how many compactions in a row made each context.
        work, names: mean scores of both halves in [0, 1], each context the same weight; None
            without any.
        used: mean size, as a share of the history.
        contexts: how many were read.
        missing: replies that did not come or were not graded.
    """

    strategy: str
    writer: str
    chain: int
    work: float | None
    names: float | None
    used: float
    contexts: int
    missing: int


@dataclass(frozen=True, slots=True)
class ReadingAgreement:
    """How far the readings of one context by several readers agree.

    Attributes:
        answers: answers that were given by two readers and more.
        equal: the share of pairs with the same score.
        correlation: of their scores; None where all are alike.
    """

    answers: int
    equal: float
    correlation: float | None

    def __str__(self) -> str:
        """One sentence."""
        correlation = ""
        if self.correlation is not None:
            correlation = f", correlation {self.correlation:.2f}"
        return (
            f"Two readings gave {self.equal:.0%} of {self.answers} answers the same"
            f" score{correlation}."
        )


def work_scores(table: pd.DataFrame) -> list[WorkScore]:
    """A score a strategy, writer and length of chain, the best at the work first.

    Args:
        table: of `workbench lab judge work`.
    """
    filled = table.assign(writer=table["writer"].fillna(""))
    groups = filled.groupby(["strategy", "writer", "chain"], sort=False)
    scores = []
    for (strategy, writer, chain), rows in groups:
        contexts = rows.groupby(CONTEXT)
        score = WorkScore(
            strategy=str(strategy),
            writer=str(writer),
            chain=int(chain),
            work=_mean(rows, "work"),
            names=_mean(rows, "names"),
            used=float(contexts["used"].first().mean()),
            contexts=int(contexts.ngroups),
            missing=int(rows["score"].isna().sum()),
        )
        scores.append(score)
    return sorted(scores, key=_work_or_last, reverse=True)


def _work_or_last(score: WorkScore) -> float:
    """The work's score; one below all where there is none."""
    return -1.0 if score.work is None else score.work


def _mean(rows: pd.DataFrame, half: str) -> float | None:
    """The mean over contexts of their mean scores."""
    is_of_half = rows["half"] == half
    scored = rows[is_of_half & rows["score"].notna()]
    if scored.empty:
        return None
    context_means = scored.groupby(CONTEXT)["score"].mean()
    return float(context_means.mean())


def readers_agree(table: pd.DataFrame) -> ReadingAgreement | None:
    """How far the first two readings of each context agree; None where contexts were read once.

    Args:
        table: of `workbench lab judge work`.
    """
    filled = table.assign(writer=table["writer"].fillna(""))
    scored = filled[filled["score"].notna()]
    both = scored.pivot_table(
        index=[*CONTEXT, "question"],
        columns="reading",
        values="score",
    )
    if 0 not in both or 1 not in both:
        return None
    pairs = both[[0, 1]].dropna().astype(float)
    if pairs.empty:
        return None
    first_scores = pairs[0].to_numpy()
    second_scores = pairs[1].to_numpy()
    is_equal = first_scores == second_scores
    correlation = None
    if first_scores.std() > 0 and second_scores.std() > 0:
        correlation = float(np.corrcoef(first_scores, second_scores)[0, 1])
    return ReadingAgreement(len(pairs), float(is_equal.mean()), correlation)
