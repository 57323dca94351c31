"""Tests of conformance reach the restated systems through `Compactor` and `replay` only, as a
host and a reader do.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[1] / "conformance").glob("*.py"))
INNER = (
    "workbench.engine.compaction.engine", "workbench.engine.compaction.forced", "workbench.engine.compaction.guard",
    "workbench.evaluation.replays",
    "workbench.live.breaker",
    "workbench.live.callbacks", "workbench.live.copies", "workbench.live.feasibility", "workbench.live.gauge",
    "workbench.live.identity", "workbench.live.last_resort", "workbench.live.media", "workbench.live.memory",
    "workbench.live.message_reader", "workbench.live.meter", "workbench.live.recovery", "workbench.live.runner",
    "workbench.live.saved", "workbench.live.scheduler", "workbench.live.state", "workbench.live.usage",
)  # fmt: skip
"""Modules that run compactions and are behind `Compactor` and `replay`."""
STEPS = frozenset({"plan", "check", "compact", "due", "complete"})
"""What the engine calls of stages, triggers and models. `live.compact` is a host's call,
`row.check` a table's own.
"""


def inner_uses(text: str) -> Iterator[str]:
    """Each import, private attribute and call in a module that goes past the public face."""
    for node in ast.walk(ast.parse(text)):
        modules = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from (name for name in modules if name.startswith(INNER))
        if isinstance(node, ast.ImportFrom):
            yield from (one.name for one in node.names if one.name.startswith("_"))
        if (
            isinstance(node, ast.Attribute)
            and node.attr.startswith("_")
            and not node.attr.startswith("__")
        ):
            yield from [] if ast.unparse(node.value) == "self" else [f".{node.attr}"]
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in STEPS
        ):
            holder = ast.unparse(node.func.value)
            if (node.func.attr, holder.split(".")[-1]) not in {
                ("compact", "live"),
                ("check", "row"),
            }:
                yield f"{holder}.{node.func.attr}()"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_uses_the_public_face_only(file: Path) -> None:
    assert [*inner_uses(file.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    "line",
    [
        "from workbench.engine.compaction.engine import compact",
        "import workbench.evaluation.replays.natural", "live._runner.run()",
        "preset('opal').trigger.check(situation)", "stage.plan(context, budget)",
    ],
)  # fmt: skip
def test_what_goes_past_it_is_found(line: str) -> None:
    assert [*inner_uses(line)]
