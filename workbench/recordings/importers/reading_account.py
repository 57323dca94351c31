"""What of a recording could not be read, told while it is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import TypeVar

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json, Usage
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    identifier,
    mapping,
    optional_count,
    strings,
    text,
    timestamp,
)

Value = TypeVar("Value")

_INDEX = re.compile(r"\[\d+\]")


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
class ReadingAccount:
    """What of one recording is damaged or unknown; reads the fields that no message needs, too.

    Attributes:
        where: the path as it is shown in errors.
        lenient: whether damage is skipped and listed instead of raised.
        skipped: what was left out, one sentence each.
        unknown: kinds of records and blocks that the importer does not know, with their number.
        unknown_texts: the texts of such blocks, by kind.
        counted: by field, what there is to say of its values.
        places: the line and the field of each block of `at` that is entered and not left.
    """

    where: str
    _: KW_ONLY
    lenient: bool = False
    skipped: list[str] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    unknown_texts: dict[str, list[str]] = field(default_factory=dict)
    counted: dict[str, CountedNote] = field(default_factory=dict)
    places: list[tuple[int | None, str]] = field(default_factory=list)

    def leave_out(self, sentence: str) -> None:
        """List what is left out, once, however often the file is opened."""
        if sentence not in self.skipped:
            self.skipped.append(sentence)

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

    def leave_total(self, record: Record, field: str) -> None:
        """Say that figures are those of all requests together, so that no answer has them."""
        if self.report(record, field):
            self.note("is of all requests together, not used", field=field)

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

    def left_out(self) -> tuple[str, ...]:
        """What was left out and what there is to say of values, one sentence each."""
        sentences = list(self.skipped)
        sentences += [str(note) for note in self.counted.values()]
        for unknown_kind, number in sorted(self.unknown.items()):
            if number:
                sentences.append(f"{number} × {unknown_kind}: unknown, left out")
        return tuple(sentences)
