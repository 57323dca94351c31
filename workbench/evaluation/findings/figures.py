"""The figures of a run: every number and table that a reader is shown, each computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.equal_size import CurveArea
from workbench.evaluation.analysis.likely_best import LikelyBest
from workbench.evaluation.analysis.paired import Estimate, interval_columns
from workbench.evaluation.analysis.panel import Panel
from workbench.evaluation.analysis.table_rows import quick_texts, rows_with
from workbench.evaluation.findings import (
    authors,
    comparison,
    costs,
    prices,
    readers,
    summaries,
)
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import CODE, HALVES, NAMES, WORK
from workbench.evaluation.metrics.work_exam.text_kind import TextKind

PLAIN_MEANS = (
    "peak_context", "mean_context", "over_window", "compactions", "prefix_reuse", "fabrication", "violations",
)  # fmt: skip
"""Metrics of a strategy on its own trigger that are told as means."""
OWN_TRIGGER_METRICS = (*HALVES, SAVED, *PLAIN_MEANS)
"""All metrics that are told of a strategy on its own trigger."""
LEVELS = ("recall_bound", "recall_presence", "recall_coverage")
"""Levels of future-reference recall, at equal size."""


@dataclass(frozen=True, slots=True)
class StrategyFigures:
    """What one strategy keeps, saves and costs.

    Attributes:
        strategy: its name.
        is_reference: whether it is a reference, such as `none`.
        sessions: that it was replayed in.
        failed: replays that failed.
        pending: replays that wait for their model.
        same_size: by number of the headline, what it tells when all are cut to the same size; in a
            run without sizes what it tells on its own trigger.
        own_trigger: by metric, on its own trigger: the numbers of the headline, tokens saved, and
            `PLAIN_MEANS`.
        levels: by metric of `LEVELS`, at equal size.
        at_share: by share, the leading number of the headline where that share was asked for.
        used: by share, the share of the history that it really kept there.
        at_sizes: the leading number at equal size, over all shares.
        area: under the curve of the leading number.
        scaled: the leading number on its own trigger, from the floor to the ceiling.
        net_saving: the share of the bill of all sessions that it saves; None where it is unknown.
        usd_a_session: the mean bill of a session; None without prices.
    """

    strategy: str
    is_reference: bool
    sessions: int
    failed: int
    pending: int
    same_size: Mapping[str, Estimate | None]
    own_trigger: Mapping[str, Estimate | None]
    levels: Mapping[str, Estimate | None]
    at_share: Mapping[float, Estimate | None]
    used: Mapping[float, float | None]
    at_sizes: Estimate | None
    area: CurveArea | None
    scaled: Estimate | None
    net_saving: Estimate | None
    usd_a_session: float | None

    @classmethod
    def of(cls, run: Tables, strategy: str) -> StrategyFigures:
        """The figures of a strategy of a run."""
        replays = rows_with(run.replays, strategy=strategy)
        failed = rows_with(replays, status="failed")
        pending = rows_with(replays, status="pending")
        leading = run.leading("natural")
        scaled = run.values(leading, strategy, of="scaled")
        return cls(
            strategy=strategy,
            is_reference=strategy in REFERENCES,
            sessions=replays["session"].nunique(),
            failed=len(failed),
            pending=len(pending),
            same_size={half: run.best_recall(strategy, half) for half in HALVES},
            own_trigger={
                metric: run.own_trigger(strategy, metric) for metric in OWN_TRIGGER_METRICS
            },
            levels={metric: run.at_sizes(strategy, metric) for metric in LEVELS},
            at_share={share: run.equal_size(strategy, share) for share in run.shares},
            used={share: run.used(strategy, share) for share in run.shares},
            at_sizes=run.equal_size(strategy),
            area=run.area(strategy),
            scaled=run.mean_over_projects(scaled),
            net_saving=run.net_saving(strategy),
            usd_a_session=run.cost_a_session(strategy),
        )

    def row(self, leading: str) -> dict[str, object]:
        """The same as a row of the headline table; docs/reference/tables.md has its columns.

        Args:
            leading: the number of the headline that leads on the strategies' own triggers.
        """
        row: dict[str, object] = {
            "strategy": self.strategy,
            "reference": self.is_reference,
            "sessions": self.sessions,
            "failed": self.failed,
            "pending": self.pending,
        }
        row |= interval_columns("equal_size", self.at_sizes)
        row |= interval_columns("work", self.same_size[WORK])
        row |= interval_columns("names", self.same_size[NAMES])
        row |= interval_columns("code", self.same_size[CODE])
        row["area"], row["area_from"], row["area_to"] = self.area or (None, None, None)
        row |= interval_columns("recall", self.own_trigger[leading])
        row |= interval_columns("work_own", self.own_trigger[WORK])
        row |= interval_columns("names_own", self.own_trigger[NAMES])
        row |= interval_columns("code_own", self.own_trigger[CODE])
        row |= interval_columns("saved", self.own_trigger[SAVED])
        row["cost"] = self.usd_a_session
        row |= interval_columns("cost_saved", self.net_saving)
        row["scaled"] = mean_of(self.scaled)
        for metric, level in self.levels.items():
            row[metric.removeprefix("recall_")] = mean_of(level)
        for metric in HEADLINE_MEANS:
            row[metric] = mean_of(self.own_trigger[metric])
        return row


HEADLINE_MEANS = (
    "mean_context",
    "peak_context",
    "over_window",
    "compactions",
    "prefix_reuse",
    "fabrication",
)
"""Those of `PLAIN_MEANS` that the headline table has."""


def mean_of(estimate: Estimate | None) -> float | None:
    """The mean; None where there is no estimate."""
    return None if estimate is None else estimate.mean


@dataclass(frozen=True)
class Figures:
    """Every number and table that a reader of a run is shown; each is worked out once, when it is
    first asked for.

    Attributes:
        tables: the run.
    """

    tables: Tables

    @cached_property
    @quick_texts()
    def strategies(self) -> Mapping[str, StrategyFigures]:
        """The figures of each strategy, best first, references last."""
        return {name: StrategyFigures.of(self.tables, name) for name in self.tables.strategies}

    @cached_property
    @quick_texts()
    def headline(self) -> pd.DataFrame:
        """The same as a table."""
        leading = self.tables.leading("natural")
        rows = [figures.row(leading) for figures in self.strategies.values()]
        return pd.DataFrame(rows)

    @cached_property
    @quick_texts()
    def differences(self) -> Mapping[str, pd.DataFrame]:
        """By metric, every strategy against the baseline."""
        differences = {}
        for metric in (*self.tables.halves, SAVED):
            differences[metric] = comparison.differences(self.tables, metric)
        return differences

    @cached_property
    @quick_texts()
    def lead(self) -> pd.DataFrame | None:
        """The first of the ranked strategies against each other contender; None where none is
        ranked.
        """
        ranked = comparison.ranked(self.tables)
        if not ranked:
            return None
        return comparison.lead(self.tables, ranked[0])

    @cached_property
    @quick_texts()
    def panel(self) -> Panel | None:
        """What the panel of metrics says of the ranked strategies; None for fewer than two."""
        return comparison.panel_of(self.tables)

    @cached_property
    @quick_texts()
    def standings(self) -> pd.DataFrame:
        """The contenders on or behind the Pareto frontier."""
        return comparison.standings(self.tables)

    @cached_property
    @quick_texts()
    def by_size(self) -> pd.DataFrame:
        """The leading number of each strategy at each share."""
        return _by_size(self.strategies)

    @cached_property
    @quick_texts()
    def by_round(self) -> pd.DataFrame:
        """What outlives one compaction, two, ..."""
        return summaries.by_round(self.tables)

    @cached_property
    @quick_texts()
    def by_kind(self) -> pd.DataFrame:
        """What each strategy keeps of each kind of information."""
        return summaries.by_kind(self.tables)

    @cached_property
    @quick_texts()
    def by_session(self) -> pd.DataFrame:
        """What each strategy keeps in each session."""
        return summaries.by_session(self.tables)

    @cached_property
    @quick_texts()
    def points(self) -> pd.DataFrame:
        """Recall and tokens saved of each strategy, over the sessions that have both."""
        return summaries.points(self.tables)

    @cached_property
    @quick_texts()
    def recorded(self) -> pd.DataFrame:
        """What was kept at the recorded agents' own compactions."""
        return summaries.recorded(self.tables)

    @cached_property
    @quick_texts()
    def within_reach(self) -> pd.DataFrame:
        """What recall keeps within reach."""
        return costs.within_reach(self.tables)

    @cached_property
    @quick_texts()
    def bills(self) -> pd.DataFrame:
        """The bill of each strategy, by part."""
        return costs.bills(self.tables)

    @cached_property
    @quick_texts()
    def writers(self) -> pd.DataFrame:
        """Of each strategy that asked for summaries, who wrote them and how well."""
        return authors.writers(self.tables)

    @cached_property
    @quick_texts()
    def integrity(self) -> pd.DataFrame:
        """What the guard found, by contender."""
        return summaries.integrity(self.tables)

    @cached_property
    @quick_texts()
    def kinds(self) -> Mapping[str, TextKind]:
        """Who made the contexts of each contender."""
        return readers.kinds(self.tables)

    @cached_property
    @quick_texts()
    def summaries(self) -> authors.SummaryCounts:
        """Who wrote the summaries."""
        return authors.summary_counts(self.tables)

    @cached_property
    @quick_texts()
    def own_metrics(self) -> pd.DataFrame:
        """What each strategy has in metrics that are not built in."""
        return summaries.own_metrics(self.tables)

    @cached_property
    @quick_texts()
    def likely_best(self) -> Mapping[str, LikelyBest]:
        """By number of the headline, how likely each usable strategy is to be best on its own
        trigger at each price of a tenth of the bill; without those that nobody knows.
        """
        return prices.likely_best_by_half(self.tables)

    @cached_property
    @quick_texts()
    def likely_best_at_same_size(self) -> LikelyBest | None:
        """How likely each ranked strategy is to tell most at the same size; None where nobody
        knows.
        """
        return prices.likely_best_at_same_size(self.tables, comparison.ranked(self.tables))

    @property
    def bill_savings(self) -> dict[str, float]:
        """By contender the share of the bill that it saves; without those of which it is unknown,
        and empty where none changes the bill.
        """
        savings: dict[str, float] = {}
        for name in self.tables.contenders:
            saving = self.strategies[name].net_saving
            if saving is not None:
                savings[name] = saving.mean
        is_changed = any(savings.values())
        if not is_changed:
            savings.clear()
        return savings

    @property
    def against_baseline(self) -> pd.DataFrame:
        """The leading number of every strategy against the baseline."""
        return self.differences[self.tables.first_half]


def _by_size(strategies: Mapping[str, StrategyFigures]) -> pd.DataFrame:
    """The leading number of each strategy at each share: `strategy share used mean low high
    sessions`.
    """
    rows = []
    for name, figures in strategies.items():
        for share, estimate in figures.at_share.items():
            if estimate is None:
                continue
            row = {
                "strategy": name,
                "share": share,
                "used": figures.used[share],
                "mean": estimate.mean,
                "low": estimate.low,
                "high": estimate.high,
                "sessions": estimate.n,
            }
            rows.append(row)
    columns = [
        "strategy",
        "share",
        "used",
        "mean",
        "low",
        "high",
        "sessions",
    ]
    return pd.DataFrame(rows, columns=columns)
