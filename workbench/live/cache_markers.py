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
    marker_names = fields.keys() & MARKERS
    return [(name, fields[name]) for name in marker_names]


def remarked(message: Json, current: Json) -> Json:
    """A message that was made of the host's, with the cache markers that the host has on its own
    now.
    """
    present_markers = markers(current)
    if markers(message) == present_markers:
        return message
    marked_fields = dict(present_markers)
    record = _unmarked(message)
    name = body_name(record)
    is_marked_as_whole = plain(current).keys() & MARKERS
    if not name or is_marked_as_whole:
        return {**record, **marked_fields}
    body = record[name]
    if marked_fields and isinstance(body, str):
        parts: list[Json] = [{"type": "text", "text": body}]
    else:
        parts = list(map(_unmarked, _listed(body)))
    if not parts:
        return record
    last_part = parts[-1]
    if marked_fields and isinstance(last_part, Mapping):
        parts[-1] = {**last_part, **marked_fields}
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
    if isinstance(content, list):
        return content
    return []
