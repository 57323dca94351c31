"""Where the numbers of the headline contradict each other on what to use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.evaluation.analysis.paired import FEWEST, Estimate
from workbench.evaluation.analysis.trade import Trade, difference
from workbench.evaluation.findings.prices import OWN_TRIGGER, trade_rows
from workbench.evaluation.findings.readers import may_be_bias
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import HALVES


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A number by which a strategy is ahead of the recommended one, where the leading number puts
    it behind.

    Attributes:
        strategy: that is ahead.
        half: the number of the headline by which it is.
        lead: over the recommended one, in points.
    """

    strategy: str
    half: str
    lead: Estimate


def disagreement_words(run: Tables, use: str, alternatives: Sequence[str]) -> str:
    """The largest disagreement about the recommended strategy, in a sentence; empty for none.

    Args:
        run: the run.
        use: the recommended strategy.
        alternatives: the others that may be recommended.
    """
    leading = run.leading(OWN_TRIGGER)
    disagreements: list[Disagreement] = []
    for half in HALVES:
        if half != leading:
            disagreements += _disagreements(run, use, alternatives, half)
    if not disagreements:
        return ""
    largest = max(disagreements, key=lambda disagreement: disagreement.lead.mean)
    texts = sentences(
        "decision_disagreement",
        use=use,
        strategy=largest.strategy,
        half=HALVES[largest.half],
        lead=largest.lead,
        leading=HALVES[leading],
    )
    return " ".join(texts)


def _disagreements(
    run: Tables, use: str, alternatives: Sequence[str], half: str
) -> list[Disagreement]:
    """Those by one number, over the projects in which all strategies have it."""
    rows = trade_rows(run, [use, *alternatives], half)
    points = Trade(0).points(rows).dropna()
    if len(points) < FEWEST:
        return []
    disagreements: list[Disagreement] = []
    for strategy in alternatives:
        lead = difference(points, strategy, use)
        if lead is None or lead.low is None or lead.low <= 0:
            continue
        if may_be_bias(run, lead.mean / 100, strategy, use, half, OWN_TRIGGER):
            continue
        if _is_behind(run, strategy, use):
            disagreements.append(Disagreement(strategy, half, lead))
    return disagreements


def _is_behind(run: Tables, strategy: str, use: str) -> bool:
    """Whether the leading number puts a strategy behind the recommended one."""
    rows = trade_rows(run, [strategy, use], run.leading(OWN_TRIGGER))
    points = Trade(0).points(rows).dropna()
    return bool(points[strategy].mean() < points[use].mean())
