"""Tasks that wait for workers: each worker gets those on recordings that it remembers first."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from workbench.evaluation.experiment.sources import SessionSource

Task = TypeVar("Task")


@dataclass(frozen=True, slots=True)
class WaitingTasks(Generic[Task]):
    """Tasks with their places, by the name of the recording that each reads; empty where it reads
    none.
    """

    by_recording: dict[str, deque[tuple[int, Task]]]

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> Self:
        """All of these, in their order."""
        by_recording: dict[str, deque[tuple[int, Task]]] = {}
        for place, task in enumerate(tasks):
            waiting = by_recording.setdefault(_recording(task), deque())
            waiting.append((place, task))
        return cls(by_recording)

    def __bool__(self) -> bool:
        return bool(self.by_recording)

    def next_recording(self, remembered: Collection[str], elsewhere: Collection[str]) -> str:
        """The recording that a worker is to work on; one at least waits.

        Args:
            remembered: recordings that it has in memory: they come first.
            elsewhere: recordings that other workers have in memory: they come last.
        """
        for recording in remembered:
            if recording in self.by_recording:
                return recording
        for recording in self.by_recording:
            if recording not in elsewhere:
                return recording
        return next(iter(self.by_recording))

    def take(self, recording: str) -> tuple[int, Task]:
        """The first task on a recording, which then waits no more."""
        waiting = self.by_recording[recording]
        numbered_task = waiting.popleft()
        if not waiting:
            del self.by_recording[recording]
        return numbered_task


def _recording(task: object) -> str:
    source = getattr(task, "source", task)
    return source.name if isinstance(source, SessionSource) else ""
