"""Arguments of calls that are no JSON object, as where an answer ended in the middle of one.

Source:
    MiniMax: "invalid function arguments json string" (HKUDS/nanobot#2373).
"""

import json
from collections.abc import Sequence

from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import plain, type_of
from workbench.live.formats.table import MessageFormat
from workbench.live.mending.sent_entry import SentEntry

UNREAD = "unread_arguments"
"""The name under which arguments that are no JSON object are sent."""


def with_whole_arguments(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With a JSON object in the place of arguments that are none; it holds their text."""
    if format == "responses":
        return list(map(_with_whole_item, entries))
    if format == "openai":
        return list(map(_with_whole_calls, entries))
    return list(entries)


def _with_whole_item(entry: SentEntry) -> SentEntry:
    """An item of the Responses API; itself where it is no call or its arguments are whole."""
    if type_of(entry.record) != "function_call":
        return entry
    arguments = _whole(entry.record.get("arguments"))
    if arguments == entry.record.get("arguments"):
        return entry
    return entry.with_fields(arguments=arguments)


def _with_whole_calls(entry: SentEntry) -> SentEntry:
    """A message of chat completions; itself where the arguments of all its calls are whole."""
    calls: list[Json] = []
    is_changed = False
    for call in map(plain, entry.record.get("tool_calls") or ()):
        function = plain(call.get("function"))
        if isinstance(function, dict):
            arguments = _whole(function.get("arguments"))
            is_changed = is_changed or arguments != function.get("arguments")
            call = {**call, "function": {**function, "arguments": arguments}}
        calls.append(call)
    if not is_changed:
        return entry
    return entry.with_fields(tool_calls=calls)


def _whole(arguments: Json) -> Json:
    """The arguments themselves if they are a JSON object, else one that holds their text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        decoded = json.loads(arguments)
    except (ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, dict):
        return arguments
    if not arguments.strip():
        return "{}"
    return json.dumps({UNREAD: arguments}, ensure_ascii=False)
