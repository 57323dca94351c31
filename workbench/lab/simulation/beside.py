"""The simulation beside a comparison: the same sessions, strategies and settings, kept in its
folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from workbench.base.errors import WorkbenchError
from workbench.base.formats import missing
from workbench.base.palette import REFERENCES
from workbench.engine.models import find_model
from workbench.evaluation.experiment.filler import is_asked
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.spec import RunSpec
from workbench.lab.simulation.simulate import simulated
from workbench.lab.simulation.simulation_spec import SimulationSpec

MOST_MESSAGES = 3_000
"""Of a session, beyond which a simulation takes too long to be made unasked."""
SHARED = (
    "window",
    "limit",
    "price_model",
    "prices",
    "redact",
    "unmasked",
    "model_settings",
    "jobs",
    "quiet",
)
"""Settings that a simulation takes from its comparison."""


def simulate_beside(results: Results, sources: Sequence[SessionSource], spec: RunSpec) -> None:
    """Simulate the strategies of a finished comparison where that asks no model and something was
    compacted and has a price. The comparison stands without it where it fails.

    Args:
        results: the comparison.
        sources: its sessions.
        spec: its settings, with its model.
    """
    if not _is_worth_it(results, spec):
        return
    simulation = simulation_spec(spec).changed(out=results.path)
    with suppress(WorkbenchError):
        simulated(sources, simulation, unasked=True)


def simulation_spec(spec: RunSpec) -> SimulationSpec:
    """What is simulated beside a comparison with these settings: all but its references."""
    values = dict(spec)
    settings = {}
    for name in SHARED:
        settings[name] = values[name]
    contenders = []
    for strategy, name in zip(spec.strategies, spec.names, strict=True):
        if name not in REFERENCES:
            contenders.append(strategy)
    return SimulationSpec(
        strategies=contenders,
        model=spec.model[0],
        **settings,
    )


def _is_worth_it(results: Results, spec: RunSpec) -> bool:
    """Whether a simulation is cheap, has the writer of the comparison, and its bill can differ."""
    longest = results.sessions["messages"].max()
    if missing(longest) or reason_not_to_simulate(int(longest), spec):
        return False
    compacted = set(results.compactions["strategy"]) - set(REFERENCES)
    return len(compacted) >= 2 and not results.costs.empty


def reason_not_to_simulate(longest: int, spec: RunSpec) -> str:
    """Why the strategies of a comparison are not simulated unasked, in a clause; empty where they
    are.

    Args:
        longest: how many messages the longest session has.
        spec: its settings, with its model.
    """
    if len(spec.model) != 1 or spec.replicates > 1:
        return "each summary has more than one writer"
    if spec.scheduler:
        return "the replays run on a scheduler"
    if is_asked(find_model(spec.model[0])):
        return f"{spec.model[0]} would be asked for more summaries"
    if longest > MOST_MESSAGES:
        return f"a session has more than {MOST_MESSAGES:,} messages"
    return ""
