"""What a format is: a description, how it is known, and how its sessions are read. Most are lines or one document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Literal, TypeAlias

from workbench.importers.head import Head
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import Source
from workbench.importers.values import objects
from workbench.transcript.message import Json
from workbench.transcript.session import Session

Carries: TypeAlias = Literal["tree", "calls", "thinking", "images", "usage", "times", "model", "compactions", "system"]


class Importer(ABC):
    """Turns one foreign format into sessions.

    Attributes:
        name: what `workbench list formats` shows.
        description: one line for people.
        carries: what recordings of this format hold, and the importer reads.
    """

    name: str
    description: str
    carries: tuple[Carries, ...] = ()

    @abstractmethod
    def knows(self, head: Head) -> bool:
        """Whether this, the first 64 KB of a file, is the start of a recording in this format."""

    @abstractmethod
    def sessions(self, source: Source) -> Iterator[Session]:
        """The sessions in a recording, in its order. Their origin is filled in by the caller.

        Raises:
            FormatError: the recording is damaged and the source is not lenient.
        """


class LinesImporter(Importer):
    """A format of JSON lines: a record a line, one session a file.

    Attributes:
        builder: reads the records.
    """

    builder: type[SessionBuilder]

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        builder = self.builder(source)
        for builder.line, record in source.records():
            with source.at(builder.line):
                builder.read(record)
        with source.at():
            yield builder.session()


class DocumentImporter(Importer):
    """A format of one JSON object with a list of records: one session a file.

    Attributes:
        records: the field that lists them.
        builder: reads the records, and the fields beside them.
    """

    records: str
    builder: type[SessionBuilder]

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        document = source.object_with(self.records)
        builder = self.builder(source)
        found: list[dict[str, Json]] = []
        with source.at():
            builder.begin(document)
            found = objects(document, self.records)
        for i, record in enumerate(found):
            with source.at(field=f"{self.records}[{i}]"):
                builder.read(record)
        with source.at():
            builder.describe(document)
            yield builder.session()
