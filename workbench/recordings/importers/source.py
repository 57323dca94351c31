"""A recording while it is read: its lines, its values, its whole text."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import BufferedReader, BytesIO
from pathlib import Path
from time import monotonic

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import Origin
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decodable, decode, objects_of_line
from workbench.recordings.importers.opening import lines, whole
from workbench.recordings.importers.printed_series import is_printed_series, joined
from workbench.recordings.importers.reading_account import ReadingAccount
from workbench.recordings.importers.sqlite import MAGIC, tables, with_log
from workbench.recordings.importers.values import JsonObject, as_object, kind

HEAD_BYTES = 1 << 16
"""Of the start of a file, by which most formats are recognised."""
LONG_HEAD_BYTES = 16 << 20
"""Of the start that decides where the first one does not."""
BOM = b"\xef\xbb\xbf"

_MANY_OBJECTS = re.compile(r'\{"(?<![\[:,]\{")(?<![\[:,]\s\{")')
"""How an object begins that is no value inside another: after the first one of a line, or now and
then at the end of a text.
"""


@dataclass
class SourceFile(ReadingAccount):
    """One recording: gives its lines or its whole text, and keeps account of what could not be
    read.

    Attributes:
        open: opens the recording's bytes, unpacked.
        folder: the name of the folder that holds it; empty for standard input.
        began: when reading it did.
    """

    open: Callable[[], BufferedReader | BytesIO]
    folder: str = ""
    began: float = field(default_factory=monotonic)

    @property
    def stem(self) -> str:
        """The file's name without its endings: the id of a session that has none."""
        name = re.split(r"[/\\]", self.where)[-1]
        return name.split(".")[0] or "session"

    def heads(self) -> Iterator[Head]:
        """What the first 64 KB tell, whatever they hold, and then more; of a database, what made
        its tables.
        """
        for size in (HEAD_BYTES, LONG_HEAD_BYTES):
            with self.open() as stream:
                raw = stream.read(size)
                is_all = size == LONG_HEAD_BYTES or not stream.read(1)
            if raw.startswith(MAGIC.encode()):
                statements = tables(self.database_bytes())
                if statements:
                    yield Head.of(f"{MAGIC}\n{statements}")
                    return
            text = raw.removeprefix(BOM).decode(errors="replace")
            yield Head.of(text.replace("\r\n", "\n"), is_all=is_all)
            if is_all:
                return

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines that hold something, with their numbers from 1, without line ends; those of a
        record that is printed over several lines as one.
        """
        if self._is_printed_series:
            return joined(self._lines())
        return self._lines()

    @cached_property
    def _is_printed_series(self) -> bool:
        with self.open() as stream:
            start = stream.read(len(BOM) + 3).removeprefix(BOM)
            if not start.startswith((b"{\n", b"{\r\n")):
                return False
            raw = start + stream.read(LONG_HEAD_BYTES)
        text = raw.decode(errors="replace")
        return is_printed_series(text.replace("\r\n", "\n"))

    def _lines(self) -> Iterator[tuple[int, str]]:
        with self.open() as stream:
            note = self.leave_out if self.lenient else None
            for number, raw in lines(stream, self.where, self.began, note):
                line = raw.removeprefix(BOM) if number == 1 else raw
                if line and not line.isspace():
                    yield number, self._text(line, number).rstrip("\r\n")

    def records(self) -> Iterator[tuple[int, JsonObject]]:
        """The JSON objects of a JSON-lines file with their line numbers; `//` lines are
        comments.
        """
        for number, line in self.lines():
            if line.startswith("//"):
                self.skipped.append(f"line {number}: a comment, left out")
                continue
            for record_text in self.objects_of(line):
                with self.at(number):
                    yield number, as_object(self.decode(record_text))

    def objects_of(self, line: str) -> list[str]:
        """The JSON texts of a line, mostly one."""
        may_break_off = line.count("{") > line.count("}")
        if may_break_off or _MANY_OBJECTS.search(line, 1):
            return objects_of_line(line)
        return [line]

    def in_lines(self) -> bool:
        """Whether it is JSON lines rather than one document: a whole object on a line, and
        another begins below or behind it.
        """
        if self._is_printed_series:
            return True
        first_lines: list[bytes] = []
        note = (lambda note: None) if self.lenient else None
        with self.open() as stream:
            for _, line in lines(stream, self.where, self.began, note):
                if line.isspace() or line.startswith(b"//"):
                    continue
                first_lines.append(line.strip())
                if len(first_lines) == 2:
                    break
        if not first_lines:
            return False
        first_line = first_lines[0].removeprefix(BOM)
        if len(first_lines) == 1:
            return len(self.objects_of(first_line.decode(errors="replace"))) > 1
        is_object = first_line.startswith(b"{") and first_line.endswith(b"}")
        return is_object and first_lines[1].startswith(b"{")

    def raw(self) -> bytes:
        """All its bytes."""
        with self.open() as stream:
            return whole(stream, self.where)

    def database_bytes(self) -> bytes:
        """All bytes of a database, with what is still in the write-ahead log beside it."""
        raw = self.raw()
        log_file = Path(f"{self.where}-wal")
        try:
            if not log_file.is_file() or not log_file.stat().st_size:
                return raw
            return with_log(raw, log_file)
        except (OSError, sqlite3.Error) as error:
            self.leave_out(
                "the newest messages may be in the file beside it that ends in -wal, which cannot be"
                f" read ({error})"
            )
            return raw

    def text(self) -> str:
        """The whole text, with plain newlines."""
        raw = self.raw()
        text = self._text(raw.removeprefix(BOM), None)
        return text.replace("\r\n", "\n")

    def values(self) -> Iterator[Json]:
        """Everything that it holds: the JSON values of its lines, the one of a document, or its
        lines as text.
        """
        if not self.in_lines():
            whole_text = self.text()
            value = decodable(whole_text)
            yield from whole_text.split("\n") if value is None else [value]
            return
        for _, line in self.lines():
            if line.startswith("//"):
                continue
            for record_text in self.objects_of(line):
                value = decodable(record_text)
                yield record_text if value is None else value

    def decode(self, text: str) -> Json:
        """The value of a JSON text; when lenient, null stands for what in it cannot be read, and a
        note says so.

        Raises:
            FormatError: it is not JSON.
        """
        return decode(text, self.leave_unused if self.lenient else None)

    def document(self) -> Json:
        """The value of a file that is one JSON document.

        Raises:
            FormatError: it is not JSON; also when lenient, since nothing of it can be read.
        """
        document = self.text()
        try:
            return self.decode(document)
        except FormatError as error:
            raise FormatError(
                error.why,
                where=self.where,
                line=error.line,
                field=error.field,
            ) from None

    def object_with(self, field: str) -> JsonObject:
        """The JSON object that a file is; this field is named where it is something else.

        Raises:
            FormatError: it is no object.
        """
        document = self.document()
        if not isinstance(document, dict):
            raise FormatError(
                f"expected an object with `{field}`, found {kind(document)}", where=self.where
            )
        return document

    def origin(self, name: str) -> Origin:
        """Where sessions of this recording come from, as far as it has been read."""
        return Origin(name, self.where, self._sha256, self.left_out())

    @cached_property
    def _sha256(self) -> str:
        with self.open() as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def _text(self, raw: bytes, line: int | None) -> str:
        """Bytes as text; `line` is their line, None where they are the whole file."""
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            if line is None:
                line = raw.count(b"\n", 0, error.start) + 1
            reason = f"byte {raw[error.start]:#04x} is not UTF-8"
            if not self.lenient:
                raise FormatError(reason, where=self.where, line=line) from None
            self.skipped.append(f"line {line}: {reason}, replaced by U+FFFD")
            return raw.decode(errors="replace")
