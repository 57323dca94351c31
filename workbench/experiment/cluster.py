"""The work of a run on a Dask cluster: the same functions, the same files, other machines."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

from workbench.errors import SetupError
from workbench.experiment.keys import code_version
from workbench.experiment.workers import DIED, Death, Here, Processes, Result, Task, Workers

TIMEOUT = 10
"""Seconds to wait for the scheduler's first word."""

PATIENCE = 60.0
"""Seconds that a cluster may have no worker at all before a run ends."""

_LOOKING = 0.05
"""Seconds between looks at what is done."""

_ALONE = threading.Lock()
"""A worker may have many threads, but a process has one current folder; and replays are Python, which gains nothing."""


def workers(jobs: int | None, scheduler: str | None = None) -> Workers:
    """The workers of a run: a Dask cluster, or this many processes, or this process alone.

    Args:
        jobs: processes; None starts one per core.
        scheduler: address of a Dask scheduler, which comes first.
    """
    if scheduler is not None:
        return Cluster(scheduler)
    return Here() if jobs == 1 else Processes(jobs or os.cpu_count() or 1)


class Cluster:
    """A Dask cluster whose workers see this machine's files under the same paths.

    Args:
        address: of its scheduler, such as `tcp://10.0.0.1:8786`.

    Raises:
        SetupError: Dask is not installed, or no scheduler answers.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise SetupError("a Dask cluster needs distributed: pip install 'compaction-workbench[dask]'") from None
        try:
            self._client: Client = Client(address, timeout=TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise SetupError(f"no Dask scheduler answers at {address!r}: {_short(error)}") from None
        self._address = address

    @property
    def size(self) -> int:
        """How many workers there are now."""
        return max(len(self._client.ncores()), 1)

    def each(self, what: Callable[[Task], Result], tasks: Sequence[Task], /) -> Iterator[tuple[int, Result | Death]]:
        """As they are done. Dask itself gives a dead worker's task to another, and gives up after some deaths.

        Raises:
            SetupError: a worker has another version of the workbench, or does not see this folder; the cluster has no
                workers for a minute, or its scheduler goes away.
        """
        from distributed import CancelledError, KilledWorker, as_completed

        version, folder = code_version(), str(Path.cwd())
        places = {
            self._client.submit(_there, what, task, folder, version, pure=False): place
            for place, task in enumerate(tasks)
        }
        self._seen = self._next_look = time.monotonic()
        done = as_completed(list(places), loop=self._client.loop)
        while not done.is_empty():
            ready = done.next_batch(block=False)
            if ready:
                self._seen = time.monotonic()
            else:
                self._look()
                time.sleep(_LOOKING)
            for future in ready:
                try:
                    result: Result | Death = future.result()
                except KilledWorker:
                    result = DIED
                except CancelledError:
                    raise self._ended("its scheduler went away") from None
                except RuntimeError as error:
                    if "deserialization" not in str(error):
                        raise
                    raise SetupError(
                        f"the Dask cluster at {self._address!r} cannot read what it is given; its scheduler and "
                        "workers need the same packages as this machine, and the module of a strategy of your own"
                    ) from None
                yield places.pop(future), result

    def _look(self) -> None:
        """Whether anybody is there who could go on."""
        now = time.monotonic()
        if now < self._next_look:  # asking costs a round trip
            return
        self._next_look = now + PATIENCE / 12
        try:
            if self._client.ncores():
                self._seen = now
        except (OSError, TimeoutError):
            raise self._ended("its scheduler went away") from None
        if now - self._seen > PATIENCE:
            raise self._ended(f"it has had no worker for {PATIENCE:.0f} s")

    def _ended(self, why: str) -> SetupError:
        return SetupError(
            f"the Dask cluster at {self._address!r} cannot finish the run: {why}; what is done is kept, and the same "
            "command goes on from there once workers answer again"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()


def _there(what: Callable[[Task], Result], task: Task, folder: str, version: str) -> Result:
    """Do it on a worker, in the folder in which the command was given, so that paths mean the same."""
    if code_version() != version:
        raise SetupError("a worker of the cluster has another version of the workbench; install the same on all")
    with _ALONE:
        try:
            inside = contextlib.chdir(folder)
            inside.__enter__()
        except OSError:
            raise SetupError(
                f"a worker of the cluster has no folder {folder}; workers must see this machine's files under the "
                "same paths"
            ) from None
        try:
            return what(task)
        finally:
            inside.__exit__(None, None, None)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
