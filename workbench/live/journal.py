"""A file that holds a compactor: in the first line the whole, and in each further line what changed
since the line before.

A line is on the disk before the call returns. A process that is killed in the middle of a line
leaves all lines before it; the torn one is not read. The whole is written to another file, which
then takes the place of the first, so that one of them is whole at any time.
"""

import json
import os
from pathlib import Path

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json
from workbench.live.recorder import Recorder
from workbench.live.saved_changes import document_of

GROWTH = 4
"""What was saved is written anew once it is so many times as large as a whole record."""

LEAST_BYTES = 1_000_000
"""Less is not written anew."""

UNKNOWN = -1


class Journal:
    """Writes one compactor to one file.

    Attributes:
        path: of the file.
    """

    def __init__(self, path: Path, recorder: Recorder) -> None:
        self.path = path
        self._recorder = recorder
        self._size = UNKNOWN  # of the file, as it was left by the last call
        self._largest_size = 0

    def save(self) -> None:
        """Write what changed since the last call; the whole, where the file does not hold that.

        Raises:
            OSError: the file could not be written. The next call writes the whole.
        """
        size, self._size = self._size, UNKNOWN
        if size == UNKNOWN or size > self._largest_size or size != _size_of(self.path):
            self._size = self._write_whole()
            self._largest_size = largest_size(self._size)
            return
        changes = self._recorder.changes_text()
        if changes is not None:
            size += self._append(_as_line(changes))
        self._size = size

    def _write_whole(self) -> int:
        """Write the whole in the place of the file; its size."""
        line = _as_line(self._recorder.whole_text())
        new = self.path.with_name(self.path.name + ".new")
        with new.open("wb") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)
        _sync_folder(self.path.parent)
        return len(line)

    def _append(self, line: bytes) -> int:
        """Add a line to the file; its size."""
        with self.path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        return len(line)


def read_journal(path: Path) -> dict[str, Json]:
    """The document that a file holds, without the line that was being written when the process
    ended.

    Raises:
        OSError: the file cannot be read.
        FormatError: a line before the last one is damaged.
    """
    first_line, *lines = path.read_bytes().split(b"\n")
    records = [_record(first_line, 1, path)]
    lines = lines[:-1]  # behind the last line's end there is nothing, or a torn line
    for number, line in enumerate(lines, 2):
        try:
            records.append(_record(line, number, path))
        except FormatError:
            if number - 1 < len(lines):
                raise
    return document_of(records)


def _record(line: bytes, number: int, path: Path) -> Json:
    try:
        return json.loads(line)
    except ValueError:
        objection = "no line of a file that `Compactor.save_to` wrote"
        raise FormatError(objection, where=f"{path}, line {number}") from None


def largest_size(whole_size: int) -> int:
    """Bytes up to which changes are added to a whole record of so many bytes."""
    return max(GROWTH * whole_size, LEAST_BYTES)


def line_of(record: Json) -> bytes:
    """A record as a line of a file."""
    return _as_line(json.dumps(record, separators=(",", ":")))


def _as_line(text: str) -> bytes:
    return text.encode() + b"\n"


def _size_of(path: Path) -> int:
    """Bytes of the file; unknown where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return UNKNOWN


def _sync_folder(folder: Path) -> None:
    """Make sure that a file's new name is on the disk, where the system can say so."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
