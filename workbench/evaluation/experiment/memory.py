"""How much of this machine's memory a worker may take, and how much the recordings will need."""

import os
import warnings
from collections.abc import Iterable
from pathlib import Path

from workbench.base.errors import MemoryShort, SettingError
from workbench.evaluation.experiment.sources import SessionSource
from workbench.recordings.importers.opening import PACKED_ENDINGS

WORKER = 500_000_000
"""Bytes that must be there for each worker, where nobody says how many to start."""
LEAST = 1_000_000_000
"""Bytes that any worker may take, however many share the machine: less would not hold the
libraries.
"""
TIMES, PACKED = 60, 8
"""Bytes that a replay takes for each byte of its recording, and what a packed file unpacks to:
as measured.
"""
RECORDINGS = 8
"""Recordings that a process keeps in memory once read and extracted: further work on them often
goes to it.
"""
ADDRESSES = 1_000_000_000, 32_000_000
"""Bytes of addresses that a process takes which has workers, and for each of them, as `ulimit
-v` counts them.
"""
CGROUP = Path("/sys/fs/cgroup/memory.max")


def of_machine() -> float:
    """Bytes of memory here, or in this container; infinite where the system does not say."""
    try:
        machine_bytes = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return float("inf")
    try:
        return min(machine_bytes, float(CGROUP.read_text(encoding="ascii")))
    except (OSError, ValueError):  # no container, or one without a limit
        return machine_bytes


def needed(sources: Iterable[SessionSource]) -> tuple[float, str]:
    """Bytes that the largest source will need, and its name."""
    largest = (WORKER, "")
    for source in sources:
        need = WORKER + TIMES * unpacked_bytes(source)
        largest = max(largest, (need, source.name))
    return largest


def unpacked_bytes(source: SessionSource) -> int:
    """About how many bytes a recording has, unpacked; 0 for a session in memory."""
    if source.name.endswith(PACKED_ENDINGS):
        return PACKED * source.bytes
    return source.bytes


def share(size: int) -> float:
    """Bytes that each of so many workers may take."""
    return max(of_machine() / size, LEAST)


def tell(need: float, name: str, size: int) -> None:
    """Warn where a source will need more than a worker may take, before it does."""
    if need > share(size):
        limit = "this machine has"
        advice = ""
        if size > 1:
            limit = f"each of {size} workers may take"
            advice = "; take fewer --jobs"
        text = (
            f"{name} needs about {need / 1e9:.1f} GB of memory, and {limit} {share(size) / 1e9:.1f}"
            f" GB{advice}"
        )
        warnings.warn(text, MemoryShort, stacklevel=2)


def bound(byte_limit: float) -> None:
    """Let this process take no more than that: what would take it further is a MemoryError."""
    try:
        import resource
    except ImportError:  # no Unix
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if byte_limit < float("inf") and hard == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_DATA, (int(byte_limit), hard))


def leaves_room(size: int) -> None:
    """Nothing where the shell lets a process have so many workers.

    Raises:
        SettingError: its limit leaves no room for them.
    """
    limit, needed_bytes = _addresses(), ADDRESSES[0] + ADDRESSES[1] * size
    if limit < needed_bytes:
        raise SettingError(
            f"a process may take {limit / 1e6:,.0f} MB here (`ulimit -v`), and one with {size}"
            f" workers takes {needed_bytes / 1e6:,.0f} MB; raise the limit, or take 1 job"
        )


def _addresses() -> float:
    """Bytes of addresses that a process may take; infinite where nothing limits it."""
    try:
        import resource
    except ImportError:  # no Unix
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return float("inf") if limit == resource.RLIM_INFINITY else limit
