"""What the bill of a decision is, which strategy to use if only dollars count, and what keeping
everything would do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from workbench.base.formats import missing
from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.findings.look_ups import outcomes
from workbench.evaluation.findings.prices import considered
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences

EVERYTHING = "none"
"""The reference that keeps everything."""
SAME_SAVING = 0.005
"""The share of the bill below which two savings print alike."""


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


def cheapest_of(run: Tables, use: str) -> str:
    """The strategy that saves most of the bill, `use` where none prints more; empty without prices
    and where there is nothing to choose.
    """
    savings: dict[str, float] = {}
    for name in considered(run):
        saving = run.net_saving(name)
        if saving is not None:
            savings[name] = saving.mean
    if use not in savings or len(savings) < 2:
        return ""
    cheapest = max(savings, key=savings.__getitem__)
    if savings[cheapest] - savings[use] < SAME_SAVING:
        return use
    return cheapest


def dollars_words(
    run: Tables, use: str, compared: Sequence[str], saved: Mapping[str, float], cheapest: str
) -> str:
    """What the bill is and which strategy to use if only dollars count, in sentences; often short.

    Args:
        run: the run.
        use: the recommended strategy.
        compared: those told beside it.
        saved: by strategy the share of the bill that it saves; NaN without prices.
        cheapest: as of `cheapest_of`.
    """
    texts = sentences(
        "decision_dollars",
        use=use,
        compared=compared,
        priced=not missing(saved[use]),
        blind=_blind_shares(run, [use, *compared]),
        turned=_opposite_saving(run, use, saved[use]),
        cheapest=cheapest,
        saved=_net_saving(run, cheapest),
        everything=Everything.of(run),
    )
    return " ".join(texts)


def _net_saving(run: Tables, name: str) -> float | None:
    """The share of the bill that a strategy saves with every look-up; None where nobody knows."""
    saving = run.net_saving(name)
    if saving is None:
        return None
    return saving.mean


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


def _opposite_saving(run: Tables, use: str, net_saving: float) -> float | None:
    """The share of the bill that a strategy saves without any look-up, where look-ups turn its
    sign; else None.
    """
    rows = outcomes(run, [use])
    if rows.empty or run.simulated is None:
        return None
    of_strategy = run.simulated.xs(use, level="strategy")
    saving = float(of_strategy["saved_usd"].sum() / of_strategy["usd_uncompacted"].sum())
    if saving * net_saving >= 0:
        return None
    return saving
