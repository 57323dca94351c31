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
from workbench.evaluation.experiment.spec import chosen_baseline
from workbench.evaluation.experiment.table_columns import COLUMNS
from workbench.evaluation.findings.session_means import SessionMeans
from workbench.evaluation.metrics import HALVES, NAMES, WORK
from workbench.evaluation.metrics.work_exam.reader_error import TextKind

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
        marks: what a person said of losses, by `loss_key`.
        marked: the rows of `losses` that are left out since they are marked so; None for none.
        simulated: the simulation of the same replays, by session and strategy; its bills are in
            `costs`. None where there is none.
    """

    manifest: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    named_baseline: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    marked: pd.DataFrame | None = None
    simulated: pd.DataFrame | None = None

    def __getattr__(self, name: str) -> pd.DataFrame:
        """A table as an attribute."""
        if name not in COLUMNS:
            raise AttributeError(f"a run has no table {name!r}; it has {', '.join(COLUMNS)}")
        return self.tables[name]

    def changed(self, **tables: pd.DataFrame) -> Self:
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

    @property
    def baseline(self) -> str | None:
        """What the others are compared with: as named here or for the run; else as
        `chosen_baseline` has it.

        It does not depend on the figures. None where there are not two contenders.
        """
        if self.named_baseline:
            return self.named_baseline
        listed = list(self.settings.get("strategies") or ())
        replayed = list(dict.fromkeys(self.replays["strategy"]))
        names = [name for name in dict.fromkeys(listed) if name in replayed]
        names += [name for name in replayed if name not in listed]
        if not names:
            names = sorted(set(self.scores["strategy"]))
        return chosen_baseline(str(self.settings.get("baseline") or ""), names)

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
        is_half = self.scores["metric"].isin(list(HALVES))
        rows = self.scores[is_half & (self.scores["mode"] == "matched")]
        scored_shares = rows.loc[rows["value"].notna(), "share"].dropna().unique()
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
        return self.leading(self.main_mode)

    @property
    def main_mode(self) -> str:
        """`matched`, where strategies are compared at equal size; `natural` in a run without
        sizes.
        """
        return "matched" if self.shares else "natural"

    @cached_property
    def sessions_with_work(self) -> frozenset[str]:
        """The sessions in which the work has a value for any strategy."""
        rows = self.scores[self.scores["metric"] == WORK]
        rows = rows[rows["value"].notna()]
        return frozenset(map(str, rows["session"]))

    @property
    def has_work(self) -> bool:
        """Whether the work was read in any session."""
        return bool(self.sessions_with_work)

    @cached_property
    def halves(self) -> tuple[str, ...]:
        """The numbers of the headline that any session has, in their order; names always."""
        with_value = set(self.scores.loc[self.scores["value"].notna(), "metric"])
        return tuple(half for half in HALVES if half in with_value | {NAMES})

    def select(
        self, metric: str, mode: str = "natural", share: float | None = None
    ) -> pd.DataFrame:
        """The scores of one metric in one mode; of all shares where none is named."""
        is_selected = (self.scores["metric"] == metric) & (self.scores["mode"] == mode)
        rows = self.scores[is_selected]
        if share is None:
            return rows
        return rows[(rows["share"] - share).abs() < 1e-9]

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

        The numbers of the headline and the tokens saved are on one basis for all strategies, see
        `analysis.one_basis`; at one share the former are as measured, see
        `analysis.equal_size.evenly`.
        """
        if share is None:
            return self._session_means.at((metric, mode, strategy), of)
        return self._session_means_by_share.at((metric, mode, share, strategy), of)

    @cached_property
    def _session_means(self) -> SessionMeans:
        """The mean of each metric over all shares, by mode, strategy and session."""
        scores = self.scores
        is_compared = scores["metric"].isin(COMPARED) & scores["mode"].isin(MODES)
        tables = [scores[~is_compared]]
        for (_, mode), rows in scores[is_compared].groupby(["metric", "mode"]):
            at_sizes = self.at_used_sizes if mode == "matched" else None
            tables.append(on_one_basis(rows, at_sizes))
        return SessionMeans(pd.concat(tables), ["metric", "mode", "strategy"])

    @cached_property
    def _session_means_by_share(self) -> SessionMeans:
        """The same at each share."""
        halves = []
        for half in HALVES:
            for share in self._asked_shares:
                halves.append(evenly(self._at_size(half, share)))
        rows = pd.concat([self._not_halves_at_size, *halves])
        return SessionMeans(rows, ["metric", "mode", "share", "strategy"])

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
        all_shares = self.select(metric, "matched")
        scored_sessions = all_shares.loc[all_shares["value"].notna(), "session"]
        rows = self.select(metric, "matched", share)
        return rows[rows["session"].isin(scored_sessions)].assign(reason=rows["why"])

    @cached_property
    def projects(self) -> dict[str, str]:
        """The project of each session."""
        return projects_of(self.scores)

    def project(self, session: object) -> str:
        """The project of a session; the session itself where none is known."""
        return self.projects.get(str(session), str(session))

    def projects_by_session(self, sessions: Iterable[object]) -> list[str]:
        """The project of each of these sessions, in their order."""
        return list(map(self.project, sessions))

    def project_count(self, sessions: Iterable[object]) -> int:
        """Of how many projects these sessions are."""
        return len(set(self.projects_by_session(sessions)))

    def mean_over_projects(
        self, values: pd.Series[float], *, lowest: float = -inf, highest: float = inf
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
