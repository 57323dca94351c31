"""What a host's entry says, in one form for all that say the same.

The order of keys, None, cache markers, the spelling of a call's arguments, and whether a lone text
is a string or a part make no difference.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b

from workbench.engine.transcript.message import Json
from workbench.live.formats.parts import plain

MARKERS = frozenset({"cache_control", "cachePoint"})
"""Keys that tell a provider what to cache and say nothing."""
BODIES = ("content", "parts")
"""Keys of what a message says."""
RESULT_TYPES = frozenset({"tool_result", "functionResponse", "function_call_output"})
"""Types of parts and items that hold a tool's result; Gemini's parts have one as their only key."""
RESULT_IDS = ("tool_call_id", "tool_use_id", "call_id")
"""Keys of the id that a result names its call by."""
IDS = frozenset({"id", *RESULT_IDS})
"""Keys of ids, which some adapters give anew with each request."""


def key(message: Json) -> bytes:
    """The same for two messages that say the same."""
    text = json.dumps(said(message), sort_keys=True, ensure_ascii=False, default=str)
    encoded_text = text.encode("utf-8", "surrogatepass")
    return blake2b(encoded_text, digest_size=16).digest()


def loose_key(message: Json) -> bytes:
    """The same also where ids, white space, or the order of results in one message are others."""
    return key(_loose(said(message)))


def is_result(message: Json) -> bool:
    """Whether a host's entry holds tools' results and nothing else."""
    record = plain(message)
    if not isinstance(record, Mapping):
        return False
    if record.get("role") == "tool" or record.get("type") in RESULT_TYPES:
        return True
    parts = record.get("content") or record.get("parts")
    if not isinstance(parts, list) or not parts:
        return False
    return all(map(_is_result_part, map(plain, parts)))


def result_ids(message: Json) -> set[str]:
    """The ids of the calls that an entry of results answers, where it names them."""
    record = plain(message)
    ids: set[str] = set()
    parts = map(plain, parts_of(record.get("content")))
    for fields in (record, *parts):
        if not isinstance(fields, Mapping):
            continue
        for name in RESULT_IDS:
            if fields.get(name):
                call_id = str(fields[name])
                ids.add(call_id)
    return ids


def _is_result_part(part: Json) -> bool:
    if not isinstance(part, Mapping):
        return False
    return part.get("type") in RESULT_TYPES or not RESULT_TYPES.isdisjoint(part)


def _loose(value: Json) -> Json:
    """A value without ids, with one space for each white space, and with results in order."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, Mapping):
        fields: dict[str, Json] = {}
        for name, field_value in value.items():
            if name not in IDS:
                fields[name] = _loose(field_value)
        return fields
    if not isinstance(value, list):
        return value
    parts = list(map(_loose, value))
    if parts and all(map(_is_result_part, parts)):
        parts.sort(key=key)
    return parts


def said(value: Json) -> Json:
    """A message, a part or a call without what says nothing."""
    value = plain(value)
    if not isinstance(value, Mapping):
        return value
    fields: dict[str, Json] = {}
    for name, field_value in value.items():
        is_said = field_value is not None and field_value != []
        if is_said and name not in MARKERS:
            fields[name] = field_value
    for name in fields.keys() & {*BODIES}:
        parts = parts_of(fields[name])
        fields[name] = list(map(said, parts))
    if isinstance(fields.get("tool_calls"), list):
        fields["tool_calls"] = list(map(said, fields["tool_calls"]))
    if isinstance(fields.get("function"), Mapping):
        fields["function"] = said(fields["function"])
    if isinstance(fields.get("arguments"), str):
        fields["arguments"] = _decoded(fields["arguments"])
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
    return isinstance(part, Mapping) and bool(part) and part.keys() <= MARKERS


def _decoded(arguments: str) -> Json:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
