"""What the other numbers of the headline say of the recommended strategy, and where they contradict
the leading one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from workbench.evaluation.analysis.paired import FEWEST, Estimate
from workbench.evaluation.analysis.trade import MARGIN, difference
from workbench.evaluation.findings.prices import OWN_TRIGGER
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
        is_clear: whether that is beyond chance and beyond the measure's own error.
    """

    strategy: str
    half: str
    lead: Estimate
    is_clear: bool

    def is_of(self, strategy: str, half: str) -> bool:
        """Whether it says this of that strategy."""
        return self.strategy == strategy and self.half == half


def largest_disagreement(
    run: Tables,
    use: str,
    compared: Sequence[str],
    alternatives: Sequence[str],
) -> Disagreement | None:
    """The largest disagreement about the recommended strategy, if any. One that is beyond chance
    goes before all others.

    Args:
        run: the run.
        use: the recommended strategy.
        compared: those told beside it: of them a difference that somebody would notice is told too
            where it may be chance.
        alternatives: all others that may be recommended.
    """
    disagreements: list[Disagreement] = []
    for half in _other_numbers(run):
        for disagreement in _disagreements(run, use, alternatives, half):
            is_compared = disagreement.strategy in compared
            is_noticed = disagreement.lead.mean >= MARGIN
            if disagreement.is_clear or (is_compared and is_noticed):
                disagreements.append(disagreement)
    return max(disagreements, key=_clear_and_large, default=None)


def disagreement_words(run: Tables, use: str, disagreement: Disagreement | None) -> str:
    """A disagreement about the recommended strategy, in a sentence; empty for none."""
    if disagreement is None:
        return ""
    texts = sentences(
        "decision_disagreement",
        use=use,
        strategy=disagreement.strategy,
        half=HALVES[disagreement.half],
        lead=disagreement.lead,
        is_clear=disagreement.is_clear,
        leading=HALVES[run.leading(OWN_TRIGGER)],
    )
    return " ".join(texts)


def _clear_and_large(disagreement: Disagreement) -> tuple[bool, float]:
    """What tells the largest disagreement: a clear one goes before all others."""
    return disagreement.is_clear, disagreement.lead.mean


def other_numbers_words(
    run: Tables,
    use: str,
    compared: Sequence[str],
    disagreement: Disagreement | None,
) -> str:
    """By how much the recommended strategy leads the first of those told beside it in the other
    numbers of the headline, in a sentence; empty where there are none.

    Args:
        run: the run.
        use: the recommended strategy.
        compared: those told beside it.
        disagreement: that has its own sentence; it is not told again.
    """
    if not compared:
        return ""
    rival = compared[0]
    leads: list[tuple[str, Estimate]] = []
    for half in _other_numbers(run):
        if disagreement is not None and disagreement.is_of(rival, half):
            continue
        lead = _lead(run, use, rival, half)
        if lead is not None:
            leads.append((HALVES[half], lead))
    texts = sentences(
        "decision_other_numbers",
        use=use,
        rival=rival,
        leads=leads,
        fewest=FEWEST,
    )
    return " ".join(texts)


def _other_numbers(run: Tables) -> list[str]:
    """The numbers of the headline that a run has, without the leading one."""
    leading = run.leading(OWN_TRIGGER)
    return [half for half in run.halves if half != leading]


def _lead(run: Tables, strategy: str, rival: str, half: str) -> Estimate | None:
    """The lead of a strategy over another in one number, in points; None where no session has both
    figures.
    """
    ours = run.values(half, strategy)
    theirs = run.values(half, rival)
    by_session = pd.concat([ours, theirs], axis=1, keys=[strategy, rival])
    in_both = by_session.dropna()
    if in_both.empty:
        return None
    projects = run.projects_by_session(in_both.index)
    by_project = in_both.groupby(projects)
    points = 100 * by_project.mean()
    return difference(points, strategy, rival)


def _disagreements(
    run: Tables,
    use: str,
    alternatives: Sequence[str],
    half: str,
) -> list[Disagreement]:
    """Those by one number."""
    disagreements: list[Disagreement] = []
    for strategy in alternatives:
        lead = _lead(run, strategy, use, half)
        if lead is None or lead.mean <= 0:
            continue
        if not _is_behind(run, strategy, use):
            continue
        share = lead.mean / 100
        is_bias = may_be_bias(run, share, strategy, use, half, OWN_TRIGGER)
        is_beyond_chance = lead.low is not None and lead.low > 0
        is_clear = is_beyond_chance and not is_bias
        disagreement = Disagreement(strategy, half, lead, is_clear)
        disagreements.append(disagreement)
    return disagreements


def _is_behind(run: Tables, strategy: str, use: str) -> bool:
    """Whether the leading number puts a strategy behind the recommended one."""
    leading = run.leading(OWN_TRIGGER)
    lead = _lead(run, strategy, use, leading)
    return lead is not None and lead.mean < 0
