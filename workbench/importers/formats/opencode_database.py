"""OpenCode's database, `~/.local/share/opencode/opencode.db` (SQLite, since version 1.2), read as its exports are.

Source: sst/opencode, packages/opencode/src/session/session.sql.ts: messages and parts are JSON in a column `data`.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from workbench.errors import FormatError
from workbench.importers.decoding import as_object, decode
from workbench.importers.formats.opencode import OpenCodeBuilder
from workbench.importers.head import Head
from workbench.importers.source import SourceFile
from workbench.importers.values import items
from workbench.transcript.message import Json
from workbench.transcript.session import Session

MAGIC = "SQLite format 3"
_TABLES = re.compile(r"CREATE TABLE [`\"]?(message|part|session)\b")
_NO_LOG = b"\x01\x01"
"""In bytes 18 and 19 of a database: it has no write-ahead log, whose file cannot be opened beside bytes in memory."""


def knows(head: Head) -> bool:
    """Whether it is a database with OpenCode's tables."""
    return head.text.startswith(MAGIC) and {"message", "part"} <= set(_TABLES.findall(head.text))


def sessions(source: SourceFile) -> Iterator[Session]:
    """The sessions, those of sub-agents among them, in the order in which they were begun."""
    for document in values(source):
        built = OpenCodeBuilder(source)
        with source.at():
            built.begin(document)
            built.read_all(items(document, "messages"), "messages")
            yield built.session()


def values(source: SourceFile) -> Iterator[dict[str, Json]]:
    """Each session as `opencode export` would write it."""
    with source.open() as stream:
        raw = stream.read()
    if Path(f"{source.where}-wal").is_file() and Path(f"{source.where}-wal").stat().st_size:
        source.skipped.append(
            "the newest messages may be in the file beside it that ends in -wal: close OpenCode first"
        )
    with closing(sqlite3.connect(":memory:")) as database:
        database.row_factory = sqlite3.Row
        try:
            database.deserialize(raw[:18] + _NO_LOG + raw[20:])
            for row in database.execute("SELECT * FROM session ORDER BY time_created, id").fetchall():
                messages = [_message(database, one) for one in _rows(database, "message", "session_id", row["id"])]
                yield {"info": dict(row), "messages": messages}
        except (sqlite3.Error, IndexError) as error:
            raise FormatError(f"the database cannot be read ({error})", where=source.where) from None


def _rows(database: sqlite3.Connection, table: str, field: str, value: str) -> list[dict[str, Json]]:
    found = database.execute(f"SELECT id, data FROM {table} WHERE {field} = ? ORDER BY time_created, id", (value,))
    return [{**as_object(decode(row["data"]), f"{table}.data"), "id": row["id"]} for row in found.fetchall()]


def _message(database: sqlite3.Connection, info: dict[str, Json]) -> dict[str, Json]:
    return {"info": info, "parts": _rows(database, "part", "message_id", info["id"])}
