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
        played_turns = []
        for turn in task.turns[:-turns]:
            played = _played(turn, workspace)
            played_turns.append(asdict(played))
        packed = _packed(workspace)
        return {"turns": played_turns, "packed": packed}


def begun(task: TrialTask, turns: int, beginning: Mapping[str, Any]) -> TrialTask:
    """The task of which only the last turns are to be worked."""
    played = tuple(map(_read_turn, beginning["turns"]))
    last_turns = task.turns[-turns:]
    return replace(task, turns=last_turns, beginning=played, packed=beginning["packed"])


def _played(turn: Turn, workspace: Workspace) -> PlayedTurn:
    """A turn of the plan, worked."""
    steps = tuple(_played_step(step, workspace) for step in turn.steps)
    return PlayedTurn(turn.user, steps)


def _played_step(step: PlanStep, workspace: Workspace) -> PlayedStep:
    """A step with the right values, and what its call gave."""
    words = _filled(step.words, step.holes)
    if step.call is None:
        return PlayedStep(call=None, words=words, result="")
    tool = step.call.tool
    arguments = {}
    for name, text in step.call.arguments.items():
        arguments[name] = _filled(text, step.holes)
    result, _ = workspace.use(tool, arguments)
    return PlayedStep(Call(tool, arguments), words, result)


def _filled(text: str, holes: Sequence[Hole]) -> str:
    """A text of the plan with the right values."""
    for hole in holes:
        text = text.replace(f"{{{hole.name}}}", hole.answer)
    return text


def _packed(workspace: Workspace) -> str:
    """All that is in the agent's home, as an archive in letters."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as opened:
        home = workspace.root / HOME.strip("/")
        opened.add(home, arcname=".")
    letters = base64.encodebytes(archive.getvalue())
    return letters.decode("ascii")


def _read_turn(turn: Mapping[str, Any]) -> PlayedTurn:
    steps = tuple(map(_read_step, turn["steps"]))
    return PlayedTurn(turn["user"], steps)


def _read_step(step: Mapping[str, Any]) -> PlayedStep:
    call = None
    stored_call = step["call"]
    if stored_call:
        call = Call(stored_call["tool"], stored_call["arguments"])
    return PlayedStep(call, step["words"], step["result"])
