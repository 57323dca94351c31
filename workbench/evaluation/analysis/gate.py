"""A run against an earlier one: whether it is worse by a margin that was named before.

Source:
    Non-inferiority by the interval's end: G. Piaggio et al., CONSORT extension, JAMA 308 (2012),
    2594-2604.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from workbench.base.errors import SettingError, UnknownName
from workbench.base.formats import joined, some
from workbench.base.palette import REFERENCES
from workbench.base.ragged import Floats
from workbench.evaluation.analysis.paired import by_project, interval, paired_differences
from workbench.evaluation.analysis.power import reporting_floor, sessions_needed
from workbench.evaluation.analysis.scores import (
    at_sizes_of,
    direction,
    projects_of,
    same_baseline,
    select,
    size_gains,
)
from workbench.evaluation.metrics.metric import Better

GateOutcome: TypeAlias = Literal["passed", "failed", "undecided"]

FLOOR = reporting_floor()
"""Projects under which a mean over them decides nothing."""
AS_ASKED = "at the sizes asked for, since the runs have no baseline at the sizes used"


@dataclass(frozen=True, slots=True)
class Gate:
    """What is asked of a run.

    Attributes:
        metric: one of the run's.
        margin: the loss to put up with, in the metric's unit, > 0.
        mode: `natural` or `matched`.
        share: of matched mode, in (0, 1); None takes each session's mean over all shares.
        each: whether no single session may lose more than the margin, in place of the mean over
            sessions: for a few sessions that are the whole of what matters, not a sample.

    Raises:
        SettingError: the margin is not above 0, or infinite.
    """

    metric: str
    margin: float
    mode: str = "natural"
    share: float | None = None
    each: bool = False

    def __post_init__(self) -> None:
        if self.margin == np.inf:
            raise SettingError(
                "a margin of inf accepts every loss; it must be a number above 0, in the metric's"
                " unit"
            )
        if not self.margin > 0:
            raise SettingError(
                f"a margin of {self.margin:g} allows no loss; it must be above 0, in the metric's"
                " unit"
            )


@dataclass(frozen=True, slots=True)
class GateResult:
    """The outcome for one strategy against the baseline's, over the sessions that have a value in
    both runs.

    Differences are run minus baseline, in the metric's unit, with the ends of their 95 % interval;
    `worst` is the session that lost most. None where unknown.
    """

    strategy: str
    against: str
    outcome: GateOutcome
    why: str
    sessions: int
    mean: float | None = None
    baseline: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    worst: str = ""
    worst_difference: float | None = None


def gate(
    run: pd.DataFrame,
    baseline: pd.DataFrame,
    criterion: Gate,
    pairing: Mapping[str, str] | None = None,
    at_sizes: tuple[pd.DataFrame, pd.DataFrame] | None = None,
) -> tuple[GateResult, ...]:
    """Judge the strategies of a run.

    A strategy passes if the 95 % interval of the difference lies within the margin, or if no
    session at all has become worse. It fails if that cannot be shown, or if a session that had a
    value has none any more. Too few projects to show anything are undecided. Where neither run
    compacted anything there is nothing to lose: it passes. Where a few sessions lose far more than
    the rest, a true loss of just the margin passes in 4 to 6 % of samples of 8 to 60 sessions
    instead of 2.5 % (`tests/benchmarks/bench_statistics.py`).

    Args:
        run: its table `scores`.
        baseline: that of the earlier run, or of the same.
        criterion: metric and margin.
        pairing: the baseline's strategy for each strategy to judge; None pairs equal names,
            references apart.
        at_sizes: the tables `baseline_at_sizes` of both. With them, in matched mode, a strategy is
            judged against the other one at the very sizes that it used; without, or where they are
            of two baselines, at those asked for.

    Raises:
        SettingError: the margin is 1 or more, and the metric is a share; or the runs have no
            strategy of the same name.
        UnknownName: no such metric, share or strategy; the message names those that there are.
    """
    new = select(run, criterion.metric, criterion.mode, criterion.share)
    old = select(baseline, criterion.metric, criterion.mode, criterion.share)
    if pairing is None:
        pairing = _equal_names(new, old)
    if criterion.margin >= 1 and set(new["unit"]) == {"share"}:
        raise SettingError(
            f"a margin of {criterion.margin:g} accepts every loss of {criterion.metric}, a share; 0.02"
            " stands for two points"
        )
    projects = projects_of(new)
    new = new.assign(gain=0.0)
    old = old.assign(gain=0.0)
    note = ""
    if criterion.mode == "matched":
        if at_sizes is not None and same_baseline(*at_sizes):
            new = new.assign(gain=size_gains(new, at_sizes[0]))
            old = old.assign(gain=size_gains(old, at_sizes[1]))
        else:
            note = f"; {AS_ASKED}"
    results: list[GateResult] = []
    for name, against in pairing.items():
        ours = _rows_of(new, name)
        theirs = _rows_of(old, against)
        result = _judge(
            name,
            against,
            _by_session(ours),
            _by_session(at_sizes_of(theirs, ours)),
            better=direction(new),
            criterion=criterion,
            projects=projects,
        )
        result = replace(result, why=result.why + note)
        if (
            not result.sessions
            and never_compacted(run, name)
            and never_compacted(baseline, against)
        ):
            reason = "nothing was tested: neither run compacted anything"
            result = replace(result, outcome="passed", why=reason)
        results.append(result)
    return tuple(results)


def _equal_names(new: pd.DataFrame, old: pd.DataFrame) -> dict[str, str]:
    """Each strategy of both runs with itself, without references."""
    names = [str(name) for name in new["strategy"].unique() if name not in REFERENCES]
    old_names = set(old["strategy"]).difference(REFERENCES)
    pairing: dict[str, str] = {}
    for name in names:
        if name in old_names:
            pairing[name] = name
    if not pairing:
        raise SettingError(
            f"the runs have no strategy of the same name: {joined(names)} here,"
            f" {joined(sorted(map(str, old_names)))} in the baseline; --strategy and --against name"
            " two that differ"
        )
    return pairing


def never_compacted(scores: pd.DataFrame, strategy: str) -> bool:
    """Whether a strategy was replayed and compacted nothing on its own trigger."""
    rows = scores[(scores["strategy"] == strategy) & (scores["metric"] == "compactions")]
    return not rows.empty and bool((rows["value"].fillna(0) == 0).all())


def of_the_model(
    result: GateResult, mode: str, run: pd.DataFrame, baseline: pd.DataFrame
) -> GateResult:
    """The result; undecided where it passed although a stand-in wrote most summaries of one side,
    because the model's were of no use: then the gate has judged the stand-in.

    Args:
        result: of one strategy.
        mode: in which it was judged.
        run: its table `compactions`.
        baseline: that of the earlier run, or of the same.
    """
    if result.outcome != "passed":
        return result
    for compactions, strategy in ((run, result.strategy), (baseline, result.against)):
        rows = compactions[(compactions["strategy"] == strategy) & (compactions["mode"] == mode)]
        summaries = int(rows["requests"].sum())
        replaced = int(rows["fallbacks"].sum())
        if replaced > summaries / 2:
            reason = (
                f"{replaced} of {some(summaries, 'summary', 'summaries')} of {strategy} are not the"
                " model's, whose answers were of no use"
            )
            return replace(result, outcome="undecided", why=reason)
    return result


def outcome(results: Sequence[GateResult]) -> GateOutcome:
    """The outcome of all: one failure fails it, else one undecided leaves it undecided."""
    outcomes = {result.outcome for result in results}
    if "failed" in outcomes:
        return "failed"
    if "undecided" in outcomes or not outcomes:
        return "undecided"
    return "passed"


def _rows_of(rows: pd.DataFrame, strategy: str) -> pd.DataFrame:
    """The rows of one strategy."""
    of_strategy = rows[rows["strategy"] == strategy]
    if of_strategy.empty:
        raise UnknownName("strategy of this run", strategy, map(str, rows["strategy"].unique()))
    return of_strategy


def _by_session(rows: pd.DataFrame) -> pd.Series[float]:
    """A strategy's mean over the shares by session; NaN where it has no value at one of them."""
    values = rows.groupby(rows["session"].astype(str))["value"]
    return values.agg(lambda of_session: of_session.mean(skipna=False))


