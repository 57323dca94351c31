"""Grades a trial by execution: what stands in the workspace, what programs say of it, and which
calls were made.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from workbench.engine.transcript.message import Json
from workbench.lab.trials.task import CheckKind, ProjectTools, TaskCheck, TrialTask, WorkspaceEnded

LONGEST_ANSWER = 4_000
"""Characters at the end of what an agent said in a turn, in which its answer is looked for."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_YEAR_AND_UNIT = re.compile(r"(?: 20\d\d)?(?: ?(?:%|[^\W\d_]{1,12}[²³]?))?")
_ANSWER = re.compile(r"^\W*answer:\s*(.*?)\W*$", re.IGNORECASE | re.MULTILINE)


class Graded(NamedTuple):
    """One check: whether it holds, and why not; `violates` where something was done that must
    not be.
    """

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
        return all(check.passed for check in self.checks)

    @property
    def violations(self) -> int:
        """Prohibitions that were broken, and things done more than once."""
        return sum(check.violates for check in self.checks)


def grade(task: TrialTask, project: ProjectTools, messages: Sequence[Json]) -> Grade:
    """Grade what an agent did. What its commands left running is ended, so that it changes nothing
    meanwhile.

    Args:
        task: what was to be done.
        project: as the agent left it; a check that needs it fails where it was ended.
        messages: the whole conversation as chat messages, the calls in `tool_calls`.
    """
    with suppress(WorkspaceEnded):
        project.settle()
    return Grade(tuple(_graded(check, task, project, messages) for check in task.checks))


def _graded(
    check: TaskCheck, task: TrialTask, project: ProjectTools, messages: Sequence[Json]
) -> Graded:
    try:
        return _judged(check, task, project, messages)
    except WorkspaceEnded as ended:
        return Graded(check.name, check.kind, False, str(ended))


def _judged(
    check: TaskCheck, task: TrialTask, project: ProjectTools, messages: Sequence[Json]
) -> Graded:
    violates = check.kind == "prohibition"
    match check.kind:
        case "file":
            fault = _wrong_line(check, _lines(project, check.path))
        case "test":
            fault = project.check(check.text)
        case "answer":
            fault = _wrong_answer(check, messages)
        case "prohibition":
            fault = _broken(check, task, project, messages)
        case "once":
            count = _lines(project, check.path).count(check.text)
            violates = count > 1
            fault = ""
            if count != 1:
                fault = f"{check.path} has it {count} times"
    return Graded(check.name, check.kind, not fault, fault, violates and bool(fault))


def _lines(project: ProjectTools, path: str) -> list[str]:
    """The lines of a file without their margins; none where there is no such file."""
    return _stripped_lines(project.text(path) or "")


def _stripped_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def _wrong_answer(check: TaskCheck, messages: Sequence[Json]) -> str:
    words = "\n".join(_words(messages, check.turn))
    answers = _ANSWER.findall(words[-LONGEST_ANSWER:])
    if not answers:
        return "there was no answer"
    if answers[-1] == check.text:
        return ""
    return f"the answer was {answers[-1]!r}"


def _wrong_line(check: TaskCheck, lines: Sequence[str]) -> str:
    key, _, right_value = check.text.partition("=")
    matching_lines = []
    values = []
    for line in lines:
        line_key, _, value = line.partition("=")
        if line_key.strip() == key.strip():
            matching_lines.append(line)
            values.append(value)
    if not matching_lines:
        return f"{check.path} has no such line"
    if len(values) == 1 and is_same_value(values[0], right_value):
        return ""
    return f"{check.path} has {', '.join(matching_lines)}"


def is_same_value(stated: str, right: str) -> bool:
    """Whether a value is the wanted one: `2000` is `2,000`, and a year or a unit may follow it."""
    stated_value = _plain_value(stated)
    right_value = _plain_value(right)
    if not stated_value.startswith(right_value):
        return False
    return _YEAR_AND_UNIT.fullmatch(stated_value, len(right_value)) is not None


def _plain_value(text: str) -> str:
    """A value without quotes, and without commas between thousands."""
    return _THOUSANDS.sub("", text.strip().strip("`'\""))


def _broken(
    check: TaskCheck, task: TrialTask, project: ProjectTools, messages: Sequence[Json]
) -> str:
    if check.path:
        original_lines = _stripped_lines(task.files[check.path])
        if _lines(project, check.path) != original_lines:
            return f"{check.path} was changed"
    if check.text:
        for tool, text in _calls(messages):
            if check.text in text:
                return f"{tool} was called with it"
    return ""


def _calls(messages: Sequence[Json]) -> Iterator[tuple[str, str]]:
    """The name of each call, and the texts of its arguments."""
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call["function"]
            yield function["name"], "\n".join(_texts(function["arguments"]))


def _texts(arguments: str) -> Iterator[str]:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = arguments
    values = value.values() if isinstance(value, Mapping) else [value]
    yield from map(str, values)


def _words(messages: Sequence[Json], turn: int) -> Iterator[str]:
    """What the agent said in a turn."""
    number = -1
    for message in messages:
        number += message["role"] == "user"
        if message["role"] == "assistant" and number == turn:
            yield str(message.get("content") or "")
