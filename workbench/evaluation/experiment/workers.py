"""Executors of a run: this process, processes beside it, or a Dask cluster.

When a worker dies, only its own task is lost; the caller learns which one, or has it done again
while nothing else is.
"""

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from workbench.base.errors import SetupError
from workbench.evaluation.experiment import memory
from workbench.evaluation.experiment.code_versions import source_digest
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.waiting_tasks import WaitingTasks

Task = TypeVar("Task")
Result = TypeVar("Result")

PARENT_CHECK = 0.5
"""Seconds between a worker's checks whether its parent is still there."""
TIMEOUT = 10
"""Seconds to wait for the first answer of a Dask scheduler."""
PATIENCE = 60.0
"""Seconds that a cluster may have no worker at all before a run ends."""
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
"""Workers share the machine's cores: none of them may start a thread a core."""
RANGES_A_WORKER = 16
"""Ranges of tasks that each worker of a cluster gets at least, where there are so many tasks."""
LONGEST_RANGE = 100
"""Tasks of a range at most."""
DEATHS = 3
"""Workers that a task may take with it, alone with one, before that counts as its own doing."""
_IN_FOLDER = threading.Lock()
"""A worker may have many threads, but a process has one current folder."""


class Workers(contextlib.AbstractContextManager["Workers"]):
    """Does tasks in this process, one after the other; others do them elsewhere. `with` ends it."""

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


def workers(
    jobs: int | None,
    scheduler: str | None = None,
    sources: Sequence[SessionSource] = (),
    *,
    is_in_store: bool = False,
) -> Workers:
    """The workers of a run: those of a Dask scheduler, or so many processes (1: this one).

    None starts one per core, or fewer where this machine has not the memory for each that the
    largest source needs. Each of several may take its share of the memory and no more; where that
    will not do for a source, it is told first. Where all is in a store (`is_in_store`), a cluster
    needs no folder of this machine.

    Raises:
        SettingError: the shell's limit on a process's memory leaves no room for so many.
    """
    if scheduler is not None:
        return Cluster(scheduler, needs_folder=not is_in_store)
    need, largest = memory.needed(sources)
    size = jobs or _workers_with_memory(need)
    memory.tell(need, largest, size)
    if size == 1:
        return Workers()
    memory.leaves_room(size)
    lasting = _LASTING.get()
    if lasting is None:
        return Processes(size)
    if size not in lasting:
        lasting[size] = Processes(size, lasts=True)
    return lasting[size]


