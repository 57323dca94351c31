"""What the laboratory adds to a comparison; `base.registry.extension` finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.evaluation.experiment.results import Results
    from workbench.evaluation.experiment.sources import SessionSource
    from workbench.evaluation.experiment.spec import RunSpec


def simulate_beside(results: Results, sources: Sequence[SessionSource], spec: RunSpec) -> None:
    """Keep a simulation beside a finished comparison."""
    from workbench.lab.simulation import beside

    beside.simulate_beside(results, sources, spec)
