"""A run against an earlier one: whether it is worse by a margin that was named before, and what
changed.

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
from workbench.base.palette import REFERENCES
from workbench.base.ragged import Floats
from workbench.evaluation.analysis.paired import (
    by_project,
    interval,
    paired_differences,
    reporting_floor,
    sessions_needed,
)
from workbench.evaluation.analysis.scores import (
    at_sizes_of,
    direction,
    floats,
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
        SettingError: the margin is not above 0.
    """

    metric: str
    margin: float
    mode: str = "natural"
    share: float | None = None
    each: bool = False

    def __post_init__(self) -> None:
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
    asked: Gate,
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
        asked: metric and margin.
        pairing: the baseline's strategy for each strategy to judge; None pairs equal names,
            references apart.
        at_sizes: the tables `baseline_at_sizes` of both. With them, in matched mode, a strategy is
            judged against the other one at the very sizes that it used; without, or where they are
            of two baselines, at those asked for.

    Raises:
        UnknownName: no such metric, share or strategy; the message names those that there are.
    """
    new, old = (select(scores, asked.metric, asked.mode, asked.share) for scores in (run, baseline))
    if pairing is None:
        both = set(new["strategy"]) & set(old["strategy"]).difference(REFERENCES)
        pairing = {str(name): str(name) for name in new["strategy"].unique() if name in both}
        if not pairing:
            raise UnknownName("strategy of both runs", "any", map(str, new["strategy"].unique()))
    projects = projects_of(new)
    even = asked.mode == "matched" and at_sizes is not None and same_baseline(*at_sizes)
    new, old = (
        rows.assign(gain=size_gains(rows, table) if even else 0.0)
        for rows, table in zip((new, old), at_sizes or (run, baseline), strict=True)
    )
    judged = {}
    for name, against in pairing.items():
        ours, theirs = _of(new, name), _of(old, against)
        values = _by_session(ours), _by_session(at_sizes_of(theirs, ours))
        found = _judge(
            name, against, *values, better=direction(new), asked=asked, projects=projects
        )
        judged[name] = (
            found
            if even or asked.mode == "natural"
            else replace(found, why=f"{found.why}; {AS_ASKED}")
        )
    return tuple(
        (
            replace(
                found, outcome="passed", why="nothing was tested: neither run compacted anything"
            )
            if not found.sessions
            and never_compacted(run, name)
            and never_compacted(baseline, pairing[name])
            else found
        )
        for name, found in judged.items()
    )


def never_compacted(scores: pd.DataFrame, strategy: str) -> bool:
    """Whether a strategy was replayed and compacted nothing on its own trigger."""
    rows = scores[(scores["strategy"] == strategy) & (scores["metric"] == "compactions")]
    return not rows.empty and bool((rows["value"].fillna(0) == 0).all())


def outcome(results: Sequence[GateResult]) -> GateOutcome:
    """The outcome of all together: one failure fails it, else an undecided strategy leaves it
    undecided.
    """
    found = {result.outcome for result in results}
    return (
        "failed"
        if "failed" in found
        else "undecided"
        if "undecided" in found or not found
        else "passed"
    )


def _of(rows: pd.DataFrame, strategy: str) -> pd.DataFrame:
    own = rows[rows["strategy"] == strategy]
    if own.empty:
        raise UnknownName("strategy of this run", strategy, map(str, rows["strategy"].unique()))
    return own


def _by_session(own: pd.DataFrame) -> pd.Series[float]:
    """A strategy's mean over the shares by session; NaN where it has no value at one of them."""
    return own.groupby(own["session"].astype(str))["value"].agg(
        lambda values: values.mean(skipna=False)
    )


def _judge(
    name: str,
    against: str,
    ours: pd.Series[float],
    theirs: pd.Series[float],
    better: Better,
    asked: Gate,
    projects: Mapping[str, str],
) -> GateResult:
    gaps = paired_differences(ours, theirs)
    gone = list(theirs.dropna().index.difference(ours.dropna().index))
    if gaps.empty:
        return GateResult(name, against, "undecided", "no session has a value in both", 0)
    sign, n = 1 if better == "higher" else -1, len(gaps)
    gains = sign * gaps.to_numpy()
    worst = str(gaps.index[gains.argmin()])
    facts = GateResult(
        name,
        against,
        "passed",
        "",
        n,
        mean=float(by_project(ours[gaps.index], projects).mean()),
        baseline=float(by_project(theirs[gaps.index], projects).mean()),
        difference=float(by_project(gaps, projects).mean()),
        worst=worst,
        worst_difference=float(gaps[worst]),
    )
    if gone:
        some = ", ".join(gone[:3]) + (" and others" if len(gone) > 3 else "")
        why = f"{len(gone)} sessions of the baseline have no value any more: {some}"
        return replace(facts, outcome="failed", why=why)
    if gains.min() >= 0:
        return replace(facts, why=f"no session {'is worse' if gains.any() else 'differs'}, of {n}")
    if asked.each:
        lost = int((gains < -asked.margin).sum())
        if not lost:
            return replace(facts, why=f"no session lost more than {asked.margin:g}")
        return replace(
            facts, outcome="failed", why=f"{lost} of {n} sessions lost more than {asked.margin:g}"
        )
    means = by_project(gaps, projects)
    return _by_mean(facts, means, sign * means, asked)


