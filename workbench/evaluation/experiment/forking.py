"""Worker processes that are forked, on Linux, from one that has loaded what they need.

That one, the fork server, starts with the first worker and ends with this process. It has a single
thread and nothing of a run: no lock, no socket, no file. So a fork of it is whole, whatever threads
this process has.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from multiprocessing import forkserver, parent_process, popen_forkserver, spawn, util
from multiprocessing.context import ForkServerProcess, set_spawning_popen
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from joblib.externals.loky.backend.context import LokyContext

PRELOADED = "workbench.evaluation.experiment.preloaded"
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
"""Workers share the machine's cores: none of them may start a thread a core."""

MARK = "of-workbench"
"""A file beside the fork server's socket, locked for as long as its process lives."""


def is_possible() -> bool:
    """Whether workers can be forked here. A fork of macOS's own libraries may crash; Windows has
    none.
    """
    if sys.platform != "linux":
        return False
    try:
        _server(os.getpid()).ensure_running()
    except OSError:  # such as a temporary folder whose path is too long for a socket
        return False
    return True


def context() -> LokyContext:
    """Loky's locks and queues, for processes that the fork server starts."""
    from joblib.externals.loky.backend.context import LokyContext

    loky = LokyContext()
    loky.Process = ForkedProcess
    return loky


class ForkedProcess(ForkServerProcess):
    """A process that the fork server starts."""

    @staticmethod
    def _Popen(process: BaseProcess) -> StartedProcess:
        return StartedProcess(process)


class StartedProcess(popen_forkserver.Popen):
    """Starts a process, and knows how it ended.

    It is Python's own, but for two things: the fork server is ours, and the user's script is not run
    again, so it needs no guard. What that defines comes with the tasks.
    """

    def __init__(self, process: BaseProcess) -> None:
        self._handed_on: list[int] = []
        super().__init__(process)

    def duplicate_for_child(self, fd: int) -> int:
        """The place of a file among those that the process gets."""
        self._handed_on.append(fd)
        return len(self._handed_on) - 1

    def _launch(self, process: BaseProcess) -> None:
        preparation = spawn.get_preparation_data(process.name)
        for script in ("init_main_from_name", "init_main_from_path"):
            preparation.pop(script, None)
        buffer = io.BytesIO()
        set_spawning_popen(self)
        try:
            ForkingPickler(buffer).dump(preparation)
            ForkingPickler(buffer).dump(process)
        finally:
            set_spawning_popen(None)
        server = _server(os.getpid())
        self.sentinel, data_end = server.connect_to_new_process(self._handed_on)
        parent_end = os.dup(data_end)  # its other end tells the process when this one ends
        self.finalizer = util.Finalize(self, _close, (parent_end, self.sentinel))
        with os.fdopen(data_end, "wb") as file:
            file.write(buffer.getbuffer())
        self.pid = forkserver.read_signed(self.sentinel)


class SameModulesServer(forkserver.ForkServer):
    """A fork server that finds each module where this process does, whatever lies in its working
    folder.
    """

    _mark: BinaryIO | None = None

    def ensure_running(self) -> None:
        """Start it where it does not run."""
        if self._mark is None:
            _remove_folders_of_killed_processes()
            self._mark = _mark_own_folder()
        with _variables(PYTHONPATH=os.pathsep.join(filter(None, sys.path)), PYTHONSAFEPATH="1"):
            super().ensure_running()


def _mark_own_folder() -> BinaryIO:
    """The open and locked mark in the folder where Python puts the socket; Python removes the
    folder when this process ends, unless it is killed.
    """
    from fcntl import LOCK_SH, flock

    mark = (Path(util.get_temp_dir()) / MARK).open("ab")
    flock(mark, LOCK_SH)
    return mark


def _remove_folders_of_killed_processes() -> None:
    """Remove the folders whose marks nobody holds any more."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    for path in Path(tempfile.gettempdir()).glob(f"pymp-*/{MARK}"):
        try:
            with path.open("ab") as mark:
                flock(mark, LOCK_EX | LOCK_NB)
        except OSError:  # its process lives, or is another user's
            continue
        shutil.rmtree(path.parent, ignore_errors=True)


@contextmanager
def _variables(**values: str) -> Iterator[None]:
    """Have these variables in the environment of what is started inside."""
    earlier = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in earlier.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@lru_cache(maxsize=1)
def _server(process_id: int) -> SameModulesServer:
    """The fork server of this process, which a fork of this process does not share."""
    server = SameModulesServer()
    server.set_forkserver_preload([PRELOADED])
    return server


def _close(*files: int) -> None:
    for file in files:
        os.close(file)


def take_over(environment: Mapping[str, str]) -> None:
    """Take the environment of the process that wanted this one, as the fork server's may be older,
    and random numbers of one's own, as all of its forks would draw the same.
    """
    from numpy import random

    os.environ.clear()
    os.environ.update(environment)
    os.environ.update(ONE_THREAD)
    random.seed()  # Python's own generator does so by itself


def wait_for_parent() -> None:
    """Return when the process that wanted this one has ended, in whatever way."""
    parent = parent_process()
    if parent is not None:
        parent.join()
