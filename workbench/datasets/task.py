"""A task to record: a project folder, what is said about it, and the tool calls that are really made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from workbench.errors import FormatError
from workbench.importers.records import read_toml
from workbench.transcript.message import ToolCall

StepKind: TypeAlias = Literal["user", "agent", "mark", "back"]

STEP = re.compile(r"^@@ (\+ )?(user|think|agent|bash|read|edit|write|grep|list|mark|back)\b ?(.*)$")
EDIT = re.compile(r"<<<<\n(.*?)\n?====\n(.*?)\n?>>>>", re.DOTALL)
MINUTES = re.compile(r"\d+m")


@dataclass(slots=True)
class Step:
    """One step of a script.

    Attributes:
        kind: `user` and `agent` speak; `mark` remembers this place in the conversation and the folder as it is; `back`
            returns to such a place, where the conversation branches.
        text: the words, or the name of the mark.
        pause: the seconds that the user took; None lets the recorder estimate them.
        thought: what the agent thinks before it speaks.
        calls: the agent's tool calls, without ids. Several are parallel.
    """

    kind: StepKind
    text: str = ""
    pause: float | None = None
    thought: str = ""
    calls: list[ToolCall] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RecordingTask:
    """What the recorder plays.

    Attributes:
        name: the session's id.
        project: the name of the folder in which the agent works, `/home/dev/<project>`; `files` is copied there.
        system: the system prompt.
        start: when the recorded session begins, in seconds since 1970.
        prepare: shell commands that run before the session and are not part of it.
    """

    name: str
    title: str
    project: str
    files: Path
    system: str
    start: float
    prepare: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class _TaskFile:
    """`task.toml`."""

    title: str
    project: str
    start: str
    name: str = ""
    files: str = "files"
    prepare: tuple[str, ...] = ()


def read_task(folder: Path) -> RecordingTask:
    """The task in a folder with `task.toml`, `system.md`, `script.md` and `files/`.

    Raises:
        FormatError: a file or field is missing, or a step cannot be read; names file and line.
    """
    for name in ("task.toml", "system.md", "script.md"):
        if not (folder / name).is_file():
            raise FormatError("a task needs the files task.toml, system.md and script.md", where=str(folder / name))
    known = read_toml(_TaskFile, folder / "task.toml", "task")
    try:
        start = datetime.fromisoformat(known.start)
    except ValueError as problem:
        raise FormatError(str(problem), where=str(folder / "task.toml"), field="start") from None
    return RecordingTask(
        name=known.name or folder.name,
        title=known.title,
        project=known.project,
        files=folder / known.files,
        system=(folder / "system.md").read_text("utf-8").strip(),
        start=(start if start.tzinfo else start.replace(tzinfo=UTC)).timestamp(),
        prepare=known.prepare,
        steps=tuple(steps((folder / "script.md").read_text("utf-8"), str(folder / "script.md"))),
    )


def steps(script: str, where: str = "script") -> Iterator[Step]:
    """The steps of a script.

    A line `@@ user`, `@@ think`, `@@ agent` or `@@ <tool> <arguments>` opens a step, and the lines up to the next are
    its body. Thought, text and the first tool that follow one another are one answer of the agent; each further tool
    is a new answer unless it is marked `@@ + <tool>`, which makes it a parallel call.

    Raises:
        FormatError: a line before the first step, a tool that lacks what it needs, a way back to no mark.
    """
    answer, marks = Step("agent"), set[str]()
    for line, parallel, kind, rest, body in _sections(script, where):
        spoken = kind in ("think", "agent")
        if kind in ("user", "mark", "back") or (spoken and (answer.text or answer.calls)) or (answer.calls and not parallel):
            if answer != Step("agent"):
                yield answer
            answer = Step("agent")
        match kind:
            case "user":
                yield Step("user", body, float(rest[:-1]) * 60 if MINUTES.fullmatch(rest) else None)
            case "think":
                answer.thought = body
            case "agent":
                answer.text = body
            case "mark":
                marks.add(rest)
                yield Step("mark", rest)
            case "back":
                if rest not in marks:
                    raise FormatError(f"there is no mark {rest!r} before this", where=where, line=line)
                yield Step("back", rest)
            case _:
                answer.calls.append(ToolCall("", kind, _arguments(kind, rest, body, where, line)))
    if answer != Step("agent"):
        yield answer


def _sections(script: str, where: str) -> Iterator[tuple[int, bool, str, str, str]]:
    """Line number, whether parallel, kind, rest of the line, and body of each step."""
    lines = script.splitlines()
    found = [(i, opened) for i, line in enumerate(lines) if (opened := STEP.match(line))]
    first = found[0][0] if found else len(lines)
    for i, line in enumerate(lines[:first], 1):
        if line.strip() and not line.startswith("#"):
            raise FormatError("the script starts with a line that belongs to no `@@` step", where=where, line=i)
    ends = [i for i, _ in found[1:]] + [len(lines)]
    for (i, opened), end in zip(found, ends, strict=True):
        body = "\n".join(lines[i + 1 : end]).strip("\n")
        yield i + 1, opened[1] is not None, opened[2], opened[3].strip(), body


def _arguments(tool: str, rest: str, body: str, where: str, line: int) -> dict[str, str | int]:
    """The arguments as the recorded call has them."""
    match tool:
        case "bash":
            return {"command": body}
        case "read":
            path, *span = rest.split()
            return {"path": path, **dict(zip(("offset", "limit"), map(int, span), strict=False))}
        case "grep":
            return {"pattern": body, "path": rest or "."}
        case "list":
            return {"path": rest or "."}
        case "write":
            return {"path": rest, "content": body + "\n"}
    found = EDIT.search(body)
    if found is None:
        raise FormatError("an edit needs `<<<<`, the old text, `====`, the new text, `>>>>`", where=where, line=line)
    return {"path": rest, "old": found[1], "new": found[2]}
