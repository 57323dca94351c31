"""A recording while it is read: its lines, its damage, and who can read it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from io import BufferedIOBase
from types import TracebackType
from typing import ClassVar, Literal, Protocol, TypeAlias

from workbench.errors import FormatError
from workbench.importers.decoding import BadJson, decode
from workbench.transcript.message import Json
from workbench.transcript.session import Origin, Session

Carries: TypeAlias = Literal["tree", "calls", "thinking", "images", "usage", "times", "model", "compactions", "system"]
HEAD_BYTES = 1 << 16
BOM = b"\xef\xbb\xbf"


class Importer(Protocol):
    """Turns one foreign format into sessions.

    Attributes:
        name: what `workbench list formats` shows.
        description: one line for people.
        carries: what recordings of this format hold, and the importer reads.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    carries: ClassVar[tuple[Carries, ...]]

    def knows(self, head: str) -> bool:
        """Whether this text, the first 64 KB of a file, is the start of a recording in this format."""
        ...

    def sessions(self, source: Source) -> Iterator[Session]:
        """The sessions in a recording, in its order. Their origin is filled in by the caller.

        Raises:
            FormatError: the recording is damaged and the source is not lenient.
        """
        ...


class Source:
    """One recording: gives its lines or its whole text, and keeps account of what could not be read.

    Attributes:
        where: the path as it is shown in errors.
        folder: the name of the folder that holds it; empty for standard input.
        lenient: whether damage is skipped and listed instead of raised.
        skipped: what was left out, one sentence each.
        unknown: kinds of records and blocks that the importer does not know, with their number.
    """

    def __init__(
        self, where: str, opened: Callable[[], BufferedIOBase], *, folder: str = "", lenient: bool = False
    ) -> None:
        self.where, self.folder, self.lenient = where, folder, lenient
        self.skipped: list[str] = []
        self.unknown: Counter[str] = Counter()
        self._opened = opened
        self._sha256 = ""

    def open(self) -> BufferedIOBase:
        """The recording's bytes from the start, unpacked."""
        return self._opened()

    @property
    def stem(self) -> str:
        """The file's name without its endings: what a session is called that has no id of its own."""
        return re.split(r"[/\\]", self.where)[-1].split(".")[0] or "session"

    def head(self) -> str:
        """The first 64 KB as text, whatever they hold."""
        with self.open() as stream:
            raw = stream.read(HEAD_BYTES)
        return raw.removeprefix(BOM).decode(errors="replace").replace("\r\n", "\n")

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines that hold something, with their numbers from 1, without line ends."""
        with self.open() as stream:
            for number, raw in enumerate(stream, 1):
                line = raw.removeprefix(BOM) if number == 1 else raw
                if line.isspace() or not line:
                    continue
                yield number, self._text(line, number).rstrip("\r\n")

    def records(self) -> Iterator[tuple[int, dict[str, Json]]]:
        """The JSON objects of a JSON-lines file with their line numbers; `//` lines are comments."""
        for number, line in self.lines():
            if line.startswith("//"):
                self.skipped.append(f"line {number}: a comment")
                continue
            with self.at(number):
                value = decoded(line)
                if not isinstance(value, dict):
                    raise FormatError(f"expected a JSON object, found {kind(value)}")
                yield number, value

    def in_lines(self) -> bool:
        """Whether it is JSON lines rather than one document: a whole object on a line, and another begins below."""
        with self.open() as stream:
            full = (line.strip() for line in stream if not line.isspace() and not line.startswith(b"//"))
            first, second = next(full, b"").removeprefix(BOM), next(full, b"")
        return first.startswith(b"{") and first.endswith(b"}") and second.startswith(b"{")

    def text(self) -> str:
        """The whole text, with plain newlines."""
        with self.open() as stream:
            raw = stream.read()
        return self._text(raw.removeprefix(BOM), None).replace("\r\n", "\n")

    def document(self) -> Json:
        """The value of a file that is one JSON document.

        Raises:
            FormatError: it is not JSON; also when lenient, since nothing of it can be read.
        """
        try:
            return decode(self.text())
        except BadJson as error:
            raise FormatError(str(error), where=self.where, line=error.line) from None

    def at(self, line: int | None = None, field: str = "") -> AbstractContextManager[None]:
        """What is wrong inside this block is placed on that line; when lenient, it is listed and passed over."""
        return _Place(self, line, field)

    def origin(self, name: str) -> Origin:
        """Where sessions of this recording come from, as far as it has been read."""
        unknown = tuple(f"{n} × {what}: not known, left out" for what, n in sorted(self.unknown.items()))
        return Origin(name, self.where, self._digest(), (*self.skipped, *unknown))

    def _digest(self) -> str:
        if not self._sha256:
            with self.open() as stream:
                self._sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        return self._sha256

    def _text(self, raw: bytes, line: int | None) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            at = line if line is not None else raw.count(b"\n", 0, error.start) + 1
            why = f"byte {raw[error.start]:#04x} is not UTF-8"
            if not self.lenient:
                raise FormatError(why, where=self.where, line=at) from None
            self.skipped.append(f"line {at}: {why}, replaced by U+FFFD")
            return raw.decode(errors="replace")


class _Place:
    def __init__(self, source: Source, line: int | None, field: str) -> None:
        self.source, self.line, self.field = source, line, field

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, FormatError) or error.where:
            return False
        line = self.line if error.line is None else error.line
        field = self.field + ("." if self.field and error.field else "") + error.field
        placed = FormatError(error.why, where=self.source.where, line=line, field=field)
        if not self.source.lenient:
            raise placed from None
        self.source.skipped.append(str(FormatError(error.why, line=line, field=field)).removeprefix(", "))
        return True


def decoded(line: str) -> Json:
    """The value of one line of JSON.

    Raises:
        FormatError: without a place, which `Source.at` adds.
    """
    if "\0" in line:
        raise FormatError("the line holds NUL bytes")
    try:
        return decode(line)
    except BadJson as error:
        raise FormatError(str(error)) from None


def kind(value: Json) -> str:
    """What a decoded JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
