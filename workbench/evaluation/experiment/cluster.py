"""Workers of a Dask cluster."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from pathlib import Path
from typing import Any

from workbench.base.errors import SetupError
from workbench.evaluation.experiment.code_versions import source_digest
from workbench.evaluation.experiment.workers import Result, Task, Workers

TIMEOUT = 10
"""Seconds to wait for the first answer of a Dask scheduler."""
PATIENCE = 60.0
"""Seconds that a cluster may have no worker at all before a run ends."""
RANGES_A_WORKER = 16
"""Ranges of tasks that each worker of a cluster gets at least, where there are so many tasks."""
LONGEST_RANGE = 100
"""Tasks of a range at most."""
_IN_FOLDER = threading.Lock()
"""A worker may have many threads, but a process has one current folder."""


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
