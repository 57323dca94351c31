"""What the bill of a decision is, which strategy to use if only dollars count, and what keeping
everything would do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.findings.figures import Figures, mean_of
from workbench.evaluation.findings.look_ups import outcomes
from workbench.evaluation.findings.monthly_bill import MonthlyBill
from workbench.evaluation.findings.prices import considered
from workbench.evaluation.findings.recorded_bill import SAME_SAVING, RecordedBill
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences

EVERYTHING = "none"
"""The reference that keeps everything."""


@dataclass(frozen=True, slots=True)
class Everything:
    """What keeping everything would do.

    Attributes:
        sessions: in which that was replayed.
        larger: of them, those with a request larger than the window.
    """

    sessions: int
    larger: int

    @classmethod
    def of(cls, run: Tables) -> Self | None:
        """As replayed in a run; None where it was not."""
        shares = run.values("over_window", EVERYTHING)
        if shares.empty:
            return None
        return cls(len(shares), int((shares > 0).sum()))


def cheapest_of(figures: Figures, use: str) -> str:
    """The strategy that saves most of the bill, `use` where none prints more; empty without prices
    and where there is nothing to choose.
    """
    savings: dict[str, float] = {}
    for name in considered(figures.tables):
        saving = mean_of(figures.strategies[name].net_saving)
        if saving is not None:
            savings[name] = saving
    if use not in savings or len(savings) < 2:
        return ""
    cheapest = max(savings, key=savings.__getitem__)
    if savings[cheapest] - savings[use] < SAME_SAVING:
        return use
    return cheapest


def dollars_words(
    figures: Figures,
    use: str,
    compared: Sequence[str],
    cheapest: str,
    month: MonthlyBill | None,
) -> str:
    """What the bill is and which strategy to use if only dollars count, in sentences; often short.

    Args:
        figures: of the run.
        use: the recommended strategy.
        compared: those told beside it.
        cheapest: as of `cheapest_of`.
        month: what the bill comes to in a month, where that is known.
    """
    run = figures.tables
    saving = mean_of(figures.strategies[use].net_saving)
    names = [use, *compared]
    if cheapest and cheapest not in names:
        names.append(cheapest)
    most_saved = None
    if cheapest:
        most_saved = mean_of(figures.strategies[cheapest].net_saving)
    texts = sentences(
        "decision_dollars",
        use=use,
        compared=compared,
        priced=saving is not None,
        blind=_blind_shares(run, [use, *compared]),
        turned=_opposite_saving(run, use, saving),
        cheapest=cheapest,
        saved=most_saved,
        intervals=_saving_intervals(figures, names),
        recorded=RecordedBill.of(run, names),
        everything=Everything.of(run),
        month=month,
    )
    return " ".join(texts)


def _saving_intervals(
    figures: Figures,
    names: Sequence[str],
) -> dict[str, Estimate]:
    """By strategy what it saves of the bill, where projects are enough for an interval."""
    intervals: dict[str, Estimate] = {}
    for name in names:
        saving = figures.strategies[name].net_saving
        if saving is not None and saving.low is not None:
            intervals[name] = saving
    return intervals


def _blind_shares(run: Tables, names: Sequence[str]) -> dict[str, float]:
    """By strategy the share of the steps that lacked what no call brings back, when simulated: a
    mean over projects; empty without a simulation.
    """
    rows = outcomes(run, names)
    if rows.empty:
        return {}
    had_what_they_needed = Trade(0).points(rows).mean() / 100
    shares: dict[str, float] = {}
    for name, share in had_what_they_needed.items():
        shares[str(name)] = 1 - float(share)
    return shares


def _opposite_saving(
    run: Tables,
    use: str,
    net_saving: float | None,
) -> float | None:
    """The share of the bill that a strategy saves without any look-up, where look-ups turn its
    sign; else None.
    """
    rows = outcomes(run, [use])
    if rows.empty or run.simulated is None or net_saving is None:
        return None
    of_strategy = run.simulated.xs(use, level="strategy")
    saving = float(of_strategy["saved_usd"].sum() / of_strategy["usd_uncompacted"].sum())
    if saving * net_saving >= 0:
        return None
    return saving
