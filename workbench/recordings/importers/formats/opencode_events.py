"""Messages that a user of OpenCode or Kilo Code undid.

They leave the table of messages when the next one is sent. The table of events, which OpenCode 1.18
and Kilo Code 7 have, keeps every change of a message and of a part, by number within its session.
"""

import sqlite3
from dataclasses import dataclass, field

from workbench.recordings.importers.json_text import decode
from workbench.recordings.importers.values import JsonObject, as_object, label, mapping

_REMOVED = "message.removed.%"
_EVENTS = "SELECT seq, type, data FROM event WHERE aggregate_id = ? AND type LIKE ? ORDER BY seq"


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


def undone_messages(opened: sqlite3.Connection, session_id: str) -> list[JsonObject]:
    """The undone messages of a session in the order in which they were said, each with its
    parts, and in `undone` the number of the turn back, from 1.
    """
    messages = _removed(opened, session_id)
    if not messages:
        return []
    for row in opened.execute(_EVENTS, (session_id, "message.%")).fetchall():
        data = as_object(decode(row["data"]), "event.data")
        _take(messages, row["seq"], row["type"], data)
    known = [message for message in messages.values() if message.info]
    known.sort(key=lambda message: message.added_at)
    documents: list[JsonObject] = []
    turn = 0
    turned_back_at = -1
    for message in known:
        if turn == 0 or message.added_at > turned_back_at:
            turn += 1
            turned_back_at = message.removed_at
        parts = list(message.parts.values())
        documents.append({"info": message.info, "parts": [*parts], "undone": turn})
    return documents


def _removed(opened: sqlite3.Connection, session_id: str) -> dict[str, _Undone]:
    """The messages that were removed, by their ids; none where there is no table of events."""
    tables = opened.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'event'")
    if tables.fetchone() is None:
        return {}
    messages: dict[str, _Undone] = {}
    for row in opened.execute(_EVENTS, (session_id, _REMOVED)).fetchall():
        data = as_object(decode(row["data"]), "event.data")
        messages[label(data, "messageID")] = _Undone(row["seq"])
    return messages


def _take(messages: dict[str, _Undone], number: int, type_: str, data: JsonObject) -> None:
    """Read one event about a message that was removed."""
    info = mapping(data, "info")
    part = mapping(data, "part")
    message_id = label(info, "id") or label(part, "messageID") or label(data, "messageID")
    message = messages.get(message_id)
    if message is None:
        return
    if message.added_at < 0:
        message.added_at = number
    if type_.startswith("message.updated"):
        message.info = dict(info)
    elif type_.startswith("message.part.updated"):
        message.parts[label(part, "id")] = dict(part)
    elif type_.startswith("message.part.removed"):
        message.parts.pop(label(data, "partID"), None)
