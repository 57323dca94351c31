"""Plays the plan of a task with any values, without an agent: what a trial of it would leave."""

import json
from collections.abc import Callable
from pathlib import Path

from workbench.engine.transcript.message import Json
from workbench.lab.trials.grading import Grade, grade
from workbench.lab.trials.task import Hole, TrialTask
from workbench.recordings.datasets.workspace import Workspace


def right(hole: Hole) -> str:
    return hole.answer


def filled(text: str, holes: tuple[Hole, ...], value: Callable[[Hole], str]) -> str:
    for hole in holes:
        text = text.replace(f"{{{hole.name}}}", value(hole))
    return text


def play(
    task: TrialTask,
    folder: Path,
    value: Callable[[Hole], str] = right,
    asked: Callable[[Hole, list[Json]], None] | None = None,
) -> tuple[Workspace, list[Json]]:
    """The workspace and the conversation after the plan; `asked` hears of each hole and the
    messages before it.
    """
    workspace, messages = task.workspace(folder), [{"role": "system", "content": task.system}]
    for turn in task.turns:
        messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            if asked is not None:
                for hole in step.holes:
                    asked(hole, messages)
            said: dict[str, Json] = {
                "role": "assistant",
                "content": filled(step.words, step.holes, value),
            }
            messages.append(said)
            if step.call:
                arguments = {
                    name: filled(text, step.holes, value)
                    for name, text in step.call.arguments.items()
                }
                function = {"name": step.call.tool, "arguments": json.dumps(arguments)}
                said["tool_calls"] = [{"id": "c", "type": "function", "function": function}]
                output, _ = workspace.use(step.call.tool, arguments)
                messages.append({"role": "tool", "tool_call_id": "c", "content": output})
    return workspace, messages


def played(task: TrialTask, folder: Path, value: Callable[[Hole], str] = right) -> Grade:
    workspace, messages = play(task, folder, value)
    return grade(task, workspace, messages)
