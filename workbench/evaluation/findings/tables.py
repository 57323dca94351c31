"""The tables of a run, and what is read off them: who is compared, over which sessions, with
which values. Pure.
"""

from __future__ import annotations

from functools import cached_property
from math import nan
from typing import NamedTuple

import pandas as pd

from workbench.base.errors import UnknownName
from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.equal_size import (
    METRICS,
    TRIED,
    CurveArea,
    curve_area,
    names_only,
    over_target,
)
from workbench.evaluation.analysis.marks import left_out, without
from workbench.evaluation.analysis.paired import Estimate, ratio
from workbench.evaluation.analysis.scores import plain, with_projects
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_notes import RunNotes
from workbench.evaluation.experiment.table_columns import COLUMNS
from workbench.evaluation.findings.look_ups import simulation_of, with_look_ups
from workbench.evaluation.findings.run_tables import MODES, RunTables
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


class Tables(RunTables):
    """The tables of a run, and what is read off them: who is compared, and with which means."""

    @classmethod
    def of(cls, run: Results, baseline: str = "") -> Tables:
        """Read all that a report shows; `baseline` is the strategy that the others are compared
        with.

        Raises:
            UnknownName: the run has no such strategy.
        """
        plain_tables = {name: plain(run.table(name)) for name in COLUMNS}
        notes = RunNotes.of(run.path)
        marks = notes.marks
        losses = plain_tables["losses"]
        is_left_out = left_out(losses, marks)
        marked = losses[is_left_out]
        if len(marked):
            figured_losses = losses[~is_left_out]
            plain_tables["losses"] = figured_losses.reset_index(drop=True)
            retention = plain_tables["retention"]
            plain_tables["retention"] = without(retention, marked)
        simulated = simulation_of(run.path, plain_tables["costs"])
        plain_tables["costs"] = with_look_ups(plain_tables["costs"], simulated)
        tables = cls(run.manifest, plain_tables, baseline, marks, marked, simulated)
        by = str(tables.settings.get("group_by", "project"))
        tables = tables.changed(scores=with_projects(tables.scores, tables.sessions, by))
        if baseline and baseline not in tables.strategies:
            raise UnknownName("strategy of this run", baseline, tables.strategies)
        return tables

    def with_marked_losses(self) -> Tables:
        """The run with those losses too that are left out since a person marked them so."""
        if self.marked is None or self.marked.empty:
            return self
        losses = pd.concat([self.losses, self.marked], ignore_index=True)
        return self.changed(losses=losses)

    @cached_property
    def strategies(self) -> tuple[str, ...]:
        """All strategies of the run: contenders by recall, best first, then the references.

        Contenders that cannot reach the common size come last.
        """
        names = set(self.replays["strategy"]) | set(self.scores["strategy"])
        out = self.unranked()
        means: dict[str, float] = {}
        for name in names - out.keys():
            recall = self.best_recall(name)
            if recall:
                means[name] = recall.mean
        contenders = sorted(
            names - set(REFERENCES), key=lambda name: (-means.get(name, -1.0), name)
        )
        references = [name for name in REFERENCES if name in names]
        return (*contenders, *references)

    @property
    def contenders(self) -> tuple[str, ...]:
        """The strategies that are no reference, best first."""
        return tuple(name for name in self.strategies if name not in REFERENCES)

    def half_of_headline(
        self, values: pd.Series[float], strategy: str, metric: str, mode: str
    ) -> Estimate | None:
        """The mean of one value of the work or of names a session, with its interval over projects.

        The interval of the work holds the fitted reader's own error on projects that it was not
        fitted to.
        """
        half = self.mean_over_projects(values, highest=1)
        left_out = shipped_reader().left_out
        if half is None or half.low is None or metric != WORK or left_out is None:
            return half
        kind, rule_share = self.text_kind(strategy, mode), self.rule_share(strategy, mode)
        projects = self.projects_by_session(values.index)
        by_project = values.groupby(projects).mean()
        contexts = [
            PredictedContext(str(project), kind, mean, rule_share)
            for project, mean in by_project.items()
        ]
        interval = left_out.errors.score(contexts)
        return Estimate(half.mean, half.n, half.projects, interval.low, interval.high)

    def equal_size(
        self, strategy: str, share: float | None = None, metric: str = ""
    ) -> Estimate | None:
        """A half of the headline, by default the leading one, when all are cut to the same size;
        or over all shares.
        """
        metric = metric or self.leading("matched")
        values = self.values(metric, strategy, "matched", share)
        return self.half_of_headline(values, strategy, metric, "matched")

    def used(self, strategy: str, share: float) -> float | None:
        """The size that a strategy really used where a share was asked for, as a share of the
        history: a mean.
        """
        inside = self.values(self.leading("matched"), strategy, "matched", share).index
        sizes = self.values(USED, strategy, "matched", share)
        mean = self.mean_over_projects(sizes[sizes.index.isin(inside)])
        return None if mean is None else mean.mean

    @cached_property
    def _curves(self) -> dict[str, dict[str, Curve]]:
        """By number of the headline and strategy: the sizes really used, and what it still tells
        there.
        """
        curves: dict[str, dict[str, Curve]] = {}
        strategies = set(self.replays["strategy"])
        for half in HALVES:
            curves[half] = {name: self._curve(name, half) for name in strategies}
        return curves

    def _curve(self, strategy: str, half: str) -> Curve:
        curve = Curve([], [])
        for share in self.shares:
            size = self.used(strategy, share)
            recall = self.equal_size(strategy, share, half)
            if size is not None and recall is not None:
                curve.sizes.append(size)
                curve.values.append(recall.mean)
        return curve

    @cached_property
    def curve_range(self) -> tuple[float, float] | None:
        """The sizes between 5 and 30 % of the history that the curves of all ranked strategies
        span; None if narrow.
        """
        out = {*self.unranked(), *REFERENCES}
        starts, ends = [], []
        for name, curve in self._curves[self.leading("matched")].items():
            if name in out:
                continue
            area = curve_area(*curve)
            if area is None:
                return None
            starts.append(area.start)
            ends.append(area.end)
        if not starts or min(ends) - max(starts) < NARROW:
            return None
        return max(starts), min(ends)

    def area(self, strategy: str, metric: str = "") -> CurveArea | None:
        """The mean height of a strategy's curve over the sizes that all curves span."""
        curve = self._curves[metric or self.leading("matched")].get(strategy)
        if curve is None or self.curve_range is None:
            return None
        return curve_area(*curve, *self.curve_range)

    @property
    def too_small(self) -> dict[float, tuple[int, int]]:
        """By share, the boundaries in no figure, since what must stay is larger: how many, and
        of how many.
        """
        rows = self.boundaries[self.boundaries["mode"] == "matched"]
        counts: dict[float, tuple[int, int]] = {}
        for share, boundaries in rows.groupby("share"):
            left_out = int(boundaries["left_out"].sum())
            if left_out:
                counts[float(share)] = (left_out, len(boundaries))
        return counts

    def at_sizes(self, strategy: str, metric: str) -> Estimate | None:
        """Any metric of a strategy when all are cut to the same size, over all shares."""
        return self.mean_over_projects(self.values(metric, strategy, "matched"))

    def own_trigger(self, strategy: str, metric: str = "") -> Estimate | None:
        """A metric, by default the leading half of the headline, of a strategy that compacts on
        its own trigger.
        """
        metric = metric or self.leading("natural")
        values = self.values(metric, strategy)
        if metric in HALVES:
            return self.half_of_headline(values, strategy, metric, "natural")
        return self.mean_over_projects(values)

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

    def net_saving(self, strategy: str) -> Estimate | None:
        """Savings as a share of the uncompacted bill of all sessions: a ratio of sums, below 0
        where it costs more.
        """
        costs = self.costs[self.costs["strategy"] == strategy]
        costs = costs[costs["usd_uncompacted"] > 0]
        savings, bills = costs["net_saving"].tolist(), costs["usd_uncompacted"].tolist()
        projects = self.projects_by_session(costs["session"])
        return ratio(savings, bills, projects, most=1.0)

    def cost_a_session(self, strategy: str) -> float | None:
        """The mean bill of a session in USD, with fetching again what was lost and needed; None
        without prices.
        """
        costs = self.costs[self.costs["strategy"] == strategy]
        mean_bill = (costs["usd"] + costs["usd_fetching"]).mean()
        return None if pd.isna(mean_bill) else float(mean_bill)

    @cached_property
    def names_only(self) -> dict[str, tuple[float, float]]:
        """The contenders that read like a list of names: presence and the exam's score at small
        size.
        """
        lists = {}
        for name in self.contenders:
            presence, exam = self._presence_and_exam(name)
            if names_only(presence, exam):
                lists[name] = presence, exam
        return lists

    def _presence_and_exam(self, strategy: str) -> tuple[float, float]:
        """The means of both at small sizes, over the sessions that have both; NaN without any."""
        smallest, largest = TRIED
        small_shares = [share for share in self.shares if smallest <= share <= largest]
        pairs = []
        for share in small_shares or self.shares[:1]:
            columns = [self.values(metric, strategy, "matched", share) for metric in METRICS]
            pairs.append(pd.concat(columns, axis=1).dropna())
        if not pairs:
            return nan, nan
        presence, exam = pd.concat(pairs).mean()
        return float(presence), float(exam)

    @property
    def over_window(self) -> dict[str, tuple[int, int]]:
        """The contenders that sent requests larger than the window: in how many sessions, and of
        how many.
        """
        counts = {}
        for name in self.contenders:
            shares = self.values("over_window", name)
            sessions_over = int((shares > 0).sum())
            if sessions_over:
                counts[name] = (sessions_over, len(shares))
        return counts

    @property
    def incomplete(self) -> dict[str, tuple[int, int]]:
        """The strategies with replays that are pending or failed: in how many sessions, and of
        how many.
        """
        is_lacking = self.replays["status"].ne("ok")
        lacks_any = is_lacking.groupby([self.replays["strategy"], self.replays["session"]]).any()
        sessions = lacks_any.groupby("strategy").agg(["sum", "count"])
        counts = {}
        for name, lacking, total in sessions[sessions["sum"] > 0].itertuples():
            counts[str(name)] = (int(lacking), int(total))
        return counts

    def over_target(self, share: float | None = None) -> dict[str, tuple[int, int]]:
        """The strategies that stay larger than a share, or than any: in how many sessions, and of
        how many.

        Sessions in which too little is needed later for a score count in neither.
        """
        reaches = over_target(self._at_size(self.leading("matched"), share))
        return {name: (len(reach.inside), reach.of) for name, reach in reaches.items()}

    def unranked(self, share: float | None = None) -> dict[str, tuple[int, int]]:
        """Those of `over_target` in too many sessions for a mean that compares with the others'."""
        reaches = over_target(self._at_size(self.leading("matched"), share))
        counts = {}
        for name, reach in reaches.items():
            if not reach.compared:
                counts[name] = (len(reach.inside), reach.of)
        return counts

    @property
    def left_out(self) -> set[str]:
        """The sessions in which a ranked strategy stays larger than a share: no mean at equal
        size counts them.
        """
        sessions: set[str] = set()
        for reach in over_target(self._at_size(self.leading("matched"), None)).values():
            if reach.compared:
                sessions |= reach.inside
        return sessions

    @property
    def not_shared(self) -> list[str]:
        """The sessions that a mean leaves out, since one of the compared strategies has no figure
        there; without those that are `left_out`.
        """
        not_shared: set[str] = set()
        for mode in MODES:
            metric = self.leading(mode)
            rows = self.select(metric, mode)
            is_scored = rows["value"].notna() & rows["strategy"].isin(self.contenders)
            sessions = set(map(str, rows.loc[is_scored, "session"]))
            for name in self.contenders:
                shared_sessions = map(str, self.values(metric, name, mode).index)
                sessions.difference_update(shared_sessions)
            not_shared |= sessions
        return sorted(not_shared - self.left_out)
