"""Watches what the processes of a trial take, and ends them where it is more than they may."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from workbench.lab.trials.helper import descendants

MOST_MEMORY = 750_000_000
"""Bytes of a trial: the memory of its processes, and its disks, which are in memory. A process that
grows as fast as it can takes some more before it is ended."""
MOST_PROCESSES = 64
TICK_SECONDS = 0.02
INODE_BYTES = 1_500
"""What the kernel takes for a file, however small, about."""
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a trial takes.

    Attributes:
        memory: bytes.
        processes: how many.
    """

    memory: int = 0
    processes: int = 0

    def or_more(self, usage: "Usage") -> "Usage":
        """The larger one of each figure."""
        memory = max(self.memory, usage.memory)
        processes = max(self.processes, usage.processes)
        return Usage(memory, processes)


class Watchdog(Thread):
    """Looks at the processes of a trial fifty times a second.

    Args:
        pid: the process that started the others.
        disks: open folders, one on each file system that the agent can write.
        end: is called with a reason where they take too much.
    """

    def __init__(self, pid: int, disks: Sequence[int], end: Callable[[str], None]) -> None:
        super().__init__(name=f"watchdog of {pid}", daemon=True)
        self.peak = Usage()
        self._pid = pid
        self._disks = disks
        self._end = end
        self._stopped = Event()

    def run(self) -> None:
        """Look until it is stopped."""
        while not self._stopped.wait(TICK_SECONDS):
            usage = self._usage()
            self.peak = usage.or_more(self.peak)
            if usage.memory > MOST_MEMORY:
                megabytes = MOST_MEMORY // 1_000_000
                return self._end(f"it took more than {megabytes} MB of memory and disk")
            if usage.processes > MOST_PROCESSES:
                return self._end(f"it started more than {MOST_PROCESSES} processes")

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()
        self.join()

    def _usage(self) -> Usage:
        pids = [self._pid, *descendants(self._pid)]
        disk = sum(map(_disk_bytes, self._disks))
        memory = disk + sum(map(resident_bytes, pids))
        if memory > MOST_MEMORY:  # pages that processes share count once
            memory = disk + sum(map(own_bytes, pids))
        return Usage(memory, len(pids))


def _disk_bytes(folder: int) -> int:
    """What a file system in memory takes; nothing where it cannot be told."""
    with suppress(OSError):
        status = os.fstatvfs(folder)
        used_blocks = status.f_blocks - status.f_bfree
        files = status.f_files - status.f_ffree
        return used_blocks * status.f_frsize + files * INODE_BYTES
    return 0


def resident_bytes(pid: int) -> int:
    """The memory of a process, all that it shares with others included."""
    with suppress(OSError, ValueError, IndexError):
        sizes = Path(f"/proc/{pid}/statm").read_text("utf-8").split()
        return int(sizes[1]) * PAGE
    return 0


def own_bytes(pid: int) -> int:
    """The memory of a process and its part of what it shares; all of it where that is not told."""
    with suppress(OSError, ValueError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8")
        for line in text.splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1_024
    return resident_bytes(pid)
