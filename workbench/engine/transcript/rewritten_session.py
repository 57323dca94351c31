"""A session with each of its texts rewritten, wherever they stand in it."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeAlias

from workbench.engine.transcript.log import Log
from workbench.engine.transcript.message import Json, Thinking
from workbench.engine.transcript.session import Session
from workbench.engine.transcript.shared_range import SharedRange

Write: TypeAlias = Callable[[str, str], str]
"""Rewrites a text, from the name of the field or argument that holds it and the text."""

_UNTOUCHED = frozenset(
    {
        "id", "parent", "type", "role", "call_id", "call_ids", "first_kept", "kept", "replaces", "said_by", "kind",
        "model", "usage", "stop", "signature", "media_type", "format", "sha256",
    }
)  # fmt: skip
"""Fields that say what a part is or to what it belongs."""
_LONG_NAME = 100
"""Characters; a longer text is no name."""
_NAMES = ("name", "key", "field", "variable", "element", "label", "selector", "header", "parameter")
_VALUES = frozenset({"value", "text", "content"})
"""Of an object of two parts that stand for a name and its value."""
_FIELDS_OF_SESSION = ("cwd", "id", "title", "project", "origin")
"""Those with texts, besides its log."""


def _name_of_value(value: Mapping[str, Json]) -> str:
    """The name that an object gives to its value: `{"name": "DB_PASSWORD", "value": ...}`."""
    for key in _NAMES:
        name = value.get(key)
        if isinstance(name, str) and len(name) < _LONG_NAME:
            return name
    return ""


def rewritten_session(session: Session, write: Write) -> Session:
    """The session with each text rewritten; ids and the order stay."""
    log = Log(_rewritten_value(entry, write) for entry in session.log)
    log.leaf = session.log.leaf
    rewritten: dict[str, Json] = {}
    for name in _FIELDS_OF_SESSION:
        value = getattr(session, name)
        rewritten[name] = _rewritten_value(value, write, name)
    return replace(session, log=log, **rewritten)


def _rewritten_value(value: Json, write: Write, name: str = "") -> Json:
    """Part of a session, or a decoded JSON value, with each text in it rewritten; names in inner
    objects too.
    """
    if isinstance(value, str):
        return write(name, value)
    if isinstance(value, Mapping):
        name_of_value = _name_of_value(value)
        rewritten: dict[str, Json] = {}
        for key, item in value.items():
            new_key = write("", key)
            item_name = name_of_value if key in _VALUES else key
            rewritten[new_key] = _rewritten_value(item, write, item_name)
        return rewritten
    if isinstance(value, SharedRange):
        value = tuple(value)
    if isinstance(value, list | tuple):
        return type(value)(_rewritten_value(item, write, name) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Json] = {}
    for part in fields(value):
        if part.init and part.name not in _UNTOUCHED:
            part_value = getattr(value, part.name)
            changed[part.name] = _rewritten_value(part_value, write, part.name)
    if isinstance(value, Thinking) and changed["text"] != value.text:
        # the provider's seal holds the thought itself, which nobody here can read
        changed["signature"] = ""
    return replace(value, **changed)
