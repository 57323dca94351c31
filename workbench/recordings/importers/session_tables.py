"""Agents that keep their sessions in an SQLite database: which tables these are."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from workbench.base.errors import FormatError
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.format import Carries, Format, Sessions
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.sqlite import MAGIC, database
from workbench.recordings.importers.values import JsonObject, items


class SessionDatabase(Protocol):
    """A database that holds sessions."""

    def knows(self, head: Head) -> bool:
        """Whether a file is such a database."""
        ...

    def documents(self, source: SourceFile) -> Iterator[JsonObject]:
        """Each session's facts, its `id`, and its `messages`."""
        ...


@dataclass(frozen=True, slots=True)
class TableVersions:
    """The tables that one program had in its versions, the newest first."""

    versions: tuple[SessionTables, ...]

    def knows(self, head: Head) -> bool:
        """Whether a file is a database with the tables of one version."""
        return any(version.knows(head) for version in self.versions)

    def documents(self, source: SourceFile) -> Iterator[JsonObject]:
        """Each session's columns, with its `messages`."""
        head = next(source.heads())
        for version in self.versions:
            if version.knows(head):
                return version.documents(source)
        return iter(())


@dataclass(frozen=True, slots=True)
class SessionTables:
    """Where a database has its sessions.

    Attributes:
        columns: names that its tables have, by which it is recognised.
        sessions: the query of the sessions, oldest first; each row has an `id`.
        messages: the query of one session's messages, in order.
        json: columns whose text is JSON.
    """

    columns: tuple[str, ...]
    sessions: str
    messages: str
    json: tuple[str, ...] = ()

    def knows(self, head: Head) -> bool:
        """Whether a file is a database with these columns."""
        return is_database_with(self.columns, head)

    def documents(self, source: SourceFile) -> Iterator[JsonObject]:
        """Each session's columns, with its `messages`.

        Raises:
            FormatError: the database cannot be read.
        """
        with readable_database(source) as opened:
            yield from self.documents_in(opened)

    def documents_in(self, opened: sqlite3.Connection) -> Iterator[JsonObject]:
        """Each session's columns, with its `messages`."""
        for row in opened.execute(self.sessions).fetchall():
            document = self._decoded(row)
            rows = opened.execute(self.messages, (row["id"],)).fetchall()
            document["messages"] = [self._decoded(message) for message in rows]
            yield document

    def _decoded(self, row: sqlite3.Row) -> JsonObject:
        """A row, with what is JSON in it decoded; a column without a value is left out."""
        values: JsonObject = {}
        for name in row.keys():  # noqa: SIM118 - a row is no dict
            value = row[name]
            if value is None:
                continue
            if isinstance(value, bytes):
                value = value.decode(errors="replace")
            if name in self.json:
                value = decode_or(value, value)
                # some programs encode what is JSON text already
                value = decode_or(value, value)
            values[name] = value
        return values


def is_database_with(names: Iterable[str], head: Head) -> bool:
    """Whether a file is a database whose tables and columns have these names among them."""
    if not head.text.startswith(MAGIC):
        return False
    return set(names) <= set(re.findall(r"\w+", head.text))


@contextmanager
def readable_database(source: SourceFile) -> Iterator[sqlite3.Connection]:
    """The database that a recording is.

    Raises:
        FormatError: it cannot be read, or lacks a column.
    """
    try:
        with database(source.database_bytes()) as opened:
            yield opened
    except (sqlite3.Error, IndexError) as error:
        raise FormatError(f"the database cannot be read ({error})", where=source.where) from None


def database_sessions(tables: SessionDatabase, builder: type[SessionBuilder]) -> Sessions:
    """Reads a database's sessions, one after another; those without any message are left out."""

    def sessions(source: SourceFile) -> Iterator[Session]:
        for document in tables.documents(source):
            session_builder = builder(source)
            with source.at(field=f"session {document['id']}"):
                session_builder.begin(document)
                session_builder.read_all(items(document, "messages"), "messages")
                for session in session_builder.sessions():
                    if len(session.log):
                        yield session

    return sessions


def database_format(
    name: str,
    description: str,
    carries: tuple[Carries, ...],
    tables: SessionDatabase,
    builder: type[SessionBuilder],
    aside: str = "title messages.parts.data.metadata",
) -> Format:
    """The format of an agent that keeps its sessions in SQLite."""
    return Format(
        name,
        description,
        carries,
        knows=tables.knows,
        sessions=database_sessions(tables, builder),
        aside=aside,
        values=tables.documents,
    )
