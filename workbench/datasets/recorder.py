"""Plays a task with real tools and writes down what really came back."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from workbench.datasets.task import RecordingTask, ScriptStep
from workbench.datasets.workspace import HOME, Workspace
from workbench.importers.blocks import Content, text_block, thought_block
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import SourceFile
from workbench.transcript.message import Message, Text, ToolResult
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
    return replace(player.session(), origin=Origin(format="recorded", path=task.name))


class _Player(SessionBuilder):
    """The log so far, its clock, and the places to which the script returns."""

    def __init__(self, task: RecordingTask, workspace: Workspace) -> None:
        super().__init__(SourceFile(task.name, BytesIO))
        self.id, self.title, self.project, self.window = task.name, task.title, task.project, WINDOW
        self.cwd = f"{HOME}/{task.project}"
        self._workspace, self._clock, self._calls = workspace, task.start, 0
        self._marks: dict[str, str | None] = {}
        self.say_text("system", task.system)

    def play(self, step: ScriptStep) -> None:
        match step.kind:
            case "user":
                self._clock += (PAUSE if step.pause is None else step.pause) + len(step.text) / 8
                self.say_text("user", step.text)
            case "agent":
                self._act(step)
            case "mark":
                self._marks[step.text] = self.log.leaf
                self._workspace.save(step.text)
            case "back":
                self._workspace.restore(step.text)
                self.log.leaf = self._marks[step.text]
                self.note("branch", f"went back to {step.text}", id=f"n{len(self.log) + 1:04}")

    def _act(self, step: ScriptStep) -> None:
        calls = [replace(call, id=f"call_{n:03}") for n, call in enumerate(step.calls, self._calls + 1)]
        self._calls += len(calls)
        self._clock += 1.5 + (len(step.thought) + len(step.text)) / 240 + 0.8 * len(calls)
        found = Content([*thought_block(step.thought), *text_block(step.text), *calls])
        self.say_content("assistant", found, model=MODEL, stop="tool_use" if calls else "end_turn")
        for call in calls:
            began = time.perf_counter()
            text, failed = self._workspace.use(call.name, call.arguments)
            self._clock += time.perf_counter() - began
            self.say(ToolResult(id="", call_id=call.id, blocks=(Text(text),), is_error=failed))

    def say(self, message: Message) -> str:
        self.time = round(self._clock, 3)
        return super().say(message)

    def fresh_id(self, wanted: str = "") -> str:
        return wanted or f"m{len(self.log) + 1:04}"
