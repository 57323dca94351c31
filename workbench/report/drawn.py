"""A figure that a notebook shows wherever it is the last line of a cell, also without pyplot."""

from __future__ import annotations

from matplotlib.figure import Figure


class Drawn(Figure):
    """A matplotlib figure like any other; it shows itself as a crisp picture on white."""

    def _repr_png_(self) -> bytes:
        from workbench.report.plot_style import png

        return png(self)
