"""Plays a task with real tools and writes down what really came back."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from workbench.datasets.task import RecordingTask, Step
from workbench.datasets.workspace import HOME, Workspace
from workbench.importers.blocks import text_block
from workbench.transcript.log import Log, MessageEntry, NoteEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolResult,
    UserMessage,
)
from workbench.transcript.session import Origin, Session

MODEL = "recorded-script"

WINDOW = 32_000
"""Tokens: the window that a recorded session says it had, small enough for an hour's work to fill it."""
PAUSE = 75.0
"""Seconds that a person takes to read and answer where the script does not say."""


def record(task: RecordingTask, seconds: float = 120.0) -> Session:
    """A session of the task: the words are the script's, the tool results are real.

    Times are the task's start plus the seconds that the tools really took plus a reading and writing time by
    length.

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
    return Session(
        id=task.name,
        log=player.log,
        origin=Origin(format="recorded", path=task.name),
        model=MODEL,
        window=WINDOW,
        title=task.title,
        cwd=f"{HOME}/{task.project}",
        project=task.project,
    )


class _Player:
    """The log so far, its clock, and the numbers of messages and calls."""

    def __init__(self, task: RecordingTask, workspace: Workspace) -> None:
        self.log = Log()
        self._workspace = workspace
        self._clock = task.start
        self._calls = 0
        self._marks: dict[str, str | None] = {}
        self._append(SystemMessage(id=self._next(), blocks=(Text(task.system),), time=self._clock))

    def play(self, step: Step) -> None:
        match step.kind:
            case "user":
                self._clock += (PAUSE if step.pause is None else step.pause) + len(step.text) / 8
                self._append(UserMessage(id=self._next(), blocks=(Text(step.text),), time=self._time()))
            case "agent":
                self._act(step)
            case "mark":
                self._marks[step.text] = self.log.leaf
                self._workspace.save(step.text)
            case "back":
                self._workspace.restore(step.text)
                self.log.leaf = self._marks[step.text]
                text, note_id = f"went back to {step.text}", self._next("n")
                note = NoteEntry(id=note_id, parent=self.log.leaf, kind="branch", text=text, time=self._time())
                self.log.append(note)

    def _act(self, step: Step) -> None:
        calls = [replace(call, id=f"call_{n:03}") for n, call in enumerate(step.calls, self._calls + 1)]
        self._calls += len(calls)
        blocks: list[AnswerBlock] = [Thinking(step.thought)] if step.thought else []
        blocks += [*text_block(step.text), *calls]
        self._clock += 1.5 + (len(step.thought) + len(step.text)) / 240 + 0.8 * len(calls)
        stop = "tool_use" if calls else "end_turn"
        self._append(AssistantMessage(id=self._next(), blocks=tuple(blocks), model=MODEL, stop=stop, time=self._time()))
        for call in calls:
            began = time.perf_counter()
            text, failed = self._workspace.use(call.name, call.arguments)
            self._clock += time.perf_counter() - began
            about = {"call_id": call.id, "name": call.name, "is_error": failed}
            self._append(ToolResult(id=self._next(), blocks=(Text(text),), time=self._time(), **about))

    def _append(self, message: Message) -> None:
        self.log.append(MessageEntry(id=message.id, parent=self.log.leaf, message=message))

    def _next(self, letter: str = "m") -> str:
        return f"{letter}{len(self.log) + 1:04}"

    def _time(self) -> float:
        return round(self._clock, 3)
