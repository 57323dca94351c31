"""A recording while it is read: its lines, and an account of what in it is damaged or
unknown.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from io import BufferedReader, BytesIO
from pathlib import Path
from time import monotonic
from typing import TypeVar

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json, Usage
from workbench.engine.transcript.session import Origin
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decodable, decode, objects_of_line
from workbench.recordings.importers.opening import lines, whole
from workbench.recordings.importers.printed_series import is_printed_series, joined
from workbench.recordings.importers.sqlite import MAGIC, tables, with_log
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_object,
    identifier,
    kind,
    mapping,
    optional_count,
    strings,
    text,
    timestamp,
)

Value = TypeVar("Value")
HEAD_BYTES = 1 << 16
"""Of the start of a file, by which most formats are recognised."""
LONG_HEAD_BYTES = 16 << 20
"""Of the start that decides where the first one does not."""
BOM = b"\xef\xbb\xbf"


_INDEX = re.compile(r"\[\d+\]")
_MANY_OBJECTS = re.compile(r'\{"(?<![\[:,]\{")(?<![\[:,]\s\{")')
"""How an object begins that is no value inside another: after the first one of a line, or now and
then at the end of a text.
"""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part that no message got.

    Attributes:
        kind: what it is, in words.
        texts: its strings, but for the names of types.
    """

    kind: str
    texts: tuple[str, ...] = ()


@dataclass
class CountedNote:
    """What there is to say of the values of one field.

    Attributes:
        first: says it of the first of them, with its place.
        more: how many there are beside it.
    """

    first: str
    more: int = 0

    def __str__(self) -> str:
        if not self.more:
            return self.first
        return f"{self.first} (and {self.more:,} times more)"


@dataclass
class SourceFile:
    """One recording: gives its lines or its whole text, and keeps account of what could not be
    read.

    Attributes:
        where: the path as it is shown in errors.
        open: opens the recording's bytes, unpacked.
        folder: the name of the folder that holds it; empty for standard input.
        lenient: whether damage is skipped and listed instead of raised.
        skipped: what was left out, one sentence each.
        unknown: kinds of records and blocks that the importer does not know, with their number.
        unknown_texts: the texts of such blocks, by kind.
        counted: by field, what there is to say of its values.
        began: when reading it did.
        places: the line and the field of each block of `at` that is entered and not left.
    """

    where: str
    open: Callable[[], BufferedReader | BytesIO]
    folder: str = ""
    lenient: bool = False
    skipped: list[str] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    unknown_texts: dict[str, list[str]] = field(default_factory=dict)
    counted: dict[str, CountedNote] = field(default_factory=dict)
    began: float = field(default_factory=monotonic)
    places: list[tuple[int | None, str]] = field(default_factory=list)

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

    def leave_out(self, what: str) -> None:
        """List what is left out, once, however often the file is opened."""
        if what not in self.skipped:
            self.skipped.append(what)

    def leave_unknown(self, parts: Iterable[Unknown]) -> None:
        """Count parts of kinds that the importer does not know, and keep their texts for the
        account.
        """
        for part in parts:
            self.unknown[part.kind] += 1
            texts = self.unknown_texts.setdefault(part.kind, [])
            texts += part.texts

    def leave_record(self, kind: str, record: Json) -> None:
        """Count a record of a kind that the importer does not know, likewise."""
        self.leave_unknown([Unknown(kind, tuple(strings(record)))])

    def leave_unused(self, error: FormatError) -> None:
        """Note a value that cannot be read, and that no message needs."""
        self.note(f"{error.why}, not used", line=error.line, field=error.field)

    def note(self, words: str, *, line: int | None = None, field: str = "") -> None:
        """Say something of a value, with its place; of one field, the first is told and the
        others are counted.
        """
        names: list[str] = []
        for outer_line, name in self.places:
            if outer_line is not None:
                line = outer_line
            if name:
                names.append(name)
        if field:
            names.append(field)
        place = ".".join(names)
        key = _INDEX.sub("", place) or words
        if key in self.counted:
            self.counted[key].more += 1
        else:
            sentence = str(FormatError(words, line=line, field=place))
            self.counted[key] = CountedNote(sentence)

    def time(self, record: Record, field: str) -> float | None:
        """The time in a field; None where there is none, or none that can be read, which a note
        says.
        """
        return self._unneeded(lambda: timestamp(record, field), None)

    def count(self, record: Record, field: str) -> int | None:
        """The count in a field, likewise."""
        return self._unneeded(lambda: optional_count(record, field), None)

    def name(self, record: Record, *fields: str) -> str:
        """The first of these fields that holds a text, such as a title or a model's name; empty
        likewise.
        """
        return self._unneeded(lambda: text(record, *fields), "")

    def identifier(self, record: Record, *fields: str) -> str:
        """The first of these fields that holds an identifier of the whole session, likewise."""
        return self._unneeded(lambda: identifier(record, *fields), "")

    def report(self, record: Record, *fields: str) -> JsonObject:
        """The first of these fields that holds an object of facts and figures; empty likewise."""
        return self._unneeded(lambda: mapping(record, *fields), {})

    def usage(self, fields: UsageFields, record: Record, *names: str) -> Usage | None:
        """What a record reports of its usage, likewise; a report with a false figure is not used.

        Args:
            fields: where the report has its figures.
            record: that holds the report.
            names: of the field that is the report, the first that holds something; without them the
                record is it.
        """
        report = record
        try:
            if names:
                report = mapping(record, *names)
        except FormatError as error:
            self.leave_unused(error)
            return None
        try:
            return fields.read(report)
        except FormatError as error:
            place = error.field
            for name in names:
                if record.get(name):
                    place = f"{name.replace('/', '.')}.{place}"
                    break
            self.leave_unused(FormatError(error.why, field=place))
            return None

    def _unneeded(self, read: Callable[[], Value], missing: Value) -> Value:
        """What a function reads; what stands for a missing value where it cannot be read, which
        a note says.
        """
        try:
            return read()
        except FormatError as error:
            self.leave_unused(error)
            return missing

    @contextmanager
    def at(self, line: int | None = None, field: str = "") -> Iterator[None]:
        """What is wrong inside this block is placed on that line; when lenient, it is listed and
        passed over.
        """
        self.places.append((line, field))
        try:
            yield
        except FormatError as error:
            if error.where:
                raise
            place = ".".join(filter(None, (field, error.field)))
            if line is None:
                line = error.line
            if not self.lenient:
                raise FormatError(
                    error.why,
                    where=self.where,
                    line=line,
                    field=place,
                ) from None
            fault = FormatError(error.why, line=line, field=place)
            self.skipped.append(str(fault).removeprefix(", "))
        finally:
            self.places.pop()

    def origin(self, name: str) -> Origin:
        """Where sessions of this recording come from, as far as it has been read."""
        skipped = list(self.skipped)
        skipped += [str(note) for note in self.counted.values()]
        for unknown_kind, number in sorted(self.unknown.items()):
            if number:
                skipped.append(f"{number} × {unknown_kind}: unknown, left out")
        return Origin(name, self.where, self._sha256, tuple(skipped))

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
