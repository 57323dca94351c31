"""A small task: ports are told at the start, parts are read, and one port is needed in the end."""

from __future__ import annotations

import random

from workbench.lab.trials.task import Call, Hole, PlanStep, TrialTask, Turn

WORDS = (
    "batch",
    "cache",
    "worker",
    "queue",
    "index",
    "token",
    "shard",
    "replica",
    "tenant",
    "bucket",
    "socket",
)
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


def hole(look_up: Call | None = None, name: str = "port") -> Hole:
    return Hole(name, "number", "billing service listens on port", PORTS[0], PORTS[1:], look_up)


def toy(*, in_file: bool = False, parts: int = 12) -> TrialTask:
    """The ports are said by the user, or stand in a file that can be searched again."""
    chance = random.Random(0)
    names = [f"src/part_{number}.py" for number in range(parts)]
    files = {
        name: "\n".join(
            f"{chance.choice(WORDS)} = {' '.join(chance.choices(WORDS, k=8))}" for _ in range(30)
        )
        for name in names
    }
    files["ops/ports.txt"] = "\n".join(LISTENS) if in_file else ""
    start = Turn("\n".join(LISTENS), (PlanStep(None, "Noted.", ()),))
    if in_file:
        start = Turn(
            "Read ops/ports.txt.", (PlanStep(Call("read", {"path": "ops/ports.txt"}), "", ()),)
        )
    need = hole(Call("grep", {"pattern": "billing", "path": "ops"}) if in_file else None)
    plan_step = PlanStep(
        Call("write", {"path": "out.txt", "content": "port={port}\n"}), "I write it.", (need,)
    )
    end = Turn(
        "Write the port of the billing service to out.txt.",
        (plan_step, PlanStep(None, "It is {port}.", (need,))),
    )
    middle = [
        Turn(f"Look at {name}.", (PlanStep(Call("read", {"path": name}), "", ()),))
        for name in names
    ]
    return TrialTask(
        "toy", "toy", 0, "You work on a project with tools.", files, (start, *middle, end), ()
    )
