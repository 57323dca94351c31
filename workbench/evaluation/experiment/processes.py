"""Worker processes on this machine, for one job or for several."""

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextvars import ContextVar

from workbench.evaluation.experiment import forking, memory
from workbench.evaluation.experiment.waiting_tasks import WaitingTasks
from workbench.evaluation.experiment.workers import Result, Task, Workers

PARENT_CHECK = 0.5
"""Seconds between a worker's checks whether its parent is still there."""
DEATHS = 3
"""Workers that a task may take with it, alone with one, before that counts as its own doing."""


class Processes(Workers):
    """Worker processes on this machine, each in a pool of its own, so that one that dies breaks no
    other.

    Each is started when it is needed, lives until the `with` ends, and remembers what it has read:
    it gets the tasks on those recordings again. All are started by the caller's thread: two threads
    that started one at a time have been seen to hang.

    Args:
        size: how many.
        lasts: whether they live on behind the `with`, until `end`; all but those of a job that was
            left while they worked.
    """

    def __init__(self, size: int, *, lasts: bool = False) -> None:
        self.size = size
        self._lasts = lasts
        self._most = memory.share(size)
        self._started: list[Executor] = []
        self._idle: list[Executor] = []
        self._remembered: dict[Executor, deque[str]] = {}

    def each(
        self, evaluate: Callable[[Task], Result], tasks: Sequence[Task], /
    ) -> Iterator[tuple[int, Result | None]]:
        """A dead worker is replaced."""
        waiting = WaitingTasks.of(tasks)
        busy: dict[Future[Result], tuple[int, Executor]] = {}
        ended: list[tuple[int, Future[Result] | None]] = []
        while waiting or busy or ended:
            while waiting and len(busy) < self.size:
                pool = self._idle.pop() if self._idle else self._another()
                place, task = self._task_for(pool, waiting)
                future = _submitted(pool, evaluate, task)
                busy[future] = (place, pool)
            for place, ended_future in ended:
                result = None
                if ended_future is not None:
                    result = ended_future.result()
                yield place, result
            ended = []
            finished = wait(busy, return_when=FIRST_COMPLETED).done
            for future in finished:
                place, pool = busy.pop(future)
                kept_future = self._ended_task(pool, future)
                ended.append((place, kept_future))

    def _task_for(self, pool: Executor, waiting: WaitingTasks[Task]) -> tuple[int, Task]:
        """The task that this worker does next, which then waits no more."""
        remembered = self._remembered.setdefault(pool, deque(maxlen=memory.RECORDINGS))
        elsewhere: set[str] = set()
        for other_pool, recordings in self._remembered.items():
            if other_pool is not pool:
                elsewhere.update(recordings)
        recording = waiting.next_recording(remembered, elsewhere)
        if recording in remembered:
            remembered.remove(recording)
        remembered.append(recording)
        return waiting.take(recording)

    def _alone(self, evaluate: Callable[[Task], Result], task: Task) -> Result | None:
        """Other workers are ended first, with the memory that they hold, and it may take all."""
        self.end()
        self._most = memory.share(1)
        try:
            for _ in range(DEATHS):
                result = super()._alone(evaluate, task)
                if result is not None:
                    return result
            return None
        finally:
            self.end()
            self._most = memory.share(self.size)

    def _ended_task(self, pool: Executor, future: Future[Result]) -> Future[Result] | None:
        """An ended task, its worker idle again; None where the worker died."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        if isinstance(future.exception(), BrokenProcessPool | MemoryError):
            self._started.remove(pool)
            self._remembered.pop(pool, None)
            _kill(pool)
            return None
        self._idle.append(pool)
        return future

    def _another(self) -> Executor:
        """A pool of one process. Loky's: tasks may be defined in a notebook, and a script needs
        no guard.
        """
        from joblib.externals.loky import ProcessPoolExecutor

        pool: Executor
        if forking.is_possible():
            pool = ProcessPoolExecutor(
                1,
                context=forking.context(),
                initializer=_start_forked,
                initargs=(dict(os.environ), self._most),
            )
        else:
            pool = ProcessPoolExecutor(
                1,
                initializer=_start,
                initargs=(os.getpid(), self._most),
                env=forking.ONE_THREAD,
            )
        self._started.append(pool)
        return pool

    def end(self) -> None:
        """End all of them."""
        for pool in self._started:
            _kill(pool)
        self._started = []
        self._idle = []
        self._remembered = {}

    def __exit__(self, *error: object) -> None:
        has_left_tasks = len(self._idle) < len(self._started)
        if has_left_tasks or not self._lasts:
            self.end()


LASTING: ContextVar[dict[int, Processes] | None] = ContextVar("lasting", default=None)
"""By their number the processes that outlive a job; None where each job has its own."""


@contextlib.contextmanager
def lasting_workers() -> Iterator[None]:
    """Let all jobs until the `with` ends share worker processes, which start once and remember the
    recordings.
    """
    if LASTING.get() is not None:
        yield
        return
    lasting: dict[int, Processes] = {}
    token = LASTING.set(lasting)
    try:
        yield
    finally:
        LASTING.reset(token)
        for processes in lasting.values():
            processes.end()


def _submitted(pool: Executor, evaluate: Callable[[Task], Result], task: Task) -> Future[Result]:
    """The task's future, also where the worker has died since its last one."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    try:
        return pool.submit(evaluate, task)
    except BrokenProcessPool as error:
        cause = error
    except (EOFError, ConnectionError) as error:  # what forks workers was killed
        cause = BrokenProcessPool(error)
    lost = Future[Result]()
    lost.set_exception(cause)
    return lost


def _kill(pool: Executor) -> None:
    """End a pool and its process, which loky, told to, has been seen to leave: then the command
    never ended.
    """
    processes_by_id = getattr(pool, "_processes", None) or {}
    processes = list(processes_by_id.values())
    pool.shutdown(wait=False, kill_workers=True)  # type: ignore[call-arg]  # loky's own argument
    for process in processes:
        process.terminate()


def _start(parent: int, byte_limit: float) -> None:
    """Begin a worker that loads all by itself."""

    def wait_for_parent() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_CHECK)

    _begin(wait_for_parent, byte_limit)


def _start_forked(environment: Mapping[str, str], byte_limit: float) -> None:
    """Begin a worker that was forked."""
    forking.take_over(environment)
    _begin(forking.wait_for_parent, byte_limit)


def _begin(wait_for_parent: Callable[[], None], byte_limit: float) -> None:
    """Make this worker end when its parent does, also when that is killed, and take so much
    memory at most.
    """
    from joblib.externals.loky import process_executor

    # Loky takes 300 MB more than at first for a leak and starts another worker; what ours remember
    # is bounded.
    process_executor._USE_PSUTIL = False

    def watch() -> None:
        wait_for_parent()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    memory.bound(byte_limit)
