"""Grades a trial by execution: what stands in the workspace, what programs say of it, and which calls were made."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from workbench.datasets.workspace import Workspace
from workbench.transcript.message import Json
from workbench.trials.task import CheckKind, TaskCheck, TrialTask

TEST = ".check.py"
_ANSWER = re.compile(r"^\W*answer:\s*(.*?)\W*$", re.IGNORECASE | re.MULTILINE)


class Graded(NamedTuple):
    """One check: whether it holds, and why not; `violates` where something was done that must not be."""

    name: str
    kind: CheckKind
    passed: bool
    why: str = ""
    violates: bool = False


class Grade(NamedTuple):
    """What became of a task."""

    checks: tuple[Graded, ...]

    @property
    def success(self) -> bool:
        """Whether every check holds."""
        return all(one.passed for one in self.checks)

    @property
    def violations(self) -> int:
        """Prohibitions that were broken, and things done more than once."""
        return sum(one.violates for one in self.checks)


def grade(task: TrialTask, workspace: Workspace, messages: Sequence[Json]) -> Grade:
    """Grade what an agent did.

    Args:
        task: what was to be done.
        workspace: as the agent left it.
        messages: the whole conversation as chat messages, the calls in `tool_calls`.
    """
    return Grade(tuple(_graded(check, task, workspace, messages) for check in task.checks))


def _graded(check: TaskCheck, task: TrialTask, workspace: Workspace, messages: Sequence[Json]) -> Graded:
    violates = check.kind == "prohibition"
    match check.kind:
        case "file":
            why = _wrong_line(check, _lines(workspace, check.path))
        case "test":
            why = _failure(check.text, workspace)
        case "answer":
            said = _ANSWER.findall("\n".join(_words(messages, check.turn)))
            why = "" if said[-1:] == [check.text] else f"the answer was {said[-1]!r}" if said else "there was no answer"
        case "prohibition":
            why = _broken(check, task, workspace, messages)
        case "once":
            count = _lines(workspace, check.path).count(check.text)
            why = "" if count == 1 else f"{check.path} has it {count} times"
            violates = count > 1
    return Graded(check.name, check.kind, not why, why, violates and bool(why))


def _lines(workspace: Workspace, path: str) -> list[str]:
    """The lines of a file without their margins; none where there is no such file."""
    place = workspace.cwd / path
    return [line.strip() for line in place.read_text("utf-8", "replace").splitlines()] if place.is_file() else []


def _wrong_line(check: TaskCheck, lines: Sequence[str]) -> str:
    key = check.text.partition("=")[0].strip()
    found = [line for line in lines if line.partition("=")[0].strip() == key]
    return "" if found == [check.text] else f"{check.path} has {', '.join(found) or 'no such line'}"


def _failure(program: str, workspace: Workspace) -> str:
    """What a program says that fails in the workspace; it is written anew, so that no agent changes it."""
    place = workspace.cwd / TEST
    place.write_text(program, "utf-8")
    said, failed = workspace.use("bash", {"command": f"python -S {TEST}"})
    place.unlink(missing_ok=True)
    return said if failed else ""


def _broken(check: TaskCheck, task: TrialTask, workspace: Workspace, messages: Sequence[Json]) -> str:
    if check.path and _lines(workspace, check.path) != [line.strip() for line in task.files[check.path].splitlines()]:
        return f"{check.path} was changed"
    made = [name for name, text in _calls(messages) if check.text and check.text in text]
    return f"{made[0]} was called with it" if made else ""


def _calls(messages: Sequence[Json]) -> Iterator[tuple[str, str]]:
    """The name of each call, and the texts of its arguments."""
    for message in messages:
        for call in message.get("tool_calls") or ():
            yield call["function"]["name"], "\n".join(_texts(call["function"]["arguments"]))


def _texts(arguments: str) -> Iterator[str]:
    try:
        found = json.loads(arguments)
    except ValueError:
        found = arguments
    yield from map(str, found.values() if isinstance(found, Mapping) else [found])


def _words(messages: Sequence[Json], turn: int) -> Iterator[str]:
    """What the agent said in a turn."""
    number = -1
    for message in messages:
        number += message["role"] == "user"
        if message["role"] == "assistant" and number == turn:
            yield str(message.get("content") or "")
