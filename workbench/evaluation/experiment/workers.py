"""What does the tasks of a job: this process; `processes` and `cluster` do them elsewhere.

When a worker dies, only its own task is lost; the caller learns which one, or has it done again
while nothing else is.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Workers(contextlib.AbstractContextManager["Workers"]):
    """Does tasks in this process, one after the other. `with` ends it."""

    size = 1
    """How many tasks are done at a time."""

    def each(
        self, evaluate: Callable[[Task], Result], tasks: Sequence[Task], /
    ) -> Iterator[tuple[int, Result | None]]:
        """Each task's place and result in the order of completion; errors are raised.

        The result is None where its worker died, or memory ran out.
        """
        for place, task in enumerate(tasks):
            try:
                result = evaluate(task)
            except MemoryError:
                yield place, None
            else:
                yield place, result

    def surely(
        self, what: Callable[[Task], Result], tasks: Sequence[Task], /
    ) -> Iterator[tuple[int, Result | None]]:
        """As `each`, but where a worker died its task is done again alone, in the end; None where
        that kills too.

        So a worker that was killed from outside, or for memory that others took, loses nothing.
        """
        lost = []
        for place, result in self.each(what, tasks):
            if result is None:
                lost.append(place)
            else:
                yield place, result
        for place in lost:
            yield place, self._alone(what, tasks[place])

    def _alone(self, evaluate: Callable[[Task], Result], task: Task) -> Result | None:
        """A task's result, done while no other is; None where its worker died too often."""
        ((_, result),) = self.each(evaluate, (task,))
        return result

    def __exit__(self, *error: object) -> None:
        """Nothing to end."""
