"""The tables of a run, and what is read off them: who is compared, over which sessions, with
which values. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nan
from typing import Any, NamedTuple

import pandas as pd

from workbench.base.errors import UnknownName
from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.equal_size import (
    METRICS,
    TRIED,
    CurveArea,
    curve_area,
    evenly,
    names_only,
    over_target,
)
from workbench.evaluation.analysis.paired import Estimate, estimate, ratio
from workbench.evaluation.analysis.scores import (
    leading_metric,
    plain,
    projects_of,
    size_gains,
    with_projects,
)
from workbench.evaluation.analysis.summary_writers import SummaryWriters
from workbench.evaluation.experiment.spec import chosen_baseline
from workbench.evaluation.experiment.store import COLUMNS, Results
from workbench.evaluation.metrics import HALVES, NAMES, WORK
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.reader_error import ForetoldContext, TextKind

USED = "tokens_kept"
"""The metric of the size that a strategy really used, as a share of the history."""
NARROW = 0.05
"""The least part of the history that the curves of all strategies must span for an area of each."""
SAVED = "tokens_saved"
"""The metric of tokens that a strategy saves on its own trigger."""


class Curve(NamedTuple):
    """What a strategy still tells at the sizes that it really used, as shares of the history."""

    sizes: list[float]
    values: list[float]


@dataclass(frozen=True)
class Tables:
    """The tables of a run as attributes, with plain columns: missing numbers are NaN, missing
    words are empty.
    """

    manifest: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    named_baseline: str = ""

    def __getattr__(self, name: str) -> pd.DataFrame:
        """A table as an attribute."""
        if name not in COLUMNS:
            raise AttributeError(f"a run has no table {name!r}; it has {', '.join(COLUMNS)}")
        return self.tables[name]

    @classmethod
    def of(cls, run: Results, baseline: str = "") -> Tables:
        """Read all that a report shows; `baseline` is the strategy that the others are compared
        with.

        Raises:
            UnknownName: the run has no such strategy.
        """
        tables = cls(run.manifest, {name: plain(run.table(name)) for name in COLUMNS}, baseline)
        by = str(tables.settings.get("group_by", "project"))
        tables = tables.changed(scores=with_projects(tables.scores, tables.sessions, by))
        if baseline and baseline not in tables.strategies:
            raise UnknownName("strategy of this run", baseline, tables.strategies)
        return tables

    def changed(self, **tables: pd.DataFrame) -> Tables:
        """The same run with other tables in the place of these."""
        return replace(self, tables={**self.tables, **tables})

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that the run was made with; none where its manifest has none."""
        return self.manifest.get("settings") or {}

    @property
    def replayed(self) -> pd.DataFrame:
        """The sessions that could be read."""
        return self.sessions[self.sessions["status"] == "ok"]

    @property
    def unreadable(self) -> pd.DataFrame:
        """The files that could not be read, with the reason."""
        return self.sessions[self.sessions["status"] != "ok"]

    @cached_property
    def strategies(self) -> tuple[str, ...]:
        """All strategies of the run: contenders by recall, best first, then the references.

        Contenders that cannot reach the common size come last.
        """
        names = list(dict.fromkeys([*self.replays["strategy"], *self.scores["strategy"]]))
        out = self.unranked()
        recall = {
            name: estimated.mean
            for name in names
            if name not in out and (estimated := self.best_recall(name))
        }
        contenders = sorted(
            (n for n in names if n not in REFERENCES),
            key=lambda name: (-recall.get(name, -1.0), name),
        )
        return (*contenders, *(name for name in REFERENCES if name in names))

    @property
    def contenders(self) -> tuple[str, ...]:
        """The strategies that are no reference, best first."""
        return tuple(name for name in self.strategies if name not in REFERENCES)

    @property
    def baseline(self) -> str | None:
        """What the others are compared with: as named here or for the run; else as
        `chosen_baseline` has it.

        It does not depend on the figures. None where there are not two contenders.
        """
        if self.named_baseline:
            return self.named_baseline
        listed, names = (
            list(self.settings.get("strategies") or ()),
            list(dict.fromkeys(self.replays["strategy"])),
        )
        names.sort(key=lambda name: listed.index(name) if name in listed else len(listed))
        return chosen_baseline(
            str(self.settings.get("baseline") or ""), names or sorted(set(self.scores["strategy"]))
        )

    @cached_property
    def at_used_sizes(self) -> pd.DataFrame:
        """The table `baseline_at_sizes` where it is of the baseline; empty where another one was
        named since.

        In a sweep each window and model has its own baseline beside that of the run.
        """
        table = self.baseline_at_sizes
        return table if self.baseline in set(table["baseline"]) else table.iloc[:0]

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The budgets of matched mode at which anything was scored, as shares of the history,
        smallest first.
        """
        is_half = self.scores["metric"].isin(list(HALVES))
        scored = (self.scores["mode"] == "matched") & is_half & self.scores["value"].notna()
        scored_shares = self.scores.loc[scored, "share"].dropna().unique()
        return tuple(sorted(float(share) for share in scored_shares))

    def leading(self, mode: str) -> str:
        """The number that strategies are ranked by: the work, where at least half of the scored
        sessions have it.
        """
        return self._leading_in[mode]

    @cached_property
    def _leading_in(self) -> dict[str, str]:
        """That number in each mode."""
        return {mode: leading_metric(self.scores, mode=mode) for mode in ("natural", "matched")}

    @property
    def first_half(self) -> str:
        """The number that the answer is about: at equal size where the run has it, else on the
        strategies' trigger.
        """
        return self.leading("matched" if self.shares else "natural")

    @cached_property
    def sessions_with_work(self) -> frozenset[str]:
        """The sessions in which the work has a value for any strategy."""
        rows = self.scores[(self.scores["metric"] == WORK) & self.scores["value"].notna()]
        return frozenset(map(str, rows["session"]))

    @property
    def has_work(self) -> bool:
        """Whether the work was read in any session."""
        return bool(self.sessions_with_work)

    @cached_property
    def halves(self) -> tuple[str, ...]:
        """The numbers of the headline that any session has, in their order; names always."""
        with_value = set(self.scores.loc[self.scores["value"].notna(), "metric"])
        return tuple(half for half in HALVES if half == NAMES or half in with_value)

    def select(
        self, metric: str, mode: str = "natural", share: float | None = None
    ) -> pd.DataFrame:
        """The scores of one metric in one mode; of all shares where none is named."""
        rows = self.scores[(self.scores["metric"] == metric) & (self.scores["mode"] == mode)]
        return rows if share is None else rows[(rows["share"] - share).abs() < 1e-9]

    def values(
        self,
        metric: str,
        strategy: str,
        mode: str = "natural",
        share: float | None = None,
        of: str = "value",
    ) -> pd.Series[float]:
        """One metric of a strategy, one value a session; its mean over all shares where none is
        named.

        At equal size, both halves of the headline are from the same sessions for all ranked
        strategies, see `analysis.equal_size.evenly`.
        """
        place: tuple[str | float, ...] = (metric, mode, strategy)
        means = self._session_means[of]
        if share is not None:
            place = (metric, mode, share, strategy)
            means = self._session_means_by_share[of]
        if place not in means.index:
            return means.iloc[:0].droplevel(list(means.index.names[:-1]))
        return means.loc[place].dropna()

    @cached_property
    def _session_means(self) -> pd.DataFrame:
        """The mean of each metric over all shares, by mode, strategy and session."""
        halves = [evenly(self._at_size(half, None)) for half in HALVES]
        rows = pd.concat([self._not_halves_at_size, *halves])
        return rows.groupby(["metric", "mode", "strategy", "session"], sort=True)[
            ["value", "scaled"]
        ].mean()

    @cached_property
    def _session_means_by_share(self) -> pd.DataFrame:
        """The same at each share."""
        halves = [
            evenly(self._at_size(half, share)) for half in HALVES for share in self._asked_shares
        ]
        rows = pd.concat([self._not_halves_at_size, *halves])
        by = ["metric", "mode", "share", "strategy", "session"]
        return rows.groupby(by, sort=True)[["value", "scaled"]].mean()

    @property
    def _asked_shares(self) -> list[float]:
        """The budgets of matched mode, as shares of the history, scored or not."""
        return [float(share) for share in self.scores["share"].dropna().unique()]

    @property
    def _not_halves_at_size(self) -> pd.DataFrame:
        """The scores without the numbers of the headline at equal size, of which only some rows
        may be compared.
        """
        is_half = self.scores["metric"].isin(list(HALVES))
        return self.scores[~(is_half & (self.scores["mode"] == "matched"))]

    def _at_size(self, metric: str, share: float | None) -> pd.DataFrame:
        """A half of the headline at equal size, and the `reason` where there is none, in
        sessions that have a value.
        """
        all_shares, rows = self.select(metric, "matched"), self.select(metric, "matched", share)
        return rows[
            rows["session"].isin(all_shares.loc[all_shares["value"].notna(), "session"])
        ].assign(reason=rows["why"])

    @cached_property
    def projects(self) -> dict[str, str]:
        """The project of each session."""
        return projects_of(self.scores)

    def project(self, session: object) -> str:
        """The project of a session; the session itself where none is known."""
        return self.projects.get(str(session), str(session))

    def mean_over_projects(
        self, values: pd.Series[float], *, lowest: float = -inf, highest: float = inf
    ) -> Estimate | None:
        """The mean of one value a session, with its interval over projects."""
        return estimate(
            values.tolist(),
            [self.project(name) for name in values.index],
            least=lowest,
            most=highest,
        )

    @cached_property
    def writers(self) -> SummaryWriters:
        """Who wrote the summaries of each strategy."""
        return SummaryWriters(self.compactions)

    def text_kind(self, strategy: str, mode: str = "") -> TextKind:
        """Who made a strategy's contexts, in one mode or in all, see `SummaryWriters`."""
        return self.writers.text_kind(strategy, mode)

    def rule_share(self, strategy: str, mode: str = "") -> float:
        """The share of a strategy's summaries that a rule wrote, in one mode or in all, see
        `SummaryWriters`.
        """
        return self.writers.rule_share(strategy, mode)

    @property
    def summaries(self) -> pd.DataFrame:
        """The compactions that asked for summaries, with how many of them a rule wrote, see
        `SummaryWriters`.
        """
        return self.writers.summaries

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
        by_project = values.groupby([self.project(session) for session in values.index]).mean()
        contexts = [
            ForetoldContext(str(project), kind, mean, rule_share)
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
        return self.half_of_headline(
            self.values(metric, strategy, "matched", share), strategy, metric, "matched"
        )

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
        strategies = list(dict.fromkeys(self.replays["strategy"]))
        return {half: {name: self._curve(name, half) for name in strategies} for half in HALVES}

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
        curves = self._curves[self.leading("matched")]
        areas = [curve_area(*curve) for name, curve in curves.items() if name not in out]
        spans = [(area.start, area.end) for area in areas if area is not None]
        if not spans or len(spans) < len(areas):
            return None
        start, end = max(start for start, _ in spans), min(end for _, end in spans)
        return (start, end) if end - start >= NARROW else None

    def area(self, strategy: str, metric: str = "") -> CurveArea | None:
        """The mean height of a strategy's curve over the sizes that all curves span."""
        span, curve = (
            self.curve_range,
            self._curves[metric or self.leading("matched")].get(strategy),
        )
        return None if span is None or curve is None else curve_area(*curve, *span)

    @property
    def too_small(self) -> dict[float, tuple[int, int]]:
        """By share, the boundaries in no figure, since what must stay is larger: how many, and
        of how many.
        """
        rows = self.boundaries[self.boundaries["mode"] == "matched"]
        left_out_counts = {
            float(share): (int(share_rows["left_out"].sum()), len(share_rows))
            for share, share_rows in rows.groupby("share")
        }
        return {share: counts for share, counts in left_out_counts.items() if counts[0]}

    def at_sizes(self, strategy: str, metric: str) -> Estimate | None:
        """Any metric of a strategy when all are cut to the same size, over all shares."""
        return self.mean_over_projects(self.values(metric, strategy, "matched"))

    def own_trigger(self, strategy: str, metric: str = "") -> Estimate | None:
        """A metric, by default the leading half of the headline, of a strategy that compacts on
        its own trigger.
        """
        metric = metric or self.leading("natural")
        values = self.values(metric, strategy)
        is_half = metric in HALVES
        return (
            self.half_of_headline(values, strategy, metric, "natural")
            if is_half
            else self.mean_over_projects(values)
        )

    def best_recall(self, strategy: str, metric: str = "") -> Estimate | None:
        """A half of the headline; strategies are ordered by the leading one, which is the default.

        It is the area under the curve, else the value at one size, else on its own trigger. The
        value at one size is that at the sizes asked for, less what the baseline gains by the sizes
        really used; a contender that cannot be cut to one has none in a run that has sizes. The
        interval of an area is that of the mean over the sizes, moved.
        """
        metric = metric or self.first_half
        values = self._credited[metric].get(strategy, pd.Series(dtype=float)).dropna()
        mean_recall = self.half_of_headline(values, strategy, metric, "matched")
        area = self.area(strategy, metric)
        if mean_recall and area:
            shift = area.mean - mean_recall.mean
            ends = (
                None if end is None else min(end + shift, 1.0)
                for end in (mean_recall.low, mean_recall.high)
            )
            mean_recall = Estimate(area.mean, mean_recall.n, mean_recall.projects, *ends)
        may_use_own_trigger = not self.shares or strategy in REFERENCES
        return mean_recall or (self.own_trigger(strategy, metric) if may_use_own_trigger else None)

    @cached_property
    def _credited(self) -> dict[str, pd.DataFrame]:
        """By number of the headline: its values at the sizes asked for, by session and strategy.

        Each is less what the baseline gains by the size really used.
        """
        values = {}
        for half in HALVES:
            rows = evenly(self._at_size(half, None))
            if len(rows):
                rows = rows.assign(value=rows["value"] - size_gains(rows, self.at_used_sizes))
            values[half] = rows.pivot_table("value", "session", "strategy")
        return values

    def net_saving(self, strategy: str) -> Estimate | None:
        """Savings as a share of the uncompacted bill of all sessions: a ratio of sums, below 0
        where it costs more.
        """
        mine = self.costs[
            (self.costs["strategy"] == strategy) & (self.costs["usd_uncompacted"] > 0)
        ]
        projects = [self.project(name) for name in mine["session"]]
        return ratio(
            mine["net_saving"].tolist(), mine["usd_uncompacted"].tolist(), projects, most=1.0
        )

    def cost_a_session(self, strategy: str) -> float | None:
        """The mean bill of a session in USD, with fetching again what was lost and needed; None
        without prices.
        """
        mine = self.costs[self.costs["strategy"] == strategy]
        mean_bill = (mine["usd"] + mine["usd_fetching"]).mean()
        return None if pd.isna(mean_bill) else float(mean_bill)

    @cached_property
    def names_only(self) -> dict[str, tuple[float, float]]:
        """The contenders that read like a list of names: presence and the exam's score at small
        size.
        """
        small = [share for share in self.shares if TRIED[0] <= share <= TRIED[1]] or self.shares[:1]
        lists = {}
        for name in self.contenders:
            pairs = [
                [self.values(metric, name, "matched", share) for metric in METRICS]
                for share in small
            ]
            complete_pairs = [pd.concat(pair, axis=1).dropna() for pair in pairs]
            presence, exam = pd.concat(complete_pairs).mean() if complete_pairs else (nan, nan)
            if names_only(presence, exam):
                lists[name] = float(presence), float(exam)
        return lists

    @property
    def over_window(self) -> dict[str, tuple[int, int]]:
        """The contenders that sent requests larger than the window: in how many sessions, and of
        how many.
        """
        shares = {name: self.values("over_window", name) for name in self.contenders}
        return {
            name: (int((share > 0).sum()), len(share))
            for name, share in shares.items()
            if (share > 0).any()
        }

    @property
    def incomplete(self) -> dict[str, tuple[int, int]]:
        """The strategies with replays that are pending or failed: in how many sessions, and of
        how many.
        """
        lacking = (
            self.replays.set_index(["strategy", "session"])["status"]
            .ne("ok")
            .groupby(level=[0, 1])
            .any()
        )
        counts = lacking.groupby("strategy").agg(["sum", "count"])
        return {str(name): (int(n), int(total)) for name, n, total in counts.itertuples() if n}

    def over_target(self, share: float | None = None) -> dict[str, tuple[int, int]]:
        """The strategies that stay larger than a share, or than any: in how many sessions, and of
        how many.

        Sessions in which too little is needed later for a score count in neither.
        """
        reach_by_strategy = over_target(self._at_size(self.leading("matched"), share))
        return {name: (len(reach.inside), reach.of) for name, reach in reach_by_strategy.items()}

    def unranked(self, share: float | None = None) -> dict[str, tuple[int, int]]:
        """Those of `over_target` in too many sessions for a mean that compares with the others'."""
        reach_by_strategy = over_target(self._at_size(self.leading("matched"), share))
        return {
            name: (len(reach.inside), reach.of)
            for name, reach in reach_by_strategy.items()
            if not reach.compared
        }

    @property
    def left_out(self) -> set[str]:
        """The sessions in which a ranked strategy stays larger than a share: no mean at equal
        size counts them.
        """
        reaches = over_target(self._at_size(self.leading("matched"), None)).values()
        return {session for reach in reaches if reach.compared for session in reach.inside}
