"""A task to record: a project folder, what is said about it, and the tool calls that are really made."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from workbench.errors import FormatError

STEP = re.compile(r"^@@ (\+ )?(user|think|agent|bash|read|edit|write|grep|list|mark|back)\b ?(.*)$")
EDIT = re.compile(r"<<<<\n(.*?)\n?====\n(.*?)\n?>>>>", re.DOTALL)
MINUTES = re.compile(r"\d+m")


@dataclass(frozen=True, slots=True)
class Says:
    """The user speaks. `pause` is how long the person took, in seconds; None lets the recorder guess."""

    text: str
    pause: float | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """One tool with the arguments that it is called with."""

    tool: str
    arguments: Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Acts:
    """The agent thinks, speaks and calls tools: one recorded answer. Several uses are parallel calls."""

    thought: str = ""
    text: str = ""
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Remembers this place in the conversation, and the folder as it is."""

    name: str


@dataclass(frozen=True, slots=True)
class Back:
    """Goes back to a marked place: the conversation branches there, and the folder is as it was."""

    name: str


Step: TypeAlias = Says | Acts | Mark | Back


@dataclass(frozen=True, slots=True)
class Task:
    """What the recorder plays.

    Attributes:
        name: the session's id.
        title: a few words for people.
        project: the name of the folder in which the agent works, `/home/dev/<project>`.
        files: the folder that is copied there.
        system: the system prompt.
        start: when the recorded session begins, in seconds since 1970.
        prepare: shell commands that run before the session and are not part of it.
        steps: what happens, in order.
    """

    name: str
    title: str
    project: str
    files: Path
    system: str
    start: float
    prepare: tuple[str, ...]
    steps: tuple[Step, ...]


def read_task(folder: Path) -> Task:
    """The task in a folder with `task.toml`, `system.md`, `script.md` and `files/`.

    Raises:
        FormatError: a file or field is missing, or a step cannot be read; names file and line.
    """
    for name in ("task.toml", "system.md", "script.md"):
        if not (folder / name).is_file():
            raise FormatError("a task needs the files task.toml, system.md and script.md", where=str(folder / name))
    try:
        known = tomllib.loads((folder / "task.toml").read_text("utf-8"))
        start = datetime.fromisoformat(known["start"])
        return Task(
            name=known.get("name", folder.name),
            title=known["title"],
            project=known["project"],
            files=folder / known.get("files", "files"),
            system=(folder / "system.md").read_text("utf-8").strip(),
            start=(start if start.tzinfo else start.replace(tzinfo=UTC)).timestamp(),
            prepare=tuple(known.get("prepare", ())),
            steps=tuple(steps((folder / "script.md").read_text("utf-8"), str(folder / "script.md"))),
        )
    except KeyError as missing:
        raise FormatError(
            "a task needs title, project and start",
            where=str(folder / "task.toml"),
            field=str(missing.args[0]),
        ) from None
    except (tomllib.TOMLDecodeError, ValueError) as problem:
        raise FormatError(str(problem), where=str(folder / "task.toml")) from None


def steps(script: str, where: str = "script") -> Iterator[Step]:
    """The steps of a script.

    A line `@@ user`, `@@ think`, `@@ agent` or `@@ <tool> <arguments>` opens a step, and the lines up to the
    next are its body. Thought, text and the first tool that follow one another are one answer of the agent; each
    further tool is an answer of its own unless it is marked `@@ + <tool>`, which makes it a parallel call.

    Raises:
        FormatError: a line before the first step, a tool that lacks what it needs, a way back to no mark.
    """
    thought, text, uses, marks = "", "", list[Use](), set[str]()
    for line, parallel, kind, rest, body in _sections(script, where):
        if (
            kind == "user"
            or kind in ("mark", "back")
            or (kind in ("think", "agent") and (uses or text))
            or (uses and not parallel)
        ):
            if thought or text or uses:
                yield Acts(thought, text, tuple(uses))
            thought, text, uses = "", "", []
        match kind:
            case "user":
                yield Says(body, float(rest[:-1]) * 60 if MINUTES.fullmatch(rest) else None)
            case "think":
                thought = body
            case "agent":
                text = body
            case "mark":
                marks.add(rest)
                yield Mark(rest)
            case "back":
                if rest not in marks:
                    raise FormatError(f"there is no mark {rest!r} before this", where=where, line=line)
                yield Back(rest)
            case _:
                uses.append(Use(kind, _arguments(kind, rest, body, where, line)))
    if thought or text or uses:
        yield Acts(thought, text, tuple(uses))


def _sections(script: str, where: str) -> Iterator[tuple[int, bool, str, str, str]]:
    """Line number, whether parallel, kind, rest of the line, and body of each step."""
    opened: tuple[int, bool, str, str] | None = None
    body: list[str] = []
    for number, line in enumerate(script.splitlines(), 1):
        found = STEP.match(line)
        if found is None:
            if opened is None and line.strip() and not line.startswith("#"):
                raise FormatError(
                    "the script starts with a line that belongs to no `@@` step", where=where, line=number
                )
            body.append(line)
            continue
        if opened is not None:
            yield *opened, "\n".join(body).strip("\n")
        opened, body = (number, found[1] is not None, found[2], found[3].strip()), []
    if opened is not None:
        yield *opened, "\n".join(body).strip("\n")


def _arguments(tool: str, rest: str, body: str, where: str, line: int) -> dict[str, str | int]:
    """The arguments as the recorded call has them."""
    if tool == "bash":
        return {"command": body}
    if tool == "read":
        path, *span = rest.split()
        return {"path": path, **dict(zip(("offset", "limit"), map(int, span), strict=False))}
    if tool == "grep":
        return {"pattern": body, "path": rest or "."}
    if tool == "list":
        return {"path": rest or "."}
    if tool == "write":
        return {"path": rest, "content": body + "\n"}
    found = EDIT.search(body)
    if found is None:
        raise FormatError("an edit needs `<<<<`, the old text, `====`, the new text, `>>>>`", where=where, line=line)
    return {"path": rest, "old": found[1], "new": found[2]}
