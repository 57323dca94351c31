"""A value that is needed of a text, and an empty task; the families of tasks that are made up."""

from __future__ import annotations

from workbench.lab.trials.task import Hole, TrialTask

SERVICES = ("billing", "search", "mailer", "ledger")
PORTS = ("7011", "7012", "7013", "7014")
LISTENS = [
    f"the {service} service listens on port {port}"
    for service, port in zip(SERVICES, PORTS, strict=True)
]


FAMILIES = (
    "far_dependency",
    "look_alikes",
    "changed_values",
    "prohibitions",
    "reversals",
    "several_files",
    "sub_goals",
    "long_outputs",
)
"""The families of tasks that are made up."""


def hole() -> Hole:
    return Hole("port", "number", "billing service listens on port", PORTS[0], PORTS[1:])


def toy() -> TrialTask:
    """A project with one file, in which nothing is to be done."""
    return TrialTask("toy", "toy", 0, "", files={"ops/ports.txt": ""}, turns=(), checks=())