def _workers_with_memory(need: float) -> int:
    """One for each core, or fewer where the memory is not enough for so much each."""
    cores = os.cpu_count() or 1
    fitting = memory.of_machine() // need
    return int(min(cores, max(fitting, 1)))


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

        pool: Executor = ProcessPoolExecutor(
            1,
            initializer=_start,
            initargs=(os.getpid(), self._most),
            env=ONE_THREAD,
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


_LASTING: ContextVar[dict[int, Processes] | None] = ContextVar("lasting", default=None)
"""By their number the processes that outlive a job; None where each job has its own."""


@contextlib.contextmanager
def lasting_workers() -> Iterator[None]:
    """Let all jobs until the `with` ends share worker processes, which start once and remember the
    recordings.
    """
    if _LASTING.get() is not None:
        yield
        return
    lasting: dict[int, Processes] = {}
    token = _LASTING.set(lasting)
    try:
        yield
    finally:
        _LASTING.reset(token)
        for processes in lasting.values():
            processes.end()


def _submitted(pool: Executor, evaluate: Callable[[Task], Result], task: Task) -> Future[Result]:
    """The task's future, also where the worker has died since its last one."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    try:
        return pool.submit(evaluate, task)
    except BrokenProcessPool as error:
        lost = Future[Result]()
        lost.set_exception(error)
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
    """Make this worker end when its parent does, also when that is killed, and take so much
    memory at most.
    """
    from joblib.externals.loky import process_executor

    # Loky takes 300 MB more than at first for a leak and starts another worker; what ours remember
    # is bounded.
    process_executor._USE_PSUTIL = False

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_CHECK)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    memory.bound(byte_limit)


def task_ranges(task_count: int, worker_count: int) -> list[range]:
    """The places of so many tasks in ranges: some for each worker, so that all end at about one
    time.
    """
    range_count = worker_count * RANGES_A_WORKER
    length = max(task_count // range_count, 1)
    length = min(length, LONGEST_RANGE)
    ranges: list[range] = []
    for start in range(0, task_count, length):
        end = min(start + length, task_count)
        ranges.append(range(start, end))
    return ranges


class Cluster(Workers):
    """A Dask cluster whose workers see this machine's files under the same paths, where they need
    any. Each of its tasks is a range of those given, so that its scheduler has few.

    Raises:
        SetupError: Dask is not installed, or no scheduler answers.
    """

    def __init__(self, address: str, *, needs_folder: bool = True) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise SetupError(
                "a Dask cluster needs distributed: pip install 'compaction-workbench[dask]'"
            ) from None
        try:
            self._client: Client = Client(address, timeout=TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            explanation = " ".join(str(error).split())[:200] or type(error).__name__
            raise SetupError(f"no Dask scheduler answers at {address!r}: {explanation}") from None
        self._address = address
        self._folder = str(Path.cwd()) if needs_folder else ""
        self.size = max(len(self._client.ncores()), 1)

    def each(
        self, evaluate: Callable[[Task], Result], tasks: Sequence[Task], /
    ) -> Iterator[tuple[int, Result | None]]:
        """Dask itself gives a dead worker's task to another, and gives up after some deaths.

        Raises:
            SetupError: a worker has another version of the workbench, or does not see this folder;
                the cluster has no workers for a minute, or its scheduler goes away.
        """
        pool = self._client.get_executor(pure=False)
        version = source_digest()
        pending: dict[Future[list[Result]], range] = {}
        for places in task_ranges(len(tasks), self.size):
            range_tasks = tasks[places.start : places.stop]
            future = pool.submit(_on_worker, evaluate, range_tasks, self._folder, version)
            pending[future] = places
        last_seen = time.monotonic()
        while pending:
            finished = wait(pending, timeout=PATIENCE / 12, return_when=FIRST_COMPLETED).done
            if finished or self._has_workers():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > PATIENCE:
                raise self._ended(f"it has had no worker for {PATIENCE:.0f} s")
            for future in finished:
                places = pending.pop(future)
                results = self._result(future)
                for index, place in enumerate(places):
                    yield place, None if results is None else results[index]

    def _has_workers(self) -> bool:
        try:
            return bool(self._client.ncores())
        except (OSError, TimeoutError):
            raise self._ended("its scheduler went away") from None

    def _result(self, future: Future[Any]) -> Any:  # noqa: ANN401 - whatever the task gives
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker:
            return None
        except CancelledError:
            raise self._ended("its scheduler went away") from None
        except RuntimeError as error:
            if "deserialization" not in str(error):
                raise
            raise SetupError(
                f"the Dask cluster at {self._address!r} cannot read its tasks; install on its"
                " scheduler and workers the same packages as on this machine, with the module of a"
                " strategy of your own"
            ) from None

    def _ended(self, cause: str) -> SetupError:
        return SetupError(
            f"the Dask cluster at {self._address!r} cannot finish the run: {cause}; finished work is"
            " kept, and the same command continues from there once workers answer again"
        )

    def __exit__(self, *error: object) -> None:
        self._client.close()


def _on_worker(
    evaluate: Callable[[Task], Result], tasks: Sequence[Task], folder: str, version: str
) -> list[Result]:
    """Do them on a worker, in the folder of the command, so that paths mean the same; an empty one
    is not needed.
    """
    if source_digest() != version:
        raise SetupError(
            "a worker of the cluster has another version of the workbench; install the same on all"
        )
    if not folder:
        return [evaluate(task) for task in tasks]
    if not Path(folder).is_dir():
        raise SetupError(
            f"a worker of the cluster has no folder {folder}; workers must see this machine's files"
            " under the same paths, or all recordings and the run's folder lie in a store"
        )
    with _IN_FOLDER, contextlib.chdir(folder):
        return [evaluate(task) for task in tasks]
