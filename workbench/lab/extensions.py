"""What the laboratory adds to the floors below it; `base.extensions` finds this file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.evaluation.experiment.results import Results
    from workbench.evaluation.experiment.sources import SessionSource
    from workbench.evaluation.experiment.spec import RunSpec
    from workbench.evaluation.findings import Findings
    from workbench.report.page.html import Html


def closed_loop_html(results: Results, findings: Findings) -> Html:
    """A section of a report: whether agents got their work done."""
    from workbench.lab.sections import closed_loop

    return closed_loop.closed_loop_html(results, findings)


def trust_html(results: Results, findings: Findings) -> Html:
    """A section of a report: whether the run's own scale holds."""
    from workbench.lab.sections import trust

    return trust.trust_html(results, findings)


def simulate_beside(results: Results, sources: Sequence[SessionSource], spec: RunSpec) -> None:
    """Keep a simulation beside a finished comparison."""
    from workbench.lab.simulation import beside

    beside.simulate_beside(results, sources, spec)
