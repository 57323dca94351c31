"""Whether a run has become worse than an earlier one: non-inferiority by a margin that was named before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from workbench.analysis.equivalence import ALPHA, not_worse
from workbench.analysis.paired import Pairs, interval, pairs
from workbench.analysis.power import reporting_floor, sessions_needed
from workbench.analysis.scores import direction, select
from workbench.errors import SettingError, UnknownName
from workbench.metrics.metric import Better
from workbench.palette import REFERENCES

Outcome: TypeAlias = Literal["passed", "failed", "undecided"]

FLOOR = reporting_floor()
"""Sessions under which a mean over them decides nothing."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What is asked of a run.

    Attributes:
        metric: one of the run's.
        margin: the loss that one would put up with, in the metric's unit, > 0.
        mode: `natural` or `matched`.
        share: of matched mode, in (0, 1); None takes each session's mean over all shares.
        each: whether no single session may lose more than the margin, in place of the mean over sessions: for a few
            sessions that are the whole of what matters, not a sample.

    Raises:
        SettingError: the margin is not above 0.
    """

    metric: str
    margin: float
    mode: str = "natural"
    share: float | None = None
    each: bool = False

    def __post_init__(self) -> None:
        if not self.margin > 0:
            raise SettingError(f"a margin of {self.margin:g} allows no loss; it must be above 0, in the metric's unit")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one strategy stands. Differences are run minus baseline, in the metric's unit; None where there is none.

    Attributes:
        against: the baseline's strategy.
        sessions: that have a value in both runs.
        low, high: of the difference's 95 % interval over sessions.
        p: that a true loss of the margin would look this good.
        worst: the session that lost most, and `worst_difference` what it lost or won.
        why: one sentence.
    """

    strategy: str
    against: str
    outcome: Outcome
    why: str
    sessions: int
    mean: float | None = None
    baseline: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    worst: str = ""
    worst_difference: float | None = None


def gate(
    run: pd.DataFrame, baseline: pd.DataFrame, asked: Gate, pairing: Mapping[str, str] | None = None
) -> tuple[Verdict, ...]:
    """Judge the strategies of a run.

    A strategy passes if the difference's one-sided 97.5 % bound lies within the margin, or if no session at all has
    become worse. It fails if that cannot be shown, or if a session that had a value has none any more. Too few
    sessions to show anything are undecided.

    Args:
        run: its table `scores`.
        baseline: that of the earlier run, or of the same.
        asked: metric and margin.
        pairing: the baseline's strategy for each strategy to judge; None pairs equal names, references apart.

    Raises:
        UnknownName: no such metric, share or strategy; the message names those that there are.
    """
    new, old = _Values.of(run, asked), _Values.of(baseline, asked)
    if pairing is None:
        names = [name for name in new.strategies if name in old.strategies and name not in REFERENCES]
        pairing = {name: name for name in names}
        if not names:
            raise UnknownName("strategy of both runs", "any", new.strategies)
    return tuple(_verdict(name, against, new, old, asked) for name, against in pairing.items())


def outcome(verdicts: Sequence[Verdict]) -> Outcome:
    """That of all together: one that failed fails it, else one that is undecided leaves it so."""
    found = {verdict.outcome for verdict in verdicts}
    return "failed" if "failed" in found else "undecided" if "undecided" in found or not found else "passed"


@dataclass(frozen=True, slots=True)
class _Values:
    """A metric's value by strategy and session."""

    table: pd.DataFrame
    better: Better

    @classmethod
    def of(cls, scores: pd.DataFrame, asked: Gate) -> _Values:
        """Those that are asked for."""
        rows = select(scores, asked.metric, asked.mode, asked.share)
        return cls(rows, direction(rows))

    @property
    def strategies(self) -> list[str]:
        return [str(name) for name in self.table["strategy"].unique()]

    def by_session(self, strategy: str) -> dict[str, float | None]:
        """The mean over the shares; None where the strategy has no value at one of them."""
        own = self.table[self.table["strategy"] == strategy]
        if own.empty:
            raise UnknownName("strategy of this run", strategy, self.strategies)
        means = own.groupby("session", sort=True)["value"].agg(lambda values: values.mean(skipna=False))
        return {str(name): None if pd.isna(value) else float(value) for name, value in means.items()}


def _verdict(name: str, against: str, new: _Values, old: _Values, asked: Gate) -> Verdict:
    ours, theirs = new.by_session(name), old.by_session(against)
    both = pairs(ours, theirs)
    gone = sorted(s for s, value in theirs.items() if value is not None and ours.get(s) is None)
    if not both.n:
        return Verdict(name, against, "undecided", "no session has a value in both", 0)
    sign = 1 if new.better == "higher" else -1
    gains = sign * np.array(both.differences)
    worst = int(gains.argmin())
    facts = Verdict(
        name, against, "undecided", "", both.n,
        mean=_mean(ours, both), baseline=_mean(theirs, both), difference=float(np.mean(both.differences)),
        worst=both.sessions[worst], worst_difference=both.differences[worst],
    )  # fmt: skip
    if gone:
        some = ", ".join(gone[:3]) + (" and others" if len(gone) > 3 else "")
        return replace(
            facts, outcome="failed", why=f"{len(gone)} sessions of the baseline have no value any more: {some}"
        )
    if gains.min() >= 0:
        return replace(
            facts, outcome="passed", why=f"no session {'is worse' if both.differ else 'differs'}, of {both.n}"
        )
    if asked.each:
        lost = int((gains < -asked.margin).sum())
        why = f"{lost} of {both.n} sessions lost more than {asked.margin:g}" if lost else ""
        return replace(
            facts, outcome="failed" if lost else "passed", why=why or f"no session lost more than {asked.margin:g}"
        )
    return _by_mean(facts, both, new.better, asked)


def _by_mean(facts: Verdict, both: Pairs, better: Better, asked: Gate) -> Verdict:
    gaps = np.array(both.differences)
    if both.n < FLOOR:
        why = f"too few sessions: {both.n}, at least {FLOOR} would do; --each judges every session by itself"
        return replace(facts, outcome="undecided", why=why)
    gains = gaps if better == "higher" else -gaps
    if np.ptp(gains) <= 1e-12 * np.abs(gains).max():
        holds = bool(gains[0] > -asked.margin)
        why = f"every session differs by {gaps[0]:+.4g}"
        return replace(facts, outcome="passed" if holds else "failed", why=why)
    claim = not_worse(gaps, asked.margin, better=better, alpha=ALPHA)
    low, high = interval(gaps)
    needed = sessions_needed(asked.margin, float(gaps.std(ddof=1)))
    why = f"not worse by {asked.margin:g} (one-sided p = {claim.p:.2g})"
    if not claim.holds:
        more = f"; about {needed} sessions would tell a loss of {asked.margin:g} from none" if needed else ""
        worse = gains.mean() <= -asked.margin
        why = (
            f"worse by more than {asked.margin:g} on the mean" if worse else f"a loss of {asked.margin:g} may be{more}"
        )
    outcome: Outcome = "passed" if claim.holds else "failed"
    return replace(facts, outcome=outcome, why=why, low=float(low), high=float(high), p=claim.p)


def _mean(values: Mapping[str, float | None], both: Pairs) -> float:
    return float(np.mean([value for name in both.sessions if (value := values[name]) is not None]))
