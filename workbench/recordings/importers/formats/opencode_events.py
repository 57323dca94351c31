"""Messages that a user of OpenCode or Kilo Code undid.

They leave the table of messages when the next one is sent. The table of events, which OpenCode 1.18
and Kilo Code 7 have, keeps every change of a message and of a part, by number within its session.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter

from workbench.recordings.importers.json_text import decode
from workbench.recordings.importers.values import JsonObject, as_object, label, mapping

_REMOVED = "message.removed.%"
_ABOUT_MESSAGES = "message.%"
_IDS = (("info", "id"), ("part", "messageID"))
"""Where the id of a message stands, but for the event's own."""
_EVENTS = "SELECT seq, type, data FROM event WHERE aggregate_id = ? AND type LIKE ? ORDER BY seq"


@dataclass(slots=True)
class _Event:
    """An event about a message: its number within the session, its type and its data."""

    number: int
    type: str
    data: JsonObject

    @property
    def message_id(self) -> str:
        """The id of the message."""
        message_id = label(self.data, "messageID")
        for holder, name in _IDS:
            if not message_id:
                message_id = label(mapping(self.data, holder), name)
        return message_id


@dataclass(slots=True)
class _Undone:
    """A message that was undone.

    Attributes:
        removed_at: the number of the event that removed it.
        added_at: the number of the first event about it.
        info: what was said of it last.
        parts: its parts as they were at the end, by their ids.
    """

    removed_at: int
    added_at: int = -1
    info: JsonObject = field(default_factory=dict)
    parts: dict[str, JsonObject] = field(default_factory=dict)

    def take(self, event: _Event) -> None:
        """Read one event about it."""
        if self.added_at < 0:
            self.added_at = event.number
        part = mapping(event.data, "part")
        if event.type.startswith("message.updated"):
            self.info = mapping(event.data, "info")
        elif event.type.startswith("message.part.updated"):
            part_id = label(part, "id")
            self.parts[part_id] = part
        elif event.type.startswith("message.part.removed"):
            part_id = label(event.data, "partID")
            self.parts.pop(part_id, None)


def undone_messages(opened: sqlite3.Connection, session_id: str) -> list[JsonObject]:
    """The undone messages of a session in the order in which they were said, each with its
    parts, and in `undone` the number of the turn back, from 1.
    """
    if not _has_events(opened):
        return []
    messages: dict[str, _Undone] = {}
    for event in _events(opened, session_id, _REMOVED):
        messages[event.message_id] = _Undone(event.number)
    if not messages:
        return []
    for event in _events(opened, session_id, _ABOUT_MESSAGES):
        message = messages.get(event.message_id)
        if message is not None:
            message.take(event)
    return _documents(list(messages.values()))


def _documents(messages: list[_Undone]) -> list[JsonObject]:
    """The messages as documents. What was said after others were removed was undone later."""
    documents: list[JsonObject] = []
    turn = 0
    turned_back_at = -1
    for message in sorted(messages, key=attrgetter("added_at")):
        if not message.info:
            continue
        if turn == 0 or message.added_at > turned_back_at:
            turn += 1
            turned_back_at = message.removed_at
        document: JsonObject = {}
        document["info"] = message.info
        document["parts"] = list(message.parts.values())
        document["undone"] = turn
        documents.append(document)
    return documents


def _has_events(opened: sqlite3.Connection) -> bool:
    """Whether there is a table of events."""
    tables = opened.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'event'")
    return tables.fetchone() is not None


def _events(opened: sqlite3.Connection, session_id: str, types: str) -> Iterator[_Event]:
    """The events of a session whose type is like this, in their order."""
    rows = opened.execute(_EVENTS, (session_id, types))
    for row in rows.fetchall():
        data = as_object(decode(row["data"]), "event.data")
        yield _Event(row["seq"], row["type"], data)
