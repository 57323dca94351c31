"""Reads a session file that an agent is writing: each line once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from workbench.base.errors import FormatError
from workbench.engine.transcript.redaction import redacted
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.formats import BUILTIN
from workbench.recordings.importers.formats.claude_code import ClaudeCodeBuilder
from workbench.recordings.importers.formats.codex import CodexBuilder
from workbench.recordings.importers.formats.pi import PiBuilder
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decodable
from workbench.recordings.importers.opening import LONGEST_LINE
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import BOM, HEAD_BYTES, SourceFile
from workbench.recordings.importers.values import as_object

AGENTS: Mapping[str, Callable[[SourceFile], SessionBuilder]] = {
    "claude_code": ClaudeCodeBuilder,
    "codex": CodexBuilder,
    "pi": PiBuilder,
}
"""The agents whose files are followed: they append JSON lines. Each with what reads its lines."""
FOLLOWED_AGENTS = f"the agents that can be followed are {', '.join(AGENTS)}"
NOT_RECOGNISED = f"its content is not recognised; {FOLLOWED_AGENTS}"
BYTES = 16 << 20
"""Bytes that are read at once."""
CHECKED = 256
"""Bytes before the place that was read up to; where they have changed, the file was written
anew.
"""


class Happening(Enum):
    """What befell a file that is followed, and in words what that means for the reader."""

    EMPTIED = "was emptied; waiting until something is written to it"
    REMOVED = "was removed; waiting until it is there again"
    UNREADABLE = "waiting until it can be read"
    RETURNED = "can be read again"
    REPLACED = "was replaced by another file; read from its start"
    SHORTENED = "became shorter; read from its start"
    REWRITTEN = "was written anew; read from its start"
    NEWER = "is the newest session now; read from its start"

    @property
    def is_absence(self) -> bool:
        """Whether there is nothing to read until something else happens."""
        return self in (Happening.EMPTIED, Happening.REMOVED, Happening.UNREADABLE)


class Followed:
    """A growing session file, or the newest one of a folder.

    Attributes:
        target: the file or folder that was named.
        redaction: the kinds of personal data that are masked in `session`, beside secrets; None
            masks nothing.
        path: the file that is followed; None while there is none.
        format: the name of its format; empty until its first lines show it.
        lines: how many lines were read.
        restarts: how often the file was read anew: it was cut, replaced, or a newer one took its
            place.
        was_read: whether anything of an agent was ever read.
        happening: what befell the file since the call of `update` before the last; None where it
            only grew, or was never read.
    """

    def __init__(self, target: str | Path, redaction: frozenset[str] | None = None) -> None:
        self.target = Path(target)
        self.redaction = redaction
        self.path: Path | None = None
        self.restarts = 0
        self.happening: Happening | None = None
        self._absence: Happening | None = None
        self._inode = 0
        self.was_read = False
        self._begin()

    def _begin(self) -> None:
        self.format = ""
        self.lines = 0
        self._offset = 0
        self._rest = b""
        self._before = b""
        self._unread: list[bytes] = []
        self._builder: SessionBuilder | None = None

    def update(self) -> bool:
        """Read what was written since the last call; says whether anything was.

        Raises:
            FormatError: the file is of no agent that can be followed, or it cannot be opened.
        """
        self.happening = None
        try:
            is_longer = self._read_on()
        except FormatError:
            self._miss(Happening.UNREADABLE)
            raise
        self.was_read |= is_longer
        return is_longer

    def _read_on(self) -> bool:
        """Read what was written since; says whether anything was."""
        path = self._current_path()
        try:
            if path is None or not path.exists():
                self._miss(Happening.REMOVED)
                return False
            if not path.is_file():
                raise FormatError("is neither a file nor a folder", where=str(path))
            with path.open("rb") as stream:
                facts = os.fstat(stream.fileno())
                self._restart_where_new(path, facts)
                self._restart_where_changed(stream)
                earlier_lines = self.lines
                while data := stream.read(BYTES):
                    self._take(data)
        except OSError as error:
            raise FormatError(f"cannot be read ({error.strerror})", where=str(path)) from None
        if not self._offset:
            self._miss(Happening.EMPTIED)
        elif self._absence is not None and self._builder is not None:
            self._absence = None
            self.happening = Happening.RETURNED
        return self.lines > earlier_lines

    def _miss(self, absence: Happening) -> None:
        """Keep in mind that there is nothing to read, and say so the first time."""
        if self.was_read and self._absence is not absence:
            self._absence = absence
            self.happening = absence

    def _current_path(self) -> Path | None:
        """The file to read now; None where the folder has none."""
        if self.target.is_dir():
            return newest_file(self.target)
        return self.target

    def _restart_where_changed(self, stream: BinaryIO) -> None:
        """Begin again where what was read last stands there no more; then the stream stands where
        reading goes on.
        """
        checked = len(self._before)
        place_before = max(self._offset - checked, 0)
        stream.seek(place_before)
        if stream.read(checked) != self._before:
            self._anew(Happening.REWRITTEN)
            stream.seek(0)

    def _restart_where_new(self, path: Path, facts: os.stat_result) -> None:
        """Begin again where another file has this name, or the file has become shorter."""
        if self.path is None:
            pass
        elif path != self.path:
            self._anew(Happening.NEWER)
        elif facts.st_ino != self._inode:
            self._anew(Happening.REPLACED)
        elif facts.st_size < self._offset:
            self._anew(Happening.SHORTENED)
        self.path = path
        self._inode = facts.st_ino

    def _anew(self, cause: Happening) -> None:
        if self.was_read:
            self.happening = cause
        self.restarts += 1
        self._begin()

    def _take(self, chunk: bytes) -> None:
        self._offset += len(chunk)
        bytes_before = self._before + chunk
        self._before = bytes_before[-CHECKED:]
        unread = self._rest + chunk
        *lines, self._rest = unread.split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            problem = f"is longer than {LONGEST_LINE >> 20} MB"
            raise FormatError(problem, where=str(self.path), line=self.lines + 1)
        if _is_complete(self._rest):
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._line(line.strip())

    def _line(self, line: bytes) -> None:
        if not line or line.startswith(b"//"):
            return
        if self._builder is None:
            first_line = line.removeprefix(BOM)
            self._unread.append(first_line)
            self._recognise()
            may_be_json = b"{" in first_line
            if self._builder is None and not may_be_json:
                raise FormatError(NOT_RECOGNISED, where=str(self.path))
            return
        self.lines += 1
        self._builder.line = self.lines
        source = self._builder.source
        text = line.decode(errors="replace")
        for record_text in source.objects_of(text):
            with source.at(self.lines):
                entry = source.decode(record_text)
                self._builder.read(as_object(entry))

    def _recognise(self) -> None:
        """Find the format by the first lines, and read them."""
        start = b"\n".join(self._unread)
        text = start[:HEAD_BYTES].decode(errors="replace")
        format = _format_of(Head.of(f"{text}\n"))
        if format in AGENTS:
            self._read_as(format)
        elif format:
            raise FormatError(f"its format is {format}; {FOLLOWED_AGENTS}", where=str(self.path))
        elif len(start) > HEAD_BYTES:
            raise FormatError(NOT_RECOGNISED, where=str(self.path))

    def _read_as(self, format: str) -> None:
        """Read the first lines, and all that follow, in a format."""
        self.format = format
        source = SourceFile(str(self.path), BytesIO, lenient=True)
        new_builder = AGENTS[format]
        self._builder = new_builder(source)
        lines = self._unread
        self._unread = []
        for line in lines:
            self._line(line)

    @property
    def is_unrecognised(self) -> bool:
        """Whether something was read that none of the agents writes; a line of JSON that is not
        at its end yet may be of any.
        """
        if self._builder is not None:
            return False
        if self._unread:
            return True
        begun_line = self._rest.strip()
        if not begun_line:
            return False
        return not begun_line.startswith(b"{")

    def session(self) -> Session | None:
        """The session as far as it was read; None before its first line."""
        if self._builder is None:
            return None
        return redacted(self._builder.so_far(), self.redaction)


def _format_of(head: Head) -> str:
    """The name of the built-in format that a file begins in; empty where none knows it."""
    for name, format in BUILTIN.items():
        if format.knows(head):
            return name
    return ""


def _is_complete(line: bytes) -> bool:
    """Whether a line is whole, though no line end follows yet."""
    if not line.rstrip().endswith(b"}"):
        return False
    text = line.decode(errors="replace")
    return decodable(text) is not None


def newest_file(folder: Path) -> Path | None:
    """The newest session file in a folder and its folders; a sub-agent's does not count."""
    candidates: list[tuple[float, Path]] = []
    for file in folder.rglob("*.jsonl"):
        is_of_sub_agent = file.name.startswith("agent-") or "subagents" in file.parts
        if is_of_sub_agent or not file.is_file():
            continue
        facts = file.stat()
        candidates.append((facts.st_mtime, file))
    if not candidates:
        return None
    _, newest = max(candidates)
    return newest
