"""A task to record is read from its folder, played with real tools, and what really came back is
written down.
"""

import re
import tempfile
import time
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Message, Text, ToolCall
from workbench.engine.transcript.session import Origin, Session
from workbench.recordings.datasets.workspace import HOME, Workspace
from workbench.recordings.importers.blocks import text_block, thought_block
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.records import read_toml
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import time_of

STEP = re.compile(
    r"^@@ (\+ )?(user|think|agent|bash|read|edit|write|grep|list|mark|back)\b ?(.*)$", re.MULTILINE
)
EDIT = re.compile(r"<<<<\n(.*?)\n?====\n(.*?)\n?>>>>", re.DOTALL)
MINUTES = re.compile(r"\d+m")


@dataclass(slots=True)
class ScriptStep:
    """One step of a script.

    Attributes:
        kind: `user` and `agent` speak; `mark` remembers this place in the conversation and the
            folder as it is; `back` returns to such a place, where the conversation branches.
        text: the words, or the name of the mark.
        pause: the seconds that the user took; None lets the recorder estimate them.
        thought: what the agent thinks before it speaks.
        calls: the agent's tool calls, without ids. Several are parallel.
    """

    kind: str
    text: str = ""
    pause: float | None = None
    thought: str = ""
    calls: list[ToolCall] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RecordingTask:
    """What the recorder plays.

    Attributes:
        name: the session's id.
        project: the name of the folder in which the agent works, `/home/dev/<project>`; `files` is
            copied there.
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
    steps: tuple[ScriptStep, ...]


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
    about = folder / "task.toml"
    system = folder / "system.md"
    script = folder / "script.md"
    for path in (about, system, script):
        if not path.is_file():
            raise FormatError(
                "a task needs the files task.toml, system.md and script.md", where=str(path)
            )
    task_file = read_toml(_TaskFile, about, "task")
    start = time_of(task_file.start)
    if start is None:
        raise FormatError(
            f"expected an ISO time, found {task_file.start!r}", where=str(about), field="start"
        )
    system_prompt = system.read_text("utf-8")
    script_steps = steps(script.read_text("utf-8"), str(script))
    return RecordingTask(
        name=task_file.name or folder.name,
        title=task_file.title,
        project=task_file.project,
        files=folder / task_file.files,
        system=system_prompt.strip(),
        start=start,
        prepare=task_file.prepare,
        steps=tuple(script_steps),
    )


def steps(script: str, where: str = "script") -> list[ScriptStep]:
    """The steps of a script.

    A line `@@ user`, `@@ think`, `@@ agent` or `@@ <tool> <arguments>` opens a step, and the lines
    up to the next are its body. Thought, text and the first tool that follow one another are one
    answer of the agent; each further tool is a new answer unless it is marked `@@ + <tool>`, which
    makes it a parallel call.

    Raises:
        FormatError: a line before the first step, a tool that lacks what it needs, a way back to no
            mark.
    """
    heads = list(STEP.finditer(script))
    starts = [head.start() for head in heads]
    starts.append(len(script))
    preface = script[: starts[0]]
    for line, words in enumerate(preface.splitlines(), 1):
        is_comment = words.startswith("#")
        if words.strip() and not is_comment:
            raise FormatError(
                "the script starts with a line that belongs to no `@@` step", where=where, line=line
            )
    script_steps: list[ScriptStep] = []
    for number, head in enumerate(heads):
        end = starts[number + 1]
        body = script[head.end() : end]
        line = script.count("\n", 0, head.start()) + 1
        part = _ScriptPart(
            kind=head[2],
            argument=head[3].strip(),
            body=body.strip("\n"),
            is_parallel=bool(head[1]),
            where=where,
            line=line,
        )
        _add_step(script_steps, part)
    return script_steps


@dataclass(frozen=True, slots=True)
class _ScriptPart:
    """What stands in a script behind one `@@`.

    Attributes:
        kind: what it is, or the tool.
        argument: what follows on the line.
        body: the lines up to the next `@@`.
        is_parallel: whether it is a call beside the one before.
        where, line: where it stands.
    """

    kind: str
    argument: str
    body: str
    is_parallel: bool
    where: str
    line: int

    def error(self, problem: str) -> FormatError:
        """An error in this place."""
        return FormatError(problem, where=self.where, line=self.line)


def _add_step(script_steps: list[ScriptStep], part: _ScriptPart) -> None:
    """Add what a step says: a step of its own, or a part of the agent's newest answer."""
    if part.kind == "user":
        pause = _pause(part.argument)
        script_steps.append(ScriptStep("user", part.body, pause))
        return
    if part.kind in ("mark", "back"):
        mark = ScriptStep("mark", part.argument)
        if part.kind == "back" and mark not in script_steps:
            raise part.error(f"there is no mark {part.argument!r} before this")
        script_steps.append(ScriptStep(part.kind, part.argument))
        return
    answer = script_steps[-1] if script_steps else None
    if answer is None or not _goes_on(answer, part):
        answer = ScriptStep("agent")
        script_steps.append(answer)
    if part.kind == "think":
        answer.thought = part.body
    elif part.kind == "agent":
        answer.text = part.body
    else:
        call = ToolCall("", part.kind, _arguments(part))
        answer.calls.append(call)


