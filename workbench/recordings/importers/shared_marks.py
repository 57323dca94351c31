"""Files that may hold the same requests: found by their bytes, before anything of them is read."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from workbench.base.errors import FormatError
from workbench.recordings.importers.opening import opened

BYTES = 2 << 20
"""Of the start of a file that are looked at: the head of a session is copied first."""
FEWEST_SHARED = 2
"""Marks that two files must have in common; one may be the id of a parent session."""
MOST_FILES = 50
"""Files that may share a mark; what more of them share tells of a client, not of a request."""

_MARK = re.compile(
    rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?"
    rb'|"(?:[A-Za-z]{2,12}[_-][A-Za-z0-9]{14,}|1[5-9]\d{11})"'
    rb"|:\s?1[5-9]\d{8}(?:\d{3}|\.\d+)(?=[,}\s])"
    rb'|"(?:uu)?id":\s?"[^"]{16,64}"'
)
"""A time, or an id that was drawn by chance."""


def files_with_shared_marks(paths: Sequence[str]) -> list[str]:
    """Those of these files that may hold requests of another one, in their order."""
    marks_of: dict[str, frozenset[int]] = {}
    for path in paths:
        marks_of[path] = _marks(path)
    files_with = Counter[int]()
    for marks in marks_of.values():
        files_with.update(marks)
    suspects: list[str] = []
    for path, marks in marks_of.items():
        if _shared_count(marks, files_with) >= FEWEST_SHARED:
            suspects.append(path)
    return suspects


def _shared_count(marks: Iterable[int], files_with: Counter[int]) -> int:
    """How many of a file's marks a few others have."""
    count = 0
    for mark in marks:
        if 1 < files_with[mark] <= MOST_FILES:
            count += 1
    return count


def _marks(path: str) -> frozenset[int]:
    """The marks in the start of a file; none where it cannot be read."""
    try:
        status = Path(path).stat()
        return _marks_of_version(path, status.st_mtime_ns, status.st_size)
    except (OSError, EOFError, FormatError):
        return frozenset()


@lru_cache(maxsize=10_000)
def _marks_of_version(path: str, changed: int, size: int) -> frozenset[int]:
    """The same, remembered for as long as the file stays as it is."""
    with opened(path) as stream:
        start = stream.read(BYTES)
    marks = set(map(hash, _MARK.findall(start)))
    marks.update((hash(start), hash((start, "equal"))))
    return frozenset(marks)
