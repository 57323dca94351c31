"""One metric of all strategies against a baseline, from the `scores` table of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.base.errors import UnknownName
from workbench.base.palette import REFERENCES
from workbench.base.ragged import Floats
from workbench.evaluation.analysis.one_basis import on_one_basis
from workbench.evaluation.analysis.paired import (
    by_project,
    holm,
    interval,
    paired_differences,
    sign_flip,
)
from workbench.evaluation.analysis.power import minimum_detectable, reporting_floor, sessions_needed
from workbench.evaluation.analysis.scores import (
    by_session,
    direction,
    projects_of,
    select,
    shared,
)

ALPHA = 0.05
"""Of the family of tests, two-sided; intervals are of confidence 1 - ALPHA."""
WORTH = 0.05
"""The difference worth detecting, in the metric's unit, for which `would_do` plans."""
COLUMNS = (
    "strategy",
    "reference",
    "sessions",
    "projects",
    "dropped",
    "mean",
    "baseline",
    "difference",
    "low",
    "high",
    "ahead",
    "behind",
    "tied",
    "p",
    "p_holm",
    "verdict",
    "detectable",
    "would_do",
    "why",
)
"""Of `compare_table`, see there."""

Row: TypeAlias = dict[str, Any]
Pair: TypeAlias = tuple[str, str]
Sides: TypeAlias = Mapping[Pair, int]
"""By pair of strategies: 1 where the first one is ahead, -1 where the second is, 0 for neither."""


