"""Reading a session file that an agent is writing: each line once, whatever else happens to the
file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

from workbench.base.errors import FormatError
from workbench.engine.transcript.redaction import redacted
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.formats import BUILTIN
from workbench.recordings.importers.formats.claude_code import ClaudeCodeBuilder
from workbench.recordings.importers.formats.codex import CodexBuilder
from workbench.recordings.importers.formats.pi import PiBuilder
from workbench.recordings.importers.opening import LONGEST_LINE
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import BOM, HEAD_BYTES, Head, SourceFile
from workbench.recordings.importers.values import as_object, decodable

AGENTS: Mapping[str, Callable[[SourceFile], SessionBuilder]] = {
    "claude_code": ClaudeCodeBuilder, "codex": CodexBuilder, "pi": PiBuilder,
}  # fmt: skip
"""The agents whose files are followed: they append JSON lines. Each with what reads its lines."""
BYTES = 16 << 20
"""Bytes that are read at once."""
CHECKED = 256
"""Bytes before the place that was read up to; where they have changed, the file was written
anew.
"""


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
    """

    def __init__(self, target: str | Path, redaction: frozenset[str] | None = None) -> None:
        self.target, self.redaction = Path(target), redaction
        self.path: Path | None = None
        self.restarts = 0
        self._inode = 0
        self._begin()

    def _begin(self) -> None:
        self.format, self.lines = "", 0
        self._offset, self._rest, self._before = 0, b"", b""
        self._unread: list[bytes] = []
        self._builder: SessionBuilder | None = None

    def update(self) -> bool:
        """Read what was written since the last call; says whether anything was.

        Raises:
            FormatError: the file is of no agent that can be followed, or it cannot be opened.
        """
        path = newest_file(self.target) if self.target.is_dir() else self.target
        if path is None or not path.exists():
            return False
        if not path.is_file():
            raise FormatError("is neither a file nor a folder", where=str(path))
        try:
            with path.open("rb") as stream:
                self._restart_where_new(path, os.fstat(stream.fileno()))
                stream.seek(max(self._offset - len(self._before), 0))
                if stream.read(len(self._before)) != self._before:
                    self._anew()
                    stream.seek(0)
                before = self.lines
                while data := stream.read(BYTES):
                    self._take(data)
        except OSError as error:
            raise FormatError(f"cannot be read ({error.strerror})", where=str(path)) from None
        return self.lines > before

    def _restart_where_new(self, path: Path, facts: os.stat_result) -> None:
        """Begin again where another file has this name, or the file is shorter than what was
        read of it.
        """
        if self.path is not None and (
            path != self.path or facts.st_ino != self._inode or facts.st_size < self._offset
        ):
            self._anew()
        self.path, self._inode = path, facts.st_ino

    def _anew(self) -> None:
        self.restarts += 1
        self._begin()

    def _take(self, data: bytes) -> None:
        self._offset += len(data)
        self._before = (self._before + data)[-CHECKED:]
        *whole, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise FormatError(
                f"is longer than {LONGEST_LINE >> 20} MB", where=str(self.path), line=self.lines + 1
            )
        if (
            self._rest.rstrip().endswith(b"}")
            and decodable(self._rest.decode(errors="replace")) is not None
        ):
            whole.append(self._rest)  # whole, though no line end follows yet
            self._rest = b""
        for line in whole:
            self._line(line.strip())

    def _line(self, line: bytes) -> None:
        if not line or line.startswith(b"//"):
            return
        if self._builder is None:
            self._unread.append(line.removeprefix(BOM))
            self._recognise()
            return
        self.lines += 1
        self._builder.line = self.lines
        with self._builder.source.at(self.lines):
            source = self._builder.source
            self._builder.read(as_object(source.decode(line.decode(errors="replace"))))

    def _recognise(self) -> None:
        """Find the format by the first lines, and read them."""
        start = b"\n".join(self._unread)
        head = Head.of(start[:HEAD_BYTES].decode(errors="replace") + "\n")
        found = next((name for name, one in BUILTIN.items() if one.knows(head)), "")
        if found not in AGENTS:
            if found or len(start) > HEAD_BYTES:
                what = f"its format is {found}" if found else "its content is not recognised"
                why = f"{what}; the agents that can be followed are {', '.join(AGENTS)}"
                raise FormatError(why, where=str(self.path))
            return
        self.format = found
        self._builder = AGENTS[found](SourceFile(str(self.path), BytesIO, lenient=True))
        lines, self._unread = self._unread, []
        for line in lines:
            self._line(line)

    def session(self) -> Session | None:
        """The session as far as it was read; None before its first line."""
        return (
            redacted(self._builder.so_far(), self.redaction) if self._builder is not None else None
        )


def newest_file(folder: Path) -> Path | None:
    """The session file in a folder, or in its folders, that was written last; a sub-agent's does
    not count.
    """
    found = [
        (one.stat().st_mtime, one)
        for one in folder.rglob("*.jsonl")
        if one.is_file() and not one.name.startswith("agent-") and "subagents" not in one.parts
    ]
    return max(found, default=(0.0, None))[1]
