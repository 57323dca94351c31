"""The tables of a run with plain columns, and the values of one metric of one strategy. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any, Self

import pandas as pd

from workbench.evaluation.analysis.equal_size import evenly
from workbench.evaluation.analysis.one_basis import on_one_basis
from workbench.evaluation.analysis.paired import Estimate, estimate
from workbench.evaluation.analysis.scores import leading_metric, projects_of
from workbench.evaluation.analysis.summary_writers import SummaryWriters
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.experiment.run_notes import LossMark
from workbench.evaluation.experiment.spec import chosen_baseline
from workbench.evaluation.experiment.table_columns import COLUMNS
from workbench.evaluation.findings.session_means import SessionMeans
from workbench.evaluation.metrics import HALVES, NAMES, WORK
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.work_exam.text_kind import TextKind

SAVED = "tokens_saved"
"""The metric of tokens that a strategy saves on its own trigger."""
COMPARED = (*HALVES, SAVED)
"""Metrics of which a report has means beside differences."""
MODES = ("natural", "matched")
"""The modes in which strategies are compared."""


@dataclass(frozen=True)
class RunTables:
    """The tables of a run as attributes, with plain columns: missing numbers are NaN, missing
    words are empty.

    Attributes:
        marks: what a person or a model said of losses, by `loss_key`.
        marked: the rows of `losses` that are left out since they are marked so; None for none.
        simulated: the simulation of the same replays, by session and strategy; its bills are in
            `costs`. None where there is none.
    """

    manifest: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    named_baseline: str = ""
    marks: Mapping[str, LossMark] = field(default_factory=dict)
    marked: pd.DataFrame | None = None
    simulated: pd.DataFrame | None = None

    def __getattr__(self, name: str) -> pd.DataFrame:
        """A table as an attribute."""
        if name not in COLUMNS:
            names = ", ".join(COLUMNS)
            raise AttributeError(f"a run has no table {name!r}; it has {names}")
        return self.tables[name]

    def changed(self, **tables: pd.DataFrame) -> Self:
        """The same run with other tables in the place of these."""
        all_tables = {**self.tables, **tables}
        return replace(self, tables=all_tables)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that the run was made with; none where its manifest has none."""
        return self.manifest.get("settings") or {}

    @property
    def replayed(self) -> pd.DataFrame:
        """The sessions that could be read."""
        return rows_with(self.sessions, status="ok")

    @property
    def unreadable(self) -> pd.DataFrame:
        """The files that could not be read, with the reason."""
        is_unreadable = self.sessions["status"] != "ok"
        return self.sessions[is_unreadable]

    @property
    def baseline(self) -> str | None:
        """What the others are compared with: as named here or for the run; else as
        `chosen_baseline` has it.

        It does not depend on the figures. None where there are not two contenders.
        """
        if self.named_baseline:
            return self.named_baseline
        asked_baseline = str(self.settings.get("baseline") or "")
        return chosen_baseline(asked_baseline, self._replayed_as_listed())

    def _replayed_as_listed(self) -> list[str]:
        """The replayed strategies in the order of the settings, others behind them; the scored ones
        where none was replayed.
        """
        listed = dict.fromkeys(self.settings.get("strategies") or ())
        replayed = dict.fromkeys(self.replays["strategy"])
        names = [name for name in listed if name in replayed]
        names += [name for name in replayed if name not in listed]
        if names:
            return names
        scored = set(self.scores["strategy"])
        return sorted(scored)

    @cached_property
    def at_used_sizes(self) -> pd.DataFrame:
        """The table `baseline_at_sizes` where it is of the baseline; empty where another one was
        named since.

        In a sweep each window and model has its own baseline beside that of the run.
        """
        table = self.baseline_at_sizes
        if self.baseline in set(table["baseline"]):
            return table
        return table.iloc[:0]

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The budgets of matched mode at which anything was scored, as shares of the history,
        smallest first.
        """
        rows = self.scores[self._is_half_at_size]
        is_scored = rows["value"].notna()
        shares = rows.loc[is_scored, "share"]
        return tuple(sorted(map(float, shares.dropna().unique())))

    @property
    def _is_half_at_size(self) -> pd.Series[bool]:
        """Of each score whether it is a number of the headline at equal size."""
        is_half = self.scores["metric"].isin(list(HALVES))
        is_matched = self.scores["mode"] == "matched"
        return is_half & is_matched

    def leading(self, mode: str) -> str:
        """The number that strategies are ranked by: the work, where at least half of the scored
        sessions have it.
        """
        return self._leading_in[mode]

    @cached_property
    def _leading_in(self) -> dict[str, str]:
        """That number in each mode."""
        return {mode: leading_metric(self.scores, mode=mode) for mode in MODES}

    @property
    def first_half(self) -> str:
        """The number that the answer is about: at equal size where the run has it, else on the
        strategies' trigger.
        """
        return self.leading(self.main_mode)

    @property
    def main_mode(self) -> str:
        """`matched`, where strategies are compared at equal size; `natural` in a run without
        sizes.
        """
        if self.shares:
            return "matched"
        return "natural"

    @cached_property
    def sessions_with_work(self) -> frozenset[str]:
        """The sessions in which the work has a value for any strategy."""
        rows = rows_with(self.scores, metric=WORK)
        is_scored = rows["value"].notna()
        sessions = rows.loc[is_scored, "session"]
        return frozenset(map(str, sessions))

    @property
    def has_work(self) -> bool:
        """Whether the work was read in any session."""
        return bool(self.sessions_with_work)

    @cached_property
    def halves(self) -> tuple[str, ...]:
        """The numbers of the headline that any session has, in their order; names always."""
        is_scored = self.scores["value"].notna()
        metrics = {NAMES, *self.scores.loc[is_scored, "metric"]}
        return tuple(half for half in HALVES if half in metrics)

    def select(
        self,
        metric: str,
        mode: str = "natural",
        share: float | None = None,
    ) -> pd.DataFrame:
        """The scores of one metric in one mode; of all shares where none is named."""
        rows = rows_with(self.scores, metric=metric, mode=mode)
        if share is None:
            return rows
        distances = (rows["share"] - share).abs()
        return rows[distances < 1e-9]

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

        The numbers of the headline, the tokens saved and metrics that are not built in are on one
        basis for all strategies, see `analysis.one_basis`; at one share the first are as measured,
        see `analysis.equal_size.evenly`.
        """
        if share is None:
            place = (metric, mode, strategy)
            return self._session_means.at(place, of)
        place_and_share = (metric, mode, share, strategy)
        return self._session_means_by_share.at(place_and_share, of)

    @cached_property
    def _session_means(self) -> SessionMeans:
        """The mean of each metric over all shares, by mode, strategy and session."""
        as_measured = self.scores[~self._is_compared]
        tables = [as_measured, *self._on_one_basis.values()]
        return SessionMeans(pd.concat(tables), ["metric", "mode", "strategy"])

    @cached_property
    def _on_one_basis(self) -> dict[tuple[str, str], pd.DataFrame]:
        """By compared metric and mode its scores on one basis for all strategies."""
        tables: dict[tuple[str, str], pd.DataFrame] = {}
        compared = self.scores[self._is_compared]
        for (metric, mode), rows in compared.groupby(["metric", "mode"]):
            at_sizes = None
            if mode == "matched":
                at_sizes = self.at_used_sizes
            tables[metric, mode] = on_one_basis(rows, at_sizes)
        return tables

    @property
    def _is_compared(self) -> pd.Series[bool]:
        """Of each score whether it is on one basis for all strategies."""
        metrics = self.scores["metric"]
        is_builtin = metrics.isin(BUILTIN)
        is_compared_metric = metrics.isin(COMPARED) | ~is_builtin
        is_compared_mode = self.scores["mode"].isin(MODES)
        return is_compared_metric & is_compared_mode

    @cached_property
    def _session_means_by_share(self) -> SessionMeans:
        """The same at each share."""
        other_scores = self.scores[~self._is_half_at_size]
        tables = [other_scores]
        for half in self.halves:
            for share in self._asked_shares:
                rows = self._at_size(half, share)
                tables.append(evenly(rows))
        return SessionMeans(pd.concat(tables), ["metric", "mode", "share", "strategy"])

    @property
    def _asked_shares(self) -> list[float]:
        """The budgets of matched mode, as shares of the history, scored or not."""
        shares = self.scores["share"].dropna()
        return [float(share) for share in shares.unique()]

    def _at_size(self, metric: str, share: float | None) -> pd.DataFrame:
        """A half of the headline at equal size, and the `reason` where there is none, in
        sessions that have a value.
        """
        all_shares = self.select(metric, "matched")
        is_scored = all_shares["value"].notna()
        scored_sessions = all_shares.loc[is_scored, "session"]
        rows = self.select(metric, "matched", share)
        has_score = rows["session"].isin(scored_sessions)
        return rows[has_score].assign(reason=rows["why"])

    @cached_property
    def projects(self) -> dict[str, str]:
        """The project of each session."""
        return projects_of(self.scores)

    def project(self, session: object) -> str:
        """The project of a session; the session itself where none is known."""
        return self.projects.get(str(session), str(session))

    def projects_by_session(self, sessions: Iterable[object]) -> list[str]:
        """The project of each of these sessions, in their order."""
        return [self.project(session) for session in sessions]

    def project_count(self, sessions: Iterable[object]) -> int:
        """Of how many projects these sessions are."""
        projects = self.projects_by_session(sessions)
        return len(set(projects))

    def mean_over_projects(
        self,
        values: pd.Series[float],
        *,
        lowest: float = -inf,
        highest: float = inf,
    ) -> Estimate | None:
        """The mean of one value a session, with its interval over projects."""
        return estimate(
            values.tolist(),
            self.projects_by_session(values.index),
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