def compare_table(
    scores: pd.DataFrame,
    metric: str,
    baseline: str,
    mode: str = "natural",
    at_sizes: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compare every strategy with a baseline on the sessions that both have a value for.

    Args:
        scores: the table of that name of a run, see docs/reference/tables.md.
        metric: one of its metrics.
        baseline: a strategy of the table.
        mode: `natural` or `matched`; there a session's value is its mean over the shares that both
            have.
        at_sizes: the table `baseline_at_sizes` of the run, with one baseline; with it all are
            compared in matched mode at one size, see `one_basis`.

    Returns:
        A row a strategy, best difference first and references last, with `COLUMNS`: see
        `differences` in docs/reference/tables.md. A session that lacks one of the two values is
        `dropped`, never zero. A reference is tested, but no member of the family of `p_holm`. `low`
        and `high` are missing below the reporting floor and where all differences are equal. The
        verdict is `better` or `worse` where `p_holm` (of a reference: `p`) is at most 0.05 and the
        interval leaves out 0. `detectable` is the difference that so many projects would have shown
        four times in five, `would_do` the projects that would show one of `WORTH`; `why` says why
        something is missing.

    Raises:
        UnknownName: the table has no such metric or baseline; the message names those that it has.
    """
    test = _PairedTest(scores, metric, baseline, mode, at_sizes)
    contenders: list[str] = []
    rows: dict[str, Row] = {}
    for name in test.strategies:
        if name != baseline and name not in REFERENCES:
            contenders.append(name)
    for name in test.strategies:
        if name == baseline:
            continue
        family_size = 1
        if name in contenders:
            family_size = len(contenders)
        rows[name] = test.row(name, baseline, family_size)
    rows_of_contenders = [rows[name] for name in contenders]
    _adjust(rows_of_contenders, [])
    return test.table(rows, largest_first=True)


def lead_table(
    scores: pd.DataFrame,
    metric: str,
    first: str,
    mode: str = "natural",
    at_sizes: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compare the strategy that came out first with every other contender, as it was picked by
    these scores.

    Picking the winner means looking at all pairs, so Holm's family is all pairs of contenders, and
    the reporting floor counts them all: two equal strategies are then found to differ in 5 % of
    runs at most. In matched mode, with the table `baseline_at_sizes`, it is the gains over the
    baseline at each one's own size that are compared.

    Returns:
        The columns of `compare_table`, a row a rival: `strategy` is the rival, `mean` is that of
        `first`, `baseline` that of the rival, and `difference` is positive where `first` is higher.
        The smallest difference comes first.

    Raises:
        UnknownName: as of `compare_table`.
    """
    test = _PairedTest(scores, metric, first, mode, at_sizes)
    rivals = [name for name in test.contenders if name != first]
    pairs_of_rivals = list(combinations(rivals, 2))
    family_size = len(rivals) + len(pairs_of_rivals)
    rows: dict[str, Row] = {}
    for name in rivals:
        rows[name] = test.row(first, name, family_size)
    ps_of_pairs: list[float | None] = []
    for strategy, rival in pairs_of_rivals:
        gaps = test.gaps(strategy, rival)
        ps_of_pairs.append(_p(gaps))
    _adjust(list(rows.values()), ps_of_pairs)
    return test.table(rows, largest_first=False)


def sides(
    scores: pd.DataFrame, metric: str, mode: str = "natural", at_sizes: pd.DataFrame | None = None
) -> dict[Pair, int]:
    """Which of two contenders the paired 95 % interval of a metric puts ahead; no correction for
    several pairs.

    With `at_sizes` it is the gains over the baseline at each one's own size that are compared, as
    in `lead_table`.

    Returns:
        By pair (each in one order): 1 for the first one, -1 for the second, 0 for neither. Pairs
        with too few projects for an interval, or without a difference, are left out. Of an empty
        table, none.

    Raises:
        UnknownName: the table has no such metric.
    """
    if scores.empty:
        return {}
    projects = projects_of(select(scores, metric, mode))
    if len(set(projects.values())) < reporting_floor():
        return {}
    some_strategy = str(scores["strategy"].iloc[0])
    test = _PairedTest(scores, metric, some_strategy, mode, at_sizes)
    sides: dict[Pair, int] = {}
    for strategy, rival in combinations(test.contenders, 2):
        gaps = test.gaps(strategy, rival)
        gains = gaps * test.sign
        if len(gains) < reporting_floor() or not gains.std() > 0:
            continue
        low, high = interval(gains, 1 - ALPHA)
        side = 0
        if low > 0:
            side = 1
        elif high < 0:
            side = -1
        sides[strategy, rival] = side
    return sides


def _adjust(rows: Sequence[Row], other_ps: Sequence[float | None]) -> None:
    """Write down the adjusted p of some rows, in a family with other tests."""
    ps = [row.get("p") for row in rows]
    adjusted = holm([*ps, *other_ps])
    for row, p in zip(rows, adjusted, strict=False):
        row["p_holm"] = p


def _p(gaps: Floats) -> float | None:
    """Of the sign-flip test; None where so few projects could not show anything."""
    if len(gaps) < reporting_floor():
        return None
    return float(sign_flip(gaps))


class _PairedTest:
    """Compares strategies in pairs on the sessions that both have a value for.

    Attributes:
        wide: the values that are paired, by session and share, see `one_basis`.
    """

    def __init__(
        self,
        scores: pd.DataFrame,
        metric: str,
        name: str,
        mode: str,
        at_sizes: pd.DataFrame | None = None,
    ) -> None:
        rows = select(scores, metric, mode)
        names = rows["strategy"].unique()
        self.strategies = list(map(str, names))
        if name not in self.strategies:
            raise UnknownName("strategy of this run", name, self.strategies)
        self.better = direction(rows)
        self.sign = 1 if self.better == "higher" else -1
        compared_rows = on_one_basis(rows, at_sizes)
        wide = by_session(compared_rows)
        self.wide = wide.astype(float)
        self.projects = projects_of(rows)

    @property
    def contenders(self) -> list[str]:
        """The strategies with a value, without references."""
        return [str(name) for name in self.wide.columns if name not in REFERENCES]

    def gaps(self, strategy: str, reference: str) -> Floats:
        """The mean difference of each project, over its sessions that have both values."""
        values = shared(self.wide, strategy, reference)
        differences = paired_differences(values[strategy], values[reference])
        return by_project(differences, self.projects)

    def row(self, strategy: str, reference: str, tests: int) -> Row:
        """What `compare_table` says of two strategies, in a family of so many tests."""
        values = shared(self.wide, strategy, reference)
        differences = paired_differences(values[strategy], values[reference])
        gaps = by_project(differences, self.projects)
        gains = differences * self.sign
        mean: float | None = None
        reference_mean: float | None = None
        if len(gaps):
            means = by_project(values[strategy], self.projects)
            mean = float(means.mean())
            reference_mean = mean - float(gaps.mean())
        is_ahead = gains > 0
        is_behind = gains < 0
        is_tied = gains == 0
        row = {
            "sessions": len(gains),
            "projects": len(gaps),
            "dropped": len(self.projects) - len(gains),
            "mean": mean,
            "baseline": reference_mean,
            "ahead": int(is_ahead.sum()),
            "behind": int(is_behind.sum()),
            "tied": int(is_tied.sum()),
        }
        return row | _findings(gaps, tests)

    def table(self, rows: dict[str, Row], *, largest_first: bool) -> pd.DataFrame:
        """The rows by strategy with their verdicts, references last, by gain."""
        full_rows: list[Row] = []
        for name, row in rows.items():
            is_reference = name in REFERENCES
            full_row = {"strategy": name, "reference": is_reference, **row}
            full_row["verdict"] = self._verdict(full_row)
            full_rows.append(full_row)
        table = pd.DataFrame(full_rows, columns=list(COLUMNS))
        gain = pd.to_numeric(table["difference"])
        is_ascending = (self.better == "higher") != largest_first
        if not is_ascending:
            gain = gain * -1
        table = table.assign(gain=gain)
        table = table.sort_values(["reference", "gain", "strategy"], na_position="last")
        table = table.drop(columns="gain")
        return table.reset_index(drop=True)

    def _verdict(self, row: Row) -> str:
        """Two keys: the test over the family, and an interval without 0."""
        reason = str(row.get("why", ""))
        if reason.startswith(("too few", "no session")):
            return "too few projects"
        p_column = "p" if row["reference"] else "p_holm"
        p = row.get(p_column)
        difference = row.get("difference")
        low = row.get("low")
        high = row.get("high")
        if p is None or p > ALPHA or difference is None:
            return "undecided"
        if low is not None and high is not None and low <= 0 <= high:
            return "undecided"
        is_higher = difference > 0
        if is_higher == (self.better == "higher"):
            return "better"
        return "worse"


def _findings(gaps: Floats, tests: int) -> Row:
    """What the differences show in a family of so many tests, as far as they are enough."""
    n = len(gaps)
    floor = reporting_floor(tests)
    if not n:
        reason = f"no session has both values; at least {floor} would do"
        return {"why": reason, "would_do": floor}
    alpha = ALPHA / tests
    findings: Row = {"difference": float(gaps.mean())}
    findings["p"] = _p(gaps)
    is_different = gaps != 0
    differing_count = int(is_different.sum())
    deviation = 0.0
    if n > 1:
        deviation = float(gaps.std(ddof=1))
    if differing_count and n > 1:
        needed = sessions_needed(WORTH, deviation, alpha)
        if needed is not None:
            needed = max(floor, needed)
        findings["would_do"] = needed
    if n < floor:
        comparisons = "comparisons" if tests > 1 else "comparison"
        findings["why"] = (
            f"too few projects: {n}, at least {floor} would do for {tests} {comparisons}"
        )
    if findings["p"] is None:
        return findings
    sizes = np.abs(gaps)
    if deviation <= 1e-12 * float(sizes.max()):
        findings["why"] = f"the difference is the same in all {n} projects, so there is no interval"
        return findings
    low, high = interval(gaps, 1 - ALPHA)
    findings["low"] = float(low)
    findings["high"] = float(high)
    findings["detectable"] = minimum_detectable(deviation, n, alpha)
    if differing_count < floor and "why" not in findings:
        findings["why"] = (
            f"only {differing_count} of {n} projects differ; at least {floor} that do would be"
            " needed"
        )
    return findings
