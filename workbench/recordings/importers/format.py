"""What a format is: a row of a table. Most formats are JSON lines, or one JSON document with a
list of records.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import as_list, items

Carries: TypeAlias = Literal[
    "tree", "calls", "thinking", "images", "usage", "times", "model", "compactions", "system"
]
Sessions: TypeAlias = Callable[[SourceFile], Iterator[Session]]


@dataclass(frozen=True, slots=True)
class Format:
    """One foreign format.

    Attributes:
        name: as `workbench list formats` shows it.
        description: one line for people.
        carries: what recordings of this format hold, and the importer reads.
        knows: whether this is the start of a recording in this format.
        sessions: gives the sessions of a recording, in its order; their origin is filled in by the
            caller. Raises `FormatError` where the recording is damaged and the source is not
            lenient.
        aside: fields whose text a client keeps and sends to no model, such as `message.details`,
            separated by spaces.
        is_general: whether files of other formats may look like it at their start.
        lacks: what a model was sent and no file of this format holds; empty where nothing of the kind
            is known.
        values: what a file holds, as JSON values, where its lines or its JSON do not say it: of a
            database, or of a text without the headings that its writer put in.
    """

    name: str
    description: str
    carries: tuple[Carries, ...]
    knows: Callable[[Head], bool]
    sessions: Sessions
    aside: str = ""
    values: Callable[[SourceFile], Iterator[Json]] | None = None
    is_general: bool = False
    lacks: str = ""


def json_lines(builder: Callable[[SourceFile], SessionBuilder]) -> Sessions:
    """Reads JSON lines, a record a line: a session a file and one a sub-agent. Where a record
    starts another session, as the runs that a shell appends to one file do, that is one of its own.
    """

    def sessions(source: SourceFile) -> Iterator[Session]:
        session_builder = builder(source)
        for line, record in source.records():
            started_id = session_builder.starts(record)
            if session_builder.id and started_id not in ("", session_builder.id):
                with source.at():
                    yield from session_builder.sessions()
                session_builder = builder(source)
            session_builder.line = line
            with source.at(line):
                session_builder.read(record)
        with source.at():
            yield from session_builder.sessions()

    return sessions


def json_records(
    builder: Callable[[SourceFile], SessionBuilder], records: Sequence[str] = ()
) -> Sessions:
    """Reads records that stand as JSON lines, as one list, or in an object that lists them in the
    first of these fields that it has; likewise.
    """
    lines = json_lines(builder)

    def sessions(source: SourceFile) -> Iterator[Session]:
        if source.in_lines():
            yield from lines(source)
            return
        session_builder = builder(source)
        document = source.document()
        values = as_list(document)
        if isinstance(document, dict):
            for field in records:
                if field in document:
                    values = items(document, field)
                    break
        with source.at():
            session_builder.read_all(values, "")
        with source.at():
            yield from session_builder.sessions()

    return sessions


def json_document(records: str, builder: Callable[[SourceFile], SessionBuilder]) -> Sessions:
    """Reads one JSON object whose field `records` lists the records, a session a file and one a
    sub-agent.
    """

    def sessions(source: SourceFile) -> Iterator[Session]:
        document = source.object_with(records)
        session_builder = builder(source)
        with source.at():
            session_builder.begin(document)
        with source.at():
            session_builder.read_all(items(document, records), records)
        with source.at():
            yield from session_builder.sessions()

    return sessions
