"""The markers of a provider's cache on a message and its parts."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.engine.transcript.message import Json
from workbench.live.formats.canonical import BODIES, MARKERS
from workbench.live.formats.parts import plain


def body_name(record: Json) -> str:
    """The key of what a message says; empty where it says nothing."""
    if isinstance(record, Mapping):
        for name in BODIES:
            if record.get(name):
                return name
    return ""


def markers(message: Json) -> list[tuple[str, Json]]:
    """The cache markers of a message and its parts, each with its key."""
    record = plain(message)
    found_markers: list[tuple[str, Json]] = _markers_on(record)
    for name in BODIES:
        for part in _listed(record.get(name)):
            found_markers += _markers_on(part)
    return found_markers


def _markers_on(fields: Json) -> list[tuple[str, Json]]:
    """The cache markers of a message or a part alone."""
    if not isinstance(fields, Mapping):
        return []
    return [(name, fields[name]) for name in fields.keys() & MARKERS]


def remarked(message: Json, current: Json) -> Json:
    """A message that was made of the host's, with the cache markers that the host has on its own
    now.
    """
    present_markers = markers(current)
    if markers(message) == present_markers:
        return message
    record = _unmarked(message)
    name = body_name(record)
    if not name or plain(current).keys() & MARKERS:
        return {**record, **dict(present_markers)}
    if present_markers and isinstance(record[name], str):
        parts: list[Json] = [{"type": "text", "text": record[name]}]
    else:
        parts = [_unmarked(part) for part in _listed(record[name])]
    if present_markers and parts and isinstance(parts[-1], Mapping):
        parts[-1] = {**parts[-1], **dict(present_markers)}
    if not parts:
        return record
    return {**record, name: parts}


def _unmarked(fields: Json) -> Json:
    """A message or a part without cache markers."""
    if not isinstance(fields, Mapping):
        return fields
    unmarked_fields: dict[str, Json] = {}
    for name, value in fields.items():
        if name not in MARKERS:
            unmarked_fields[name] = value
    return unmarked_fields


def _listed(content: Json) -> list[Json]:
    return content if isinstance(content, list) else []
