"""What the laboratory adds to a report; `base.registry.extension` finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.evaluation.experiment.results import Results
    from workbench.evaluation.findings import Findings
    from workbench.report.page.html import Html


def closed_loop_html(
    results: Results,
    findings: Findings,
) -> Html:
    """Whether agents got their work done."""
    from workbench.lab.sections import closed_loop

    return closed_loop.closed_loop_html(results, findings)


def trust_html(
    results: Results,
    findings: Findings,
) -> Html:
    """Whether the run's own scale holds."""
    from workbench.lab.sections import trust

    return trust.trust_html(results, findings)