def _by_mean(facts: GateResult, gaps: Floats, gains: Floats, asked: Gate) -> GateResult:
    """The outcome by the mean over projects."""
    if len(gaps) < FLOOR:
        why = (
            f"too few projects: {len(gaps)}, at least {FLOOR} would do; --each judges every session"
            " by itself"
        )
        return replace(facts, outcome="undecided", why=why)
    if np.ptp(gains) <= 1e-12 * np.abs(gains).max():
        same: GateOutcome = "passed" if gains[0] > -asked.margin else "failed"
        return replace(facts, outcome=same, why=f"every project differs by {gaps[0]:+.4g}")
    low, high = interval(gaps)
    facts = replace(facts, low=float(low), high=float(high))
    if float(interval(gains)[0]) >= -asked.margin:
        return replace(
            facts,
            why=f"not worse by {asked.margin:g}: the 95 % interval is {low:+.3g} to {high:+.3g}",
        )
    if gains.mean() <= -asked.margin:
        return replace(
            facts, outcome="failed", why=f"worse by more than {asked.margin:g} on the mean"
        )
    needed = sessions_needed(asked.margin, float(gains.std(ddof=1)))
    more = (
        f"; about {needed} projects would tell a loss of {asked.margin:g} from none"
        if needed
        else ""
    )
    return replace(facts, outcome="failed", why=f"a loss of {asked.margin:g} may be{more}")


PLACE = ["session", "strategy", "mode", "share"]
VALUES = [*PLACE, "metric", "before", "after", "by_size", "difference", "worse_by", "better"]
LOSS = [*PLACE, "kind", "entity"]
DETAILS = [
    "weight",
    "recoverable",
    "level",
    "said_by",
    "evidence_at",
    "evidence",
    "needed_at",
    "use",
    "stage",
]


def changed_values(
    before: pd.DataFrame,
    after: pd.DataFrame,
    metric: str | None = None,
    at_sizes: tuple[pd.DataFrame, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """The scores of two runs that differ, of one metric or (None) of all, largest regression first.

    Args:
        before: the table `scores` of the earlier run.
        after: that of the later one.
        metric: one of its metrics.
        at_sizes: the tables `baseline_at_sizes` of both, in that order.

    Returns:
        `session`, `strategy`, `mode`, `share` and `metric` of the score; `before` and `after` in
            the metric's unit;
        `by_size`: what the baseline gains from the size used before to the size used after, missing
            where that is
        unknown; `difference`: what is left of after - before without it; `worse_by`: that
            difference as a share of the
        larger of the two values, in [-2, 2], above 0 where the metric has become worse, 1 where a
            value is missing now,
        by which rows of different units are ordered.
    """
    names = [*PLACE, "metric"]
    even = at_sizes is not None and same_baseline(*at_sizes)
    old, new = (
        _comparable(
            table.assign(gain=size_gains(table, known) if even else np.nan)[
                [*names, "value", "gain", "better"]
            ]
        )
        for table, known in zip((before, after), at_sizes or (before, after), strict=True)
    )
    both = old.merge(new, on=names, suffixes=("_old", "_new"))
    if metric is not None:
        both = both[both["metric"] == metric]
    one, other = (floats(both[f"value_{side}"]) for side in ("old", "new"))
    by_size = both["gain_new"] - both["gain_old"]
    gap = other - one - by_size.fillna(0.0)
    scale = pd.concat([one.abs(), other.abs()], axis=1).max(axis=1)
    sign = both["better_new"].map({"higher": -1.0, "lower": 1.0}).astype("float64")
    worse = (sign * gap / scale.where(scale > 0, 1.0)).mask(one.notna() & other.isna(), 1.0)
    worse = worse.mask(one.isna() & other.notna(), -1.0).fillna(0.0)
    table = both.assign(
        before=one,
        after=other,
        by_size=by_size,
        difference=gap,
        worse_by=worse,
        better=both["better_new"],
    )
    moved = (worse.abs() > 1e-12) | (by_size.abs() > 1e-12)
    return _ordered(table[moved], "worse_by", names)[VALUES]


def changed_entities(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The needed entities that only one of two runs had lost, by their tables `losses`, worst new
    losses first.

    A run records its thirty worst losses for each session, strategy and budget: an entity counts as
    mended when it is no longer among them.

    Returns:
        A row an entity with `change`: `lost` (new), `worse` (its name was there and is no longer),
            `better` or
        `mended`; all others as in `losses`, from the later run where it has them.
    """
    old, new = (
        _comparable(table[LOSS + DETAILS]).drop_duplicates(LOSS) for table in (before, after)
    )
    both = old.merge(new, on=LOSS, how="outer", suffixes=("_old", "_new"), indicator="side")
    gap = floats(both["weight_new"]).fillna(0.0) - floats(both["weight_old"]).fillna(0.0)
    lost, mended = both["side"] == "right_only", both["side"] == "left_only"
    both["change"] = (
        (gap > 0).map({True: "worse", False: "better"}).mask(lost, "lost").mask(mended, "mended")
    )
    for name in DETAILS:
        both[name] = both[f"{name}_new"].where(~mended, both[f"{name}_old"])
    return _ordered(both.assign(gap=gap)[gap.abs() > 1e-12], "gap", LOSS)[
        [*LOSS, "change", *DETAILS]
    ]


def _comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with 0 for the share of natural mode, so that those of two runs can be merged."""
    return rows.assign(share=floats(rows["share"]).fillna(0.0))


def _ordered(table: pd.DataFrame, by: str, names: list[str]) -> pd.DataFrame:
    order = table.sort_values([by, *names], ascending=[False, *(True for _ in names)])
    shares = order["share"].astype("Float64")
    return order.assign(share=shares.where(order["mode"] == "matched")).reset_index(drop=True)
