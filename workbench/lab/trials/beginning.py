"""The beginning of a task, which its plan works, so that an agent goes on from the middle of the
work.
"""

import base64
import io
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from workbench.lab.trials.task import Call, Hole, PlanStep, PlayedStep, PlayedTurn, TrialTask, Turn
from workbench.recordings.datasets.workspace import HOME, Workspace


def beginning_of(task: TrialTask, turns: int) -> Mapping[str, Any]:
    """What is left when the plan has worked all but the last turns of a task, as JSON has it.

    The plan runs without a sandbox: it is trusted.
    """
    with tempfile.TemporaryDirectory() as folder:
        workspace = task.workspace(Path(folder))
        played = [_played(turn, workspace) for turn in task.turns[:-turns]]
        return {"turns": [asdict(turn) for turn in played], "packed": _packed(workspace)}


def begun(task: TrialTask, turns: int, beginning: Mapping[str, Any]) -> TrialTask:
    """The task of which only the last turns are to be worked."""
    played = tuple(map(_read_turn, beginning["turns"]))
    return replace(task, turns=task.turns[-turns:], beginning=played, packed=beginning["packed"])


def _played(turn: Turn, workspace: Workspace) -> PlayedTurn:
    return PlayedTurn(turn.user, tuple(_played_step(step, workspace) for step in turn.steps))


def _played_step(step: PlanStep, workspace: Workspace) -> PlayedStep:
    words = _filled(step.words, step.holes)
    if step.call is None:
        return PlayedStep(None, words, "")
    arguments = {name: _filled(text, step.holes) for name, text in step.call.arguments.items()}
    result, _ = workspace.use(step.call.tool, arguments)
    return PlayedStep(Call(step.call.tool, arguments), words, result)


def _filled(text: str, holes: Sequence[Hole]) -> str:
    """A text of the plan with the right values."""
    for hole in holes:
        text = text.replace(f"{{{hole.name}}}", hole.answer)
    return text


def _packed(workspace: Workspace) -> str:
    """All that is in the agent's home, as an archive in letters."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as opened:
        opened.add(workspace.root / HOME.strip("/"), arcname=".")
    return base64.encodebytes(archive.getvalue()).decode("ascii")


def _read_turn(turn: Mapping[str, Any]) -> PlayedTurn:
    return PlayedTurn(turn["user"], tuple(map(_read_step, turn["steps"])))


def _read_step(step: Mapping[str, Any]) -> PlayedStep:
    call = step["call"]
    return PlayedStep(call and Call(call["tool"], call["arguments"]), step["words"], step["result"])
