"""Who does the work of a run: this process, processes beside it, or a cluster.

What dies with a worker is its own task and nothing else; the caller learns which one, and may give it out again.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Task = TypeVar("Task")
Result = TypeVar("Result")

LOOKING = 0.5
"""Seconds between a worker's looks at whether its parent is still there."""

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
"""Workers share the machine's cores: none of them may start a thread a core."""


class Death(Enum):
    """Stands for the result of a task whose worker died before it had one."""

    DIED = "died"


DIED = Death.DIED


class Workers(Protocol):
    """Does tasks somewhere; `with` ends it."""

    @property
    def size(self) -> int:
        """How many tasks are done at a time."""
        ...

    def each(self, what: Callable[[Task], Result], tasks: Sequence[Task], /) -> Iterator[tuple[int, Result | Death]]:
        """Each task's place and result, in the order in which they are done; an error of a task is raised."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


class Here:
    """This process, one task after the other."""

    size = 1

    def each(self, what: Callable[[Task], Result], tasks: Sequence[Task], /) -> Iterator[tuple[int, Result | Death]]:
        """In order."""
        for place, task in enumerate(tasks):
            yield place, what(task)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to end."""


class Processes:
    """Worker processes on this machine, each in a pool of its own, so that one that dies breaks no other's.

    They live until the `with` ends, and remember what they have read.

    Args:
        size: processes at most, each started when it is needed.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._idle: list[Executor] = []
        self._busy: dict[Future[Any], tuple[int, Executor]] = {}

    def each(self, what: Callable[[Task], Result], tasks: Sequence[Task], /) -> Iterator[tuple[int, Result | Death]]:
        """As they are done; a dead worker is replaced, and its task's result is `DIED`."""
        from concurrent.futures import FIRST_COMPLETED, wait

        from joblib.externals.loky.process_executor import BrokenProcessPool

        waiting = deque(enumerate(tasks))
        while waiting or self._busy:
            while waiting and len(self._busy) < self.size:
                place, task = waiting.popleft()
                future, pool = self._given(what, task)
                self._busy[future] = (place, pool)
            for future in wait(self._busy, return_when=FIRST_COMPLETED).done:
                place, pool = self._busy.pop(future)
                try:
                    result: Result | Death = future.result()
                except BrokenProcessPool:
                    result = DIED
                    _end(pool)
                else:
                    self._idle.append(pool)
                yield place, result

    def _given(self, what: Callable[[Task], Result], task: Task) -> tuple[Future[Result], Executor]:
        """The task in the hands of an idle worker, or of a new one."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        while self._idle:
            pool = self._idle.pop()
            try:
                return pool.submit(what, task), pool
            except BrokenProcessPool:  # it died while it had nothing to do
                _end(pool)
        pool = _pool()
        return pool.submit(what, task), pool

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for pool in (*self._idle, *(pool for _, pool in self._busy.values())):
            _end(pool)


def _pool() -> Executor:
    """A pool of one process. Loky's: what it is given may be defined in a notebook, and a script needs no guard."""
    from joblib.externals.loky import ProcessPoolExecutor

    made: Executor = ProcessPoolExecutor(1, initializer=_begin, initargs=(os.getpid(),), env=ONE_THREAD)
    return made


def _begin(parent: int) -> None:
    """What a worker does first."""
    from joblib.externals.loky import process_executor

    # Loky takes 300 MB more than at first for a leak and starts another worker; what ours remember is bounded.
    process_executor._USE_PSUTIL = False
    _leave_with(parent)


def _end(pool: Executor) -> None:
    pool.shutdown(wait=False, kill_workers=True)  # type: ignore[call-arg]  # loky's own argument


def _leave_with(parent: int) -> None:
    """Make this worker end when its parent does, also when that is killed: nobody would want its results."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(LOOKING)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()