def _pause(argument: str) -> float | None:
    """The seconds of a pause such as `5m`; None where none is named."""
    if not MINUTES.fullmatch(argument):
        return None
    minutes = float(argument[:-1])
    return minutes * 60


def _goes_on(step: ScriptStep, part: _ScriptPart) -> bool:
    """Whether a thought, a text or a call belongs to this step."""
    if step.kind != "agent":
        return False
    if step.calls and not part.is_parallel:
        return False
    speaks = part.kind in ("think", "agent")
    has_spoken = bool(step.text or step.calls)
    return not (speaks and has_spoken)


def _arguments(part: _ScriptPart) -> dict[str, str | int]:
    """The arguments of a part's tool as the recorded call has them."""
    argument = part.argument
    match part.kind:
        case "bash":
            return {"command": part.body}
        case "read":
            return _read_arguments(argument)
        case "grep":
            return {"pattern": part.body, "path": argument or "."}
        case "list":
            return {"path": argument or "."}
        case "write":
            return {"path": argument, "content": f"{part.body}\n"}
    edit = EDIT.search(part.body)
    if edit is None:
        raise part.error("an edit needs `<<<<`, the old text, `====`, the new text, `>>>>`")
    return {"path": argument, "old": edit[1], "new": edit[2]}


def _read_arguments(argument: str) -> dict[str, str | int]:
    """A path, and behind it the first line and the number of lines where they are named."""
    path, *numbers = argument.split()
    arguments: dict[str, str | int] = {"path": path}
    for name, number in zip(("offset", "limit"), numbers, strict=False):
        arguments[name] = int(number)
    return arguments


MODEL = "recorded-script"

WINDOW = 32_000
"""Tokens: the window that a recorded session says it had, small enough for an hour's work to
fill it.
"""
PAUSE = 75.0
"""Seconds that a person takes to read and answer where the script does not say."""


def record(task: RecordingTask, seconds: float = 120.0) -> Session:
    """A session of the task: the words are the script's, the tool results are real.

    Times are the task's start plus the seconds that the tools really took plus a reading and
    writing time by length.

    Args:
        task: what to play.
        seconds: the time limit of one shell command.
    """
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder), task.project, task.files, seconds)
        for command in task.prepare:
            workspace.use("bash", {"command": command})
        player = _Player(task, workspace)
        for step in task.steps:
            player.play(step)
    origin = Origin(format="recorded", path=task.name)
    return replace(player.session(), origin=origin)


class _Player(SessionBuilder):
    """The log so far, its clock, and the places to which the script returns."""

    def __init__(self, task: RecordingTask, workspace: Workspace) -> None:
        super().__init__(SourceFile(task.name, BytesIO))
        self.id = task.name
        self.title = task.title
        self.project = task.project
        self.window = WINDOW
        self.cwd = f"{HOME}/{task.project}"
        self._workspace = workspace
        self._clock = task.start
        self._calls = 0
        self._marks: dict[str, str | None] = {}
        self.say_text("system", task.system)

    def play(self, step: ScriptStep) -> None:
        match step.kind:
            case "user":
                pause = PAUSE if step.pause is None else step.pause
                self._clock += pause + len(step.text) / 8
                self.say_text("user", step.text)
            case "agent":
                self._act(step)
            case "mark":
                self._marks[step.text] = self.log.leaf
                self._workspace.save(step.text)
            case "back":
                self._go_back(step.text)

    def _go_back(self, mark: str) -> None:
        """Return to a place of the conversation, with the folder as it was there."""
        self._workspace.restore(mark)
        self.log.leaf = self._marks[mark]
        number = len(self.log) + 1
        self.note("branch", f"went back to {mark}", id=f"n{number:04}")

    def _act(self, step: ScriptStep) -> None:
        calls: list[ToolCall] = []
        for call in step.calls:
            self._calls += 1
            call_id = f"call_{self._calls:03}"
            calls.append(replace(call, id=call_id))
        characters = len(step.thought) + len(step.text)
        self._clock += 1.5 + characters / 240 + 0.8 * len(calls)
        thought = thought_block(step.thought)
        words = text_block(step.text)
        parts = Content([*thought, *words, *calls])
        stop = "tool_use" if calls else "end_turn"
        self.say_content("assistant", parts, model=MODEL, stop=stop)
        for call in calls:
            began = time.perf_counter()
            output, failed = self._workspace.use(call.name, call.arguments)
            self._clock += time.perf_counter() - began
            self.say_result(call.id, [Text(output)], failed=failed)

    def say(self, message: Message) -> str:
        self.time = round(self._clock, 3)
        return super().say(message)

    def fresh_id(self, base_id: str = "") -> str:
        return base_id or f"m{len(self.log) + 1:04}"