def _judge(
    name: str,
    against: str,
    ours: pd.Series[float],
    theirs: pd.Series[float],
    better: Better,
    criterion: Gate,
    projects: Mapping[str, str],
) -> GateResult:
    gaps = paired_differences(ours, theirs)
    if gaps.empty:
        return GateResult(name, against, "undecided", "no session has a value in both", 0)
    session_count = len(gaps)
    sign = 1 if better == "higher" else -1
    gains = sign * gaps.to_numpy()
    worst = str(gaps.index[gains.argmin()])
    facts = GateResult(
        name,
        against,
        "passed",
        "",
        session_count,
        mean=float(by_project(ours[gaps.index], projects).mean()),
        baseline=float(by_project(theirs[gaps.index], projects).mean()),
        difference=float(by_project(gaps, projects).mean()),
        worst=worst,
        worst_difference=float(gaps[worst]),
    )
    lost_sessions = list(theirs.dropna().index.difference(ours.dropna().index))
    if lost_sessions:
        return replace(facts, outcome="failed", why=_lost_values(lost_sessions))
    if gains.min() >= 0:
        comparison = "is worse" if gains.any() else "differs"
        return replace(facts, why=f"no session {comparison}, of {session_count}")
    if criterion.each:
        return _by_each(facts, gains, criterion)
    means = by_project(gaps, projects)
    return _by_mean(facts, means, sign * means, criterion)


