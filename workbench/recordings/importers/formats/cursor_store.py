"""Chats of Cursor's agent of the terminal: `~/.cursor/chats/*/*/store.db` (SQLite).

The table `meta` has one JSON object, written as hexadecimal digits. The table `blobs` has values by
their hash: messages as the Vercel AI SDK shapes them (JSON), and states of the chat (protobuf), of
which `latestRootBlobId` names the newest. Its field 1 lists the messages, its field 9 has the
folder. Source: readers of the format in public repositories, 2025 and 2026.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.session_tables import database_format, readable_database
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.sqlite import MAGIC
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    block_texts,
    label,
)

_TABLES = re.compile(r"CREATE TABLE [`\"]?(\w+)[`\"]? \(([^)]*)\)")
_HEXADECIMAL = re.compile(r"(?:[0-9a-fA-F]{2})+")
_COLUMNS = {"blobs": ("id", "data"), "meta": ("key", "value")}
_MESSAGE, _FOLDER = 1, 9
"""Fields of a state."""
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
"""Kinds of values in protobuf."""


class CursorStore:
    """The database of one chat."""

    def knows(self, head: Head) -> bool:
        """Whether a file is a database with these two tables alone."""
        if not head.text.startswith(MAGIC):
            return False
        columns: dict[str, tuple[str, ...]] = {}
        for name, definitions in _TABLES.findall(head.text):
            column_names: list[str] = []
            for definition in definitions.split(","):
                column_name = definition.split()[0]
                column_names.append(column_name.strip('`"'))
            columns[name] = tuple(column_names)
        return columns == _COLUMNS

    def documents(self, source: SourceFile) -> Iterator[JsonObject]:
        """The chat, with the messages of its newest state, and those of no state that is left."""
        with readable_database(source) as opened:
            about = _about_chat(opened)
            blobs = _blobs(opened)
        state_id = label(about, "latestRootBlobId")
        message_ids: list[str] = []
        state = blobs.get(state_id, b"")
        for number, value in protobuf_fields(state):
            if number == _MESSAGE:
                message_ids.append(value.hex())
            elif number == _FOLDER:
                about["cwd"] = value.decode(errors="replace")
        about["id"] = label(about, "agentId") or source.folder
        listed = _listed(message_ids, blobs)
        unlisted = _unlisted(message_ids, blobs)
        about["messages"] = [*listed, *unlisted]
        yield about


def _blobs(opened: sqlite3.Connection) -> dict[str, bytes]:
    """The values of the database by their hash, oldest first."""
    blobs: dict[str, bytes] = {}
    rows = opened.execute("SELECT id, data FROM blobs ORDER BY rowid")
    for row in rows.fetchall():
        data = row["data"] or b""
        if isinstance(data, str):
            data = data.encode()
        blobs[row["id"]] = data
    return blobs


def _listed(message_ids: Sequence[str], blobs: Mapping[str, bytes]) -> Iterator[JsonObject]:
    """The messages of the newest state; for one that the database lacks, its id."""
    for message_id in message_ids:
        data = blobs.get(message_id, b"")
        message = _message(data)
        if message is None:
            message = {"missing": message_id}
        yield message


def _unlisted(message_ids: Sequence[str], blobs: Mapping[str, bytes]) -> Iterator[JsonObject]:
    """The messages that the newest state does not list."""
    listed_ids = set(message_ids)
    for blob_id, data in blobs.items():
        if blob_id in listed_ids:
            continue
        message = _message(data)
        if message is not None:
            yield {"earlier": message}


def _about_chat(opened: sqlite3.Connection) -> JsonObject:
    """What the database says of its chat."""
    for row in opened.execute("SELECT value FROM meta").fetchall():
        words = row["value"]
        if isinstance(words, bytes):
            words = words.decode(errors="replace")
        if _HEXADECIMAL.fullmatch(words):
            raw = bytes.fromhex(words)
            words = raw.decode(errors="replace")
        about = decode_or(words)
        if isinstance(about, dict) and "latestRootBlobId" in about:
            return about
    return {}


def _message(data: bytes) -> JsonObject | None:
    """The message that a blob is; None where it is a state or a file."""
    if not data.startswith(b"{"):
        return None
    words = data.decode(errors="replace")
    value = decode_or(words)
    if isinstance(value, dict) and "role" in value:
        return value
    return None


def protobuf_fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The number and the bytes of each field that has bytes, up to the first damage."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        kind = key & 7
        size = 0
        if kind == _VARINT:
            _, position = _varint(data, position)
        elif kind == _BYTES:
            size, position = _varint(data, position)
        elif kind == _FIXED_64:
            size = 8
        elif kind == _FIXED_32:
            size = 4
        else:
            return
        end = position + size
        if end > len(data):
            return
        if kind == _BYTES:
            yield key >> 3, data[position:end]
        position = end


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A number of protobuf, and the position behind it."""
    number = shift = 0
    while position < len(data):
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return number, position


class CursorStoreBuilder(ChatBuilder):
    """Reads messages; the first of a user says what the client knows of the machine."""

    about = {"id": "id", "title": "name", "cwd": "cwd", "model": "lastUsedModel"}

    def read(self, record: Record) -> None:
        """Read one message of the newest state, or count one that it lacks."""
        if "earlier" in record:
            message = as_mapping(record["earlier"])
            role = label(message, "role")
            self.source.leave_record(f"{role} message of an earlier state", dict(message))
        elif "missing" in record:
            self.source.unknown["message that the database lacks"] += 1
        else:
            words = label(record, "content") or block_texts(record, "content")
            is_about_machine = words.startswith("<user_info>")
            has_question = "<user_query>" in words
            self.synthetic = is_about_machine and not has_question
            super().read(record)


CURSOR_STORE = database_format(
    name="cursor_store",
    description="chats of Cursor's agent of the terminal (SQLite, `store.db`)",
    carries=("calls", "thinking", "images", "model", "system"),
    tables=CursorStore(),
    builder=CursorStoreBuilder,
    aside="name messages.providerOptions messages.content.providerOptions",
)
