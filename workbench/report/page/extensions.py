"""What the report adds to the floors below it; `base.registry.extension` finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.evaluation.experiment.results import Results


def results_html(results: Results) -> str:
    """What a notebook shows of a run: the decision, the table and the chart."""
    from workbench.report.page.report import Report

    return Report(results)._repr_html_()
