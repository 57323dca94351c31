"""The charts of a run as plain matplotlib figures, and the run's own face in a notebook."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.experiment.store import Results
from workbench.report import charts, cost
from workbench.report.summary import headline_html, verdict_html
from workbench.report.tables import Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class FigurePlots:
    """The charts of one run, see `workbench.experiment.plots.Plots`; its tables are read once."""

    def __init__(self, run: Path) -> None:
        self._folder = run

    def __repr__(self) -> str:
        known = "savings(), equal_size(), kinds(), rounds(), context(session), spending(session)"
        return f"<charts of {self._folder}: {known}>"

    @cached_property
    def _run(self) -> Tables:
        return Tables.of(Results.open(self._folder))

    def savings(self) -> Figure:
        """What each strategy keeps against what it saves, on its own trigger, with intervals."""
        return charts.savings(self._run)

    def equal_size(self) -> Figure:
        """What each strategy keeps when all are cut to the same size."""
        return charts.equal_size(self._run)

    def kinds(self) -> Figure:
        """What each strategy keeps of each kind of information: a heat map."""
        return charts.kinds(self._run)

    def rounds(self) -> Figure:
        """What outlives one compaction, two, three."""
        return charts.rounds(self._run)

    def context(self, session: str | None = None) -> Figure:
        """The size of each request of one session under each strategy; a typical session if none is named."""
        return charts.context_over_time(self._run, session)

    def spending(self, session: str | None = None) -> Figure:
        """What one session has cost after each request under each strategy; the one in the middle if none is named."""
        return cost.spending(cost.Money.of(Results.open(self._folder)), session)


def page(run: Path) -> str:
    """The answer of the run in words and its headline table, as HTML that takes its colours from the notebook."""
    tables = Tables.of(Results.open(run))
    return verdict_html(tables).html + headline_html(tables).html
