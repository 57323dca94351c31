"""Who writes into the folder of a run: one process of a machine at a time, which others can see.

The lock is the system's: it ends with the process, and leaves no file. A system or file system
without such locks keeps nobody out.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import sleep

from workbench.base.errors import SettingError

if sys.platform != "win32":
    import fcntl

_CLAIMS = Counter[Path]()
"""How many claims of this process each folder has."""
_LOCKS: dict[Path, int] = {}
"""The open folders with a lock."""
_COUNTING = Lock()
_TRIES = 5
_PAUSE = 0.05
"""Seconds between tries: whoever asks whether a folder is in use has it for a moment."""


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder until the `with` ends; it may stand in another one.

    Raises:
        SettingError: another process has it.
    """
    place = folder.resolve()
    with _COUNTING:
        if not _CLAIMS[place]:
            _take_lock(folder, place)
        _CLAIMS[place] += 1
    try:
        yield
    finally:
        with _COUNTING:
            _CLAIMS[place] -= 1
            if not _CLAIMS[place]:
                _give_back(place)


def in_use(folder: Path) -> bool | None:
    """Whether a process writes into a folder; None where nobody can tell."""
    if _CLAIMS[folder.resolve()]:
        return True
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return False


def _take_lock(folder: Path, place: Path) -> None:
    """Lock a folder where there are locks.

    Raises:
        SettingError: another process has it.
    """
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        is_locked = _locked(descriptor)
    except OSError:  # such as a network's file system, which has no locks
        os.close(descriptor)
        return
    if not is_locked:
        os.close(descriptor)
        raise SettingError(
            f"another process is writing a run into {folder}; wait for its end, or name another"
            " folder with `out`"
        )
    _LOCKS[place] = descriptor


def _locked(descriptor: int) -> bool:
    """Lock an open folder; whether that succeeded within some tries.

    Raises:
        OSError: its file system has no locks.
    """
    for _ in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sleep(_PAUSE)
        else:
            return True
    return False


def _give_back(place: Path) -> None:
    """Give a lock back, also where a forked worker still has the folder open."""
    descriptor = _LOCKS.pop(place, None)
    if descriptor is None or sys.platform == "win32":
        return
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
