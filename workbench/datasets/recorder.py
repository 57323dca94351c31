"""Plays a task with real tools and writes down what really came back."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from workbench.datasets.task import AgentStep, BackStep, MarkStep, RecordingTask, Step, UserStep
from workbench.datasets.workspace import HOME, Workspace
from workbench.transcript.log import Log, MessageEntry, NoteEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
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
        match step:
            case UserStep():
                self._clock += (PAUSE if step.pause is None else step.pause) + len(step.text) / 8
                self._append(UserMessage(id=self._next(), blocks=(Text(step.text),), time=self._time()))
            case AgentStep():
                self._act(step)
            case MarkStep():
                self._marks[step.name] = self.log.leaf
                self._workspace.save(step.name)
            case BackStep():
                self._workspace.restore(step.name)
                self.log.leaf = self._marks[step.name]
                text = f"went back to {step.name}"
                note = NoteEntry(id=self._next("n"), parent=self.log.leaf, kind="branch", text=text, time=self._time())
                self.log.append(note)

    def _act(self, step: AgentStep) -> None:
        calls: list[ToolCall] = []
        for use in step.uses:
            self._calls += 1
            calls.append(ToolCall(f"call_{self._calls:03}", use.tool, dict(use.arguments)))
        blocks: list[AnswerBlock] = [Thinking(step.thought)] if step.thought else []
        blocks += [Text(step.text)] if step.text else []
        blocks += calls
        self._clock += 1.5 + (len(step.thought) + len(step.text)) / 240 + 0.8 * len(calls)
        stop = "tool_use" if calls else "end_turn"
        self._append(AssistantMessage(id=self._next(), blocks=tuple(blocks), model=MODEL, stop=stop, time=self._time()))
        for call in calls:
            began = time.perf_counter()
            outcome = self._workspace.use(call.name, call.arguments)
            self._clock += time.perf_counter() - began
            self._append(
                ToolResult(
                    id=self._next(),
                    call_id=call.id,
                    blocks=(Text(outcome.text),),
                    name=call.name,
                    is_error=outcome.is_error,
                    time=self._time(),
                )
            )

    def _append(self, message: Message) -> None:
        self.log.append(MessageEntry(id=message.id, parent=self.log.leaf, message=message))

    def _next(self, letter: str = "m") -> str:
        return f"{letter}{len(self.log) + 1:04}"

    def _time(self) -> float:
        return round(self._clock, 3)
