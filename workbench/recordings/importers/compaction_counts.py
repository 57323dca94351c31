"""How many compactions the session files of an agent record, counted within a bound of time and
without reading a session: a line that names one is a record of it, as the format's importer has it.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from workbench.recordings.importers.values import Record, first_value

OPENCODE_DATABASE = "opencode_database"
BLOCK = 1 << 20
"""Bytes that are read between two looks at the clock."""
STEPS_A_LOOK = 100_000
"""Steps of a database between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Mark:
    """By what a record of a compaction is known, in a format of JSON lines.

    Attributes:
        field: of the record.
        value: that it has there.
        succeeded: a field that is false where the compaction failed.
    """

    field: str
    value: str
    succeeded: str = ""

    def is_on(self, record: Record) -> bool:
        """Whether this is the record of a compaction."""
        if record.get(self.field) != self.value:
            return False
        return not self.succeeded or first_value(record, self.succeeded) is not False


MARKS: Mapping[str, Mark] = {
    "claude_code": Mark("subtype", "compact_boundary"),
    "codex": Mark("type", "compacted"),
    "copilot_cli": Mark("type", "session.compaction_complete", succeeded="data/success"),
    "droid": Mark("type", "compaction_state"),
    "kimi_code": Mark("type", "context.apply_compaction"),
    "kiro_lines": Mark("kind", "Compaction"),
    "pi": Mark("type", "compaction"),
    "qwen_code": Mark("subtype", "chat_compression"),
}
"""By format. Others record none, or tell one only to who reads the whole session."""
SUMMARIES = """SELECT id, data FROM message WHERE data LIKE '%"summary":true%'"""
"""Of a database of OpenCode, the answers that are summaries, finished or not."""


@dataclass(frozen=True, slots=True)
class CompactionCount:
    """The compactions that were counted in an agent's files.

    Attributes:
        compactions: their number; a copy of one in another file counts once.
        files: of the newest, how many were read to their end.
        all_files: the number of files.
    """

    compactions: int
    files: int
    all_files: int

    @property
    def is_complete(self) -> bool:
        """Whether each file was read to its end."""
        return self.files == self.all_files


class OutOfTime(Exception):
    """The bound of time is reached."""


def count_compactions(format: str, files: Sequence[Path], seconds: float) -> CompactionCount | None:
    """The compactions in the session files of an agent; None where its format does not mark them.

    Args:
        format: of the files.
        files: the newest first.
        seconds: after which no more is read.
    """
    deadline = monotonic() + seconds
    seen_compactions: set[str] = set()
    read_count = 0
    for file in files:
        if format == OPENCODE_DATABASE:
            compactions = _in_database(file, deadline)
        elif format in MARKS:
            compactions = _in_lines(file, MARKS[format], deadline)
        else:
            return None
        try:
            for compaction in compactions:
                seen_compactions.add(compaction)
            read_count += 1
        except OutOfTime:
            break
        except (OSError, sqlite3.Error):
            continue
    return CompactionCount(len(seen_compactions), read_count, len(files))


def _in_lines(file: Path, mark: Mark, deadline: float) -> Iterator[str]:
    """What tells the compactions of a file apart: their ids, or their lines.

    Raises:
        OutOfTime: the deadline is reached.
        OSError: the file cannot be read.
    """
    word = f'"{mark.value}"'.encode()
    if not _holds(file, word, deadline):
        return
    with file.open("rb") as lines:
        for line in lines:
            if word not in line:
                continue
            _look(deadline)
            record = _record(line)
            if mark.is_on(record):
                yield str(first_value(record, "uuid id") or line)


def _holds(file: Path, word: bytes, deadline: float) -> bool:
    """Whether a word stands anywhere in a file: a third of the time of reading its lines.

    Raises:
        OutOfTime: the deadline is reached.
        OSError: the file cannot be read.
    """
    end = b""
    with file.open("rb") as opened:
        while block := opened.read(BLOCK):
            _look(deadline)
            if word in end + block:
                return True
            end = block[-len(word) :]
    return False


def _in_database(file: Path, deadline: float) -> Iterator[str]:
    """The ids of the finished summaries in a database of OpenCode. Nothing is written beside it.

    Raises:
        OutOfTime: the deadline is reached.
        sqlite3.Error: it cannot be read, or is of another version.
    """
    _look(deadline)
    address = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as opened:
        opened.set_progress_handler(lambda: monotonic() > deadline, STEPS_A_LOOK)
        try:
            for message_id, data in opened.execute(SUMMARIES):
                message = _record(data)
                times = message.get("time")
                is_finished = isinstance(times, dict) and "completed" in times
                if message.get("summary") is True and is_finished and not message.get("error"):
                    yield str(message_id)
        except sqlite3.OperationalError:
            _look(deadline)
            raise


def _look(deadline: float) -> None:
    """Look at the clock.

    Raises:
        OutOfTime: the deadline is reached.
    """
    if monotonic() > deadline:
        raise OutOfTime


def _record(line: bytes | str) -> Record:
    """The object in a line; an empty one where it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
