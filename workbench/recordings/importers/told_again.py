"""Finding the messages that a client tells again: after a compaction or a resume it writes down
what its model is sent from now on, old messages among it.
"""

from collections.abc import Mapping
from typing import TypeAlias

from workbench.engine.transcript.log import Log, MessageEntry
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    ToolResult,
    plain_text,
)
from workbench.recordings.importers.message_content import Content

CLIENT_ANSWER = "client_answer"
"""The kind of a note: words that a client puts into its model's mouth behind a summary."""
MessageKey: TypeAlias = tuple[str, str, tuple[str, ...]]
"""The role, the words and the ids of the calls of a message; a result has its call's id alone."""


def places_of(log: Log) -> dict[MessageKey, str]:
    """The ids of the messages up to the leaf, by their keys; of like ones the newest."""
    places: dict[MessageKey, str] = {}
    for entry in log.path():
        if isinstance(entry, MessageEntry):
            places[_key(entry.message)] = entry.id
    return places


def ids_told_again(places: Mapping[MessageKey, str], role: str, parts: Content) -> list[str]:
    """The ids of the messages that a content tells again; none where a part of it is new."""
    ids: list[str] = []
    for key in _keys(role, parts):
        if key not in places:
            return []
        ids.append(places[key])
    return ids


def _key(message: Message) -> MessageKey:
    if isinstance(message, ToolResult):
        return "tool", "", (message.call_id,)
    calls = message.calls if isinstance(message, AssistantMessage) else ()
    return message.role, plain_text(message), tuple(call.id for call in calls)


def _keys(role: str, parts: Content) -> list[MessageKey]:
    """The keys of the results and the message that a content holds."""
    keys: list[MessageKey] = []
    for result in parts.results:
        result_key = ("tool", "", (result.call_id,))
        keys.append(result_key)
    if parts.blocks:
        call_ids = tuple(call.id for call in parts.calls)
        message_key = (role, parts.words, call_ids)
        keys.append(message_key)
    return keys
