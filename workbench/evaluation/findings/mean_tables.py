"""What a strategy of a run tells on average: at equal size, at the sizes that it really used, and on
its own trigger. Pure.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.equal_size import CurveArea, curve_area
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.findings.sized_tables import SizedTables
from workbench.evaluation.metrics import HALVES, WORK
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.reader_error import PredictedContext

USED = "tokens_kept"
"""The metric of the size that a strategy really used, as a share of the history."""
NARROW = 0.05
"""The least part of the history that the curves of all strategies must span for an area of each."""


class Curve(NamedTuple):
    """What a strategy still tells at the sizes that it really used, as shares of the history."""

    sizes: list[float]
    values: list[float]


class MeanTables(SizedTables):
    """The tables of a run, and the means of each strategy with their intervals."""

    def best_recall(self, strategy: str, metric: str = "") -> Estimate | None:
        """A half of the headline; strategies are ordered by the leading one, which is the default.

        At the same size, see `analysis.one_basis`, in a run that has sizes; else on its own
        trigger. A contender that cannot be cut to a size has none in a run that has sizes.
        """
        metric = metric or self.first_half
        values = self.values(metric, strategy, "matched")
        if len(values):
            return self.half_of_headline(values, strategy, metric, "matched")
        if self.shares and strategy not in REFERENCES:
            return None
        return self.own_trigger(strategy, metric)

    def same_size_values(self, strategy: str) -> pd.Series[float]:
        """By session what stands behind `best_recall`."""
        return self.values(self.first_half, strategy, self.main_mode)

    def equal_size(
        self,
        strategy: str,
        share: float | None = None,
        metric: str = "",
    ) -> Estimate | None:
        """A half of the headline, by default the leading one, when all are cut to the same size;
        or over all shares.
        """
        metric = metric or self.leading("matched")
        values = self.values(metric, strategy, "matched", share)
        return self.half_of_headline(values, strategy, metric, "matched")

    def at_sizes(self, strategy: str, metric: str) -> Estimate | None:
        """Any metric of a strategy when all are cut to the same size, over all shares."""
        values = self.values(metric, strategy, "matched")
        return self.mean_over_projects(values)

    def own_trigger(self, strategy: str, metric: str = "") -> Estimate | None:
        """A metric, by default the leading half of the headline, of a strategy that compacts on
        its own trigger.
        """
        metric = metric or self.leading("natural")
        values = self.values(metric, strategy)
        if metric in HALVES:
            return self.half_of_headline(values, strategy, metric, "natural")
        return self.mean_over_projects(values)

    def half_of_headline(
        self,
        values: pd.Series[float],
        strategy: str,
        metric: str,
        mode: str,
    ) -> Estimate | None:
        """The mean of one value of the work or of names a session, with its interval over projects.

        The interval of the work holds the fitted reader's own error on projects that it was not
        fitted to.
        """
        half = self.mean_over_projects(values, highest=1)
        left_out = shipped_reader().left_out
        if half is None or half.low is None or metric != WORK or left_out is None:
            return half
        contexts = self._predicted_contexts(values, strategy, mode)
        interval = left_out.errors.score(contexts)
        return Estimate(
            half.mean,
            half.n,
            half.projects,
            interval.low,
            interval.high,
        )

    def _predicted_contexts(
        self,
        values: pd.Series[float],
        strategy: str,
        mode: str,
    ) -> list[PredictedContext]:
        """The contexts of a strategy as the fitted reader's errors take them, one a project."""
        kind = self.text_kind(strategy, mode)
        rule_share = self.rule_share(strategy, mode)
        projects = self.projects_by_session(values.index)
        by_project = values.groupby(projects).mean()
        contexts = []
        for project, mean in by_project.items():
            contexts.append(PredictedContext(str(project), kind, mean, rule_share))
        return contexts

    def used(self, strategy: str, share: float) -> float | None:
        """The size that a strategy really used where a share was asked for, as a share of the
        history: a mean.
        """
        metric = self.leading("matched")
        scored_sessions = self.values(metric, strategy, "matched", share).index
        sizes = self.values(USED, strategy, "matched", share)
        is_scored = sizes.index.isin(scored_sessions)
        mean = self.mean_over_projects(sizes[is_scored])
        if mean is None:
            return None
        return mean.mean

    def area(self, strategy: str, metric: str = "") -> CurveArea | None:
        """The mean height of a strategy's curve over the sizes that all curves span."""
        metric = metric or self.leading("matched")
        curve = self._curves[metric].get(strategy)
        if curve is None or self.curve_range is None:
            return None
        return curve_area(*curve, *self.curve_range)

    @cached_property
    def curve_range(self) -> tuple[float, float] | None:
        """The sizes between 5 and 30 % of the history that the curves of all ranked strategies
        span; None if narrow.
        """
        not_ranked = {*self.unranked(), *REFERENCES}
        curves = self._curves[self.leading("matched")]
        starts: list[float] = []
        ends: list[float] = []
        for name, curve in curves.items():
            if name in not_ranked:
                continue
            area = curve_area(*curve)
            if area is None:
                return None
            starts.append(area.start)
            ends.append(area.end)
        if not starts:
            return None
        start = max(starts)
        end = min(ends)
        if end - start < NARROW:
            return None
        return start, end

    @cached_property
    def _curves(self) -> dict[str, dict[str, Curve]]:
        """By number of the headline and strategy: the sizes really used, and what it still tells
        there.
        """
        strategies = set(self.replays["strategy"])
        by_half: dict[str, dict[str, Curve]] = {}
        for half in HALVES:
            by_half[half] = {name: self._curve(name, half) for name in strategies}
        return by_half

    def _curve(self, strategy: str, half: str) -> Curve:
        curve = Curve([], [])
        for share in self.shares:
            values = self.values(half, strategy, "matched", share)
            recall = self.mean_over_projects(values)
            if recall is None:
                continue
            size = self.used(strategy, share)
            if size is not None:
                curve.sizes.append(size)
                curve.values.append(recall.mean)
        return curve
