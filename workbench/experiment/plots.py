"""The charts of a run, as its results offer them; drawing itself stands on a floor above and is found by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Plots(Protocol):
    """Each returns a matplotlib figure that names its unit, its n and which direction is better; none is shown."""

    def savings(self) -> Figure:
        """What each strategy keeps against what it saves, on its own trigger, with intervals."""
        ...

    def equal_size(self) -> Figure:
        """What each strategy keeps when all are cut to the same size."""
        ...

    def kinds(self) -> Figure:
        """What each strategy keeps of each kind of information: a heat map."""
        ...

    def rounds(self) -> Figure:
        """What outlives one compaction, two, three."""
        ...

    def context(self, session: str | None = None) -> Figure:
        """The size of each request of one session under each strategy; a typical session if none is named."""
        ...

    def spending(self, session: str | None = None) -> Figure:
        """What one session has cost after each request under each strategy; the one in the middle if none is named."""
        ...


def plots(run: Path) -> Plots:
    """The charts of the run in this folder. They need matplotlib, which is loaded with the first."""
    found: Plots = import_module("workbench.report.plots").FigurePlots(run)
    return found


def page(run: Path) -> str:
    """The answer of the run in words and its headline table, as HTML."""
    found: str = import_module("workbench.report.plots").page(run)
    return found
