"""The tables of a run, and what is read off them: who is compared, over which sessions, with
which values. Pure.
"""

from __future__ import annotations

from functools import cached_property
from math import nan

import pandas as pd

from workbench.base.errors import UnknownName
from workbench.base.palette import REFERENCES
from workbench.base.typed_value import check_instance
from workbench.evaluation.analysis.equal_size import METRICS, TRIED, names_only
from workbench.evaluation.analysis.marks import left_out, without
from workbench.evaluation.analysis.paired import Estimate, ratio
from workbench.evaluation.analysis.scores import plain, with_projects
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_notes import RunNotes
from workbench.evaluation.experiment.table_columns import COLUMNS
from workbench.evaluation.findings.look_ups import simulation_of, with_look_ups
from workbench.evaluation.findings.mean_tables import MeanTables
from workbench.evaluation.findings.run_tables import MODES
from workbench.evaluation.findings.sized_tables import PartOf


class Tables(MeanTables):
    """The tables of a run, and what is read off them: who is compared, and with which means."""

    @classmethod
    def of(cls, run: Results, baseline: str = "") -> Tables:
        """Read all that a report shows; `baseline` is the strategy that the others are compared
        with.

        Raises:
            SettingError: `run` is no run.
            UnknownName: the run has no such strategy.
        """
        check_instance("the run", run, Results, "a run, as wb.compare or wb.Results.open gives it,")
        plain_tables: dict[str, pd.DataFrame] = {}
        for name in COLUMNS:
            table = run.table(name)
            plain_tables[name] = plain(table)
        marks = RunNotes.of(run.path).standing
        losses = plain_tables["losses"]
        is_left_out = left_out(losses, marks)
        marked = losses[is_left_out]
        if len(marked):
            figured_losses = losses[~is_left_out]
            plain_tables["losses"] = figured_losses.reset_index(drop=True)
            plain_tables["retention"] = without(plain_tables["retention"], marked)
        costs = plain_tables["costs"]
        simulated = simulation_of(run.path, costs)
        plain_tables["costs"] = with_look_ups(costs, simulated)
        tables = cls(
            manifest=run.manifest,
            tables=plain_tables,
            named_baseline=baseline,
            marks=marks,
            marked=marked,
            simulated=simulated,
        )
        group_by = tables.settings.get("group_by", "project")
        scores = with_projects(tables.scores, tables.sessions, str(group_by))
        tables = tables.changed(scores=scores)
        if baseline and baseline not in tables.strategies:
            raise UnknownName("strategy of this run", baseline, tables.strategies)
        return tables

    def with_marked_losses(self) -> Tables:
        """The run with those losses too that are left out since they are marked so."""
        if self.marked is None or self.marked.empty:
            return self
        losses = pd.concat([self.losses, self.marked], ignore_index=True)
        return self.changed(losses=losses)

    @cached_property
    def strategies(self) -> tuple[str, ...]:
        """All strategies of the run: contenders by recall, best first, then the references.

        Contenders that cannot reach the common size come last.
        """
        replayed = set(self.replays["strategy"])
        scored = set(self.scores["strategy"])
        names = replayed | scored
        unranked = self.unranked()
        means: dict[str, float] = {}
        for name in names - unranked.keys():
            recall = self.best_recall(name)
            if recall:
                means[name] = recall.mean

        def best_first(name: str) -> tuple[float, str]:
            return -means.get(name, -1.0), name

        contenders = sorted(names - set(REFERENCES), key=best_first)
        references = [name for name in REFERENCES if name in names]
        return (*contenders, *references)

    @property
    def contenders(self) -> tuple[str, ...]:
        """The strategies that are no reference, best first."""
        return tuple(name for name in self.strategies if name not in REFERENCES)

    def net_saving(self, strategy: str) -> Estimate | None:
        """Savings as a share of the uncompacted bill of all sessions: a ratio of sums, below 0
        where it costs more; None where they are unknown.
        """
        costs = rows_with(self.costs, strategy=strategy)
        is_priced = costs["usd_uncompacted"] > 0
        is_known = costs["net_saving"].notna()
        costs = costs[is_priced & is_known]
        return ratio(
            costs["net_saving"].tolist(),
            costs["usd_uncompacted"].tolist(),
            self.projects_by_session(costs["session"]),
            most=1.0,
        )

    def cost_a_session(self, strategy: str) -> float | None:
        """The mean bill of a session in USD, with fetching again what was lost and needed; None
        where it is unknown.
        """
        costs = rows_with(self.costs, strategy=strategy)
        bills = costs["usd"] + costs["usd_fetching"]
        mean_bill = bills.mean()
        if pd.isna(mean_bill):
            return None
        return float(mean_bill)

    @property
    def usd_a_tenth(self) -> float:
        """A tenth of the bill of a session without compaction, in USD, as a mean over the sessions
        of the column `cost`; 0 without prices.
        """
        by_session = self.costs.drop_duplicates("session")
        mean_bill = by_session["usd_uncompacted"].mean()
        if pd.isna(mean_bill):
            return 0.0
        return float(mean_bill) / 10

    @cached_property
    def names_only(self) -> dict[str, tuple[float, float]]:
        """The contenders that read like a list of names: presence and the exam's score at small
        size.
        """
        lists: dict[str, tuple[float, float]] = {}
        for name in self.contenders:
            presence, exam = self._presence_and_exam(name)
            if names_only(presence, exam):
                lists[name] = (presence, exam)
        return lists

    def _presence_and_exam(self, strategy: str) -> tuple[float, float]:
        """The means of both at small sizes, over the sessions that have both; NaN without any."""
        smallest, largest = TRIED
        small_shares = [share for share in self.shares if smallest <= share <= largest]
        pairs = []
        for share in small_shares or self.shares[:1]:
            columns = []
            for metric in METRICS:
                values = self.values(metric, strategy, "matched", share)
                columns.append(values)
            by_session = pd.concat(columns, axis=1)
            pairs.append(by_session.dropna())
        if not pairs:
            return nan, nan
        presence, exam = pd.concat(pairs).mean()
        return float(presence), float(exam)

    @cached_property
    def over_window(self) -> dict[str, PartOf]:
        """The contenders that sent requests larger than the window: in how many sessions, and of
        how many.
        """
        counts: dict[str, PartOf] = {}
        for name in self.contenders:
            shares = self.values("over_window", name)
            sessions_over = int((shares > 0).sum())
            if sessions_over:
                counts[name] = PartOf(sessions_over, len(shares))
        return counts

    @cached_property
    def incomplete(self) -> dict[str, PartOf]:
        """The strategies with replays that are pending or failed: in how many sessions, and of
        how many.
        """
        is_lacking = self.replays["status"] != "ok"
        replays = self.replays.assign(is_lacking=is_lacking)
        by_session = replays.groupby(["strategy", "session"])
        lacks_any = by_session["is_lacking"].any()
        by_strategy = lacks_any.groupby("strategy")
        session_counts = by_strategy.agg(["sum", "count"])
        counts: dict[str, PartOf] = {}
        for name, lacking, total in session_counts.itertuples():
            if lacking:
                counts[str(name)] = PartOf(int(lacking), int(total))
        return counts

    @property
    def not_shared(self) -> list[str]:
        """The sessions that a mean leaves out, since one of the compared strategies has no figure
        there; without those that are `left_out`.
        """
        not_shared: set[str] = set()
        for mode in MODES:
            not_shared |= self._not_shared_in(mode)
        return sorted(not_shared - self.left_out)

    def _not_shared_in(self, mode: str) -> set[str]:
        """The sessions that some contender has a figure in, and not each."""
        metric = self.leading(mode)
        rows = self.select(metric, mode)
        is_scored = rows["value"].notna()
        is_contender = rows["strategy"].isin(self.contenders)
        scored_sessions = rows.loc[is_scored & is_contender, "session"]
        sessions = set(map(str, scored_sessions))
        for name in self.contenders:
            values = self.values(metric, name, mode)
            sessions.difference_update(map(str, values.index))
        return sessions
