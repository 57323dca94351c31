"""What a host's entry says, in one form for all that say the same.

The order of keys, None, cache markers, the spelling of a call's arguments, and whether a lone text
is a string or a part make no difference.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b

from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import jsonable, plain, type_of

MARKERS = frozenset({"cache_control", "cachePoint"})
"""Keys that tell a provider what to cache and say nothing."""
RECORDS = frozenset(
    {
        *("timestamp", "created", "created_at", "createdAt", "updated_at", "updatedAt"),
        *("metadata", "response_metadata", "usage", "usage_metadata"),
    }
)
"""Keys of a message under which hosts keep records of their own, which say nothing."""
BODIES = ("content", "parts")
"""Keys of what a message says."""
RESULT_PARTS = frozenset({"tool_result", "functionResponse", "function_response"})
"""Types of parts that hold a tool's result; Gemini's parts have one as a key."""
_OUTPUT = "_output"
"""How the types of items end that hold a tool's result."""
RESULT_IDS = ("tool_call_id", "tool_use_id", "call_id")
"""Keys of the id that a result names its call by."""
IDS = frozenset({"id", *RESULT_IDS})
"""Keys of ids, which some adapters give anew with each request."""


def key(message: Json) -> bytes:
    """The same for two messages that say the same."""
    plain_message = said(message)
    text = json.dumps(plain_message, sort_keys=True, ensure_ascii=False, default=jsonable)
    encoded_text = text.encode("utf-8", "surrogatepass")
    digest = blake2b(encoded_text, digest_size=16)
    return digest.digest()


def loose_key(message: Json) -> bytes:
    """The same also where ids, white space, or the order of results in one message are others."""
    loose_message = _loose(said(message))
    return key(loose_message)


def is_result(message: Json) -> bool:
    """Whether a host's entry holds tools' results, and nothing else but pictures beside them."""
    record = plain(message)
    if not isinstance(record, Mapping):
        return False
    if record.get("role") == "tool" or is_output(record):
        return True
    parts = record.get("content") or record.get("parts")
    if not isinstance(parts, list) or not parts:
        return False
    has_result = False
    for part in map(plain, parts):
        if is_result_part(part):
            has_result = True
        elif not isinstance(part, Mapping) or "text" in part:
            return False
    return has_result


def is_output(record: Json) -> bool:
    """Whether it is an item of the Responses API that holds a tool's result."""
    return type_of(record).endswith(_OUTPUT)


def result_ids(message: Json) -> set[str]:
    """The ids of the calls that an entry of results answers, where it names them."""
    record = plain(message)
    ids: set[str] = set()
    parts = parts_of(record.get("content"))
    for fields in (record, *map(plain, parts)):
        if not isinstance(fields, Mapping):
            continue
        for name in RESULT_IDS:
            call_id = fields.get(name)
            if call_id:
                ids.add(str(call_id))
    return ids


def is_result_part(part: Json) -> bool:
    """Whether a part of Anthropic's or Gemini's holds a tool's result."""
    if not isinstance(part, Mapping):
        return False
    if type_of(part) in RESULT_PARTS:
        return True
    return not RESULT_PARTS.isdisjoint(part)


def _loose(value: Json) -> Json:
    """A value without ids, with one space for each white space, and with results in order."""
    if isinstance(value, str):
        words = value.split()
        return " ".join(words)
    if isinstance(value, Mapping):
        fields: dict[str, Json] = {}
        for name, field_value in value.items():
            if name not in IDS:
                fields[name] = _loose(field_value)
        return fields
    if not isinstance(value, list):
        return value
    parts = list(map(_loose, value))
    if parts and all(map(is_result_part, parts)):
        parts.sort(key=key)
    return parts


def said(value: Json) -> Json:
    """A message, a part or a call without what says nothing."""
    value = plain(value)
    if not isinstance(value, Mapping):
        return value
    silent_names = MARKERS
    if "role" in value:
        silent_names |= RECORDS
    fields: dict[str, Json] = {}
    for name, field_value in value.items():
        is_said = field_value is not None and field_value != []
        if is_said and name not in silent_names:
            fields[name] = field_value
    for name in fields.keys() & {*BODIES}:
        parts = parts_of(fields[name])
        fields[name] = list(map(said, parts))
    calls = fields.get("tool_calls")
    if isinstance(calls, list):
        fields["tool_calls"] = list(map(said, calls))
    function = fields.get("function")
    if isinstance(function, Mapping):
        fields["function"] = said(function)
    arguments = fields.get("arguments")
    if isinstance(arguments, str):
        fields["arguments"] = _decoded(arguments)
    return {name: field_value for name, field_value in fields.items() if field_value != []}


def parts_of(content: Json) -> list[Json]:
    """A content as a list of parts, without those that are a cache marker only."""
    if content == "":
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return [content]
    parts: list[Json] = []
    for part in content:
        if isinstance(part, str):
            parts.append({"type": "text", "text": part})
        elif not _is_only_marker(part):
            parts.append(part)
    return parts


def _is_only_marker(part: Json) -> bool:
    if not isinstance(part, Mapping) or not part:
        return False
    return part.keys() <= MARKERS


def _decoded(arguments: str) -> Json:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