def _lost_values(sessions: Sequence[str]) -> str:
    """A sentence on the sessions that have no value any more."""
    names = ", ".join(sessions[:3])
    if len(sessions) > 3:
        names += " and others"
    count = some(len(sessions), "session")
    return f"{count} of the baseline without a value now: {names}"


def _by_each(facts: GateResult, gains: Floats, criterion: Gate) -> GateResult:
    """The outcome by every session."""
    lost = int((gains < -criterion.margin).sum())
    if not lost:
        return replace(facts, why=f"no session lost more than {criterion.margin:g}")
    reason = f"{lost} of {some(len(gains), 'session')} lost more than {criterion.margin:g}"
    return replace(facts, outcome="failed", why=reason)


def _by_mean(facts: GateResult, gaps: Floats, gains: Floats, criterion: Gate) -> GateResult:
    """The outcome by the mean over projects."""
    if len(gaps) < FLOOR:
        reason = (
            f"too few projects: {len(gaps)}, at least {FLOOR} would do; --each judges every session"
            " by itself"
        )
        return replace(facts, outcome="undecided", why=reason)
    if np.ptp(gains) <= 1e-12 * np.abs(gains).max():
        outcome: GateOutcome = "passed" if gains[0] > -criterion.margin else "failed"
        return replace(facts, outcome=outcome, why=f"every project differs by {gaps[0]:+.4g}")
    low, high = interval(gaps)
    facts = replace(facts, low=float(low), high=float(high))
    if float(interval(gains)[0]) >= -criterion.margin:
        reason = (
            f"not worse by {criterion.margin:g}: the 95 % interval is {low:+.3g} to {high:+.3g}"
        )
        return replace(facts, why=reason)
    if gains.mean() <= -criterion.margin:
        reason = f"worse by more than {criterion.margin:g} on the mean"
        return replace(facts, outcome="failed", why=reason)
    reason = f"a loss of {criterion.margin:g} may be"
    needed = sessions_needed(criterion.margin, float(gains.std(ddof=1)))
    if needed:
        reason += f"; about {needed} projects would tell a loss of {criterion.margin:g} from none"
    return replace(facts, outcome="failed", why=reason)
