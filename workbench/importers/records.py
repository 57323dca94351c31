"""Strict reading of dataclasses: their fields say what is accepted, and an error names the field that is wrong."""

from __future__ import annotations

import tomllib
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from workbench.errors import FormatError
from workbench.importers.decoding import kind
from workbench.transcript.message import Json

Record = TypeVar("Record")
TAGS = ("type", "role")
"""Fields that say which class a record is."""
_SCALARS: dict[Any, str] = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def read_as(annotation: Json, value: Json) -> Json:
    """A dataclass from a decoded JSON object: every field is known and has its type, and none is missing.

    Args:
        annotation: a dataclass, a union of dataclasses that differ by their `type` or `role`, or the type of a field.
        value: what was decoded.

    Raises:
        FormatError: a field is unknown, missing, or of another type; the field is named by its path.
    """
    origin: Json = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Literal:
        if value not in arguments:
            raise FormatError(f"expected {' or '.join(arguments)}, found {str(value)[:40]!r}")
        return value
    if origin in (Union, UnionType):
        if value is None and NoneType in arguments:
            return None
        members = tuple(member for member in arguments if member is not NoneType)
        return read_as(members[0] if len(members) == 1 else _member(members, value), value)
    if origin is tuple:
        if not isinstance(value, list):
            raise FormatError(f"expected a list, found {kind(value)}")
        return tuple(_inside(f"[{i}]", arguments[0], item) for i, item in enumerate(value))
    if is_dataclass(annotation):
        return _record(annotation, value)
    return _scalar(annotation, value) if annotation in _SCALARS else _object(value)


def read_toml(cls: type[Record], file: Path, what: str) -> Record:
    """The dataclass that a TOML file describes; `what` names the file in errors.

    Raises:
        FormatError: there is no such file, it is not TOML, or a field is wrong; the field is named.
    """
    try:
        record: Record = read_as(cls, tomllib.loads(file.read_text("utf-8")))
        return record
    except FileNotFoundError:
        raise FormatError(f"there is no {what} here", where=str(file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FormatError(f"the {what} is not TOML: {problem}", where=str(file)) from None
    except FormatError as error:
        raise FormatError(f"{what}: {error.why}", where=str(file), field=error.field) from None


def _record(cls: Json, value: Json) -> Json:
    given, (types, needed) = _object(value), _fields(cls)
    for name in given:
        if name not in types and name not in TAGS:
            raise FormatError(f"unknown field; known fields are {', '.join(sorted(types))}", field=name)
    for name in needed:
        if name not in given:
            raise FormatError("the field is missing", field=name)
    return cls(**{name: _inside(name, types[name], item) for name, item in given.items() if name in types})


@cache
def _fields(cls: Json) -> tuple[dict[str, Any], list[str]]:
    """The type of each field but the tags, and the names of those without a default."""
    known = [field for field in fields(cls) if field.name not in TAGS]
    needed = [f.name for f in known if f.default is MISSING and f.default_factory is MISSING]
    types = get_type_hints(cls)
    return {field.name: types[field.name] for field in known}, needed


def _member(members: tuple[Any, ...], value: Json) -> Json:
    """The member of a union whose tag the value has."""
    tag, by_tag = _tags(members)
    name = _object(value).get(tag)
    if not isinstance(name, str) or name not in by_tag:
        raise FormatError(f"expected one of {', '.join(sorted(by_tag))}, found {str(name)[:40]!r}", field=tag)
    return by_tag[name]


@cache
def _tags(members: tuple[Any, ...]) -> tuple[str, dict[str, Any]]:
    """The field that tells the members apart, and the member for each of its values."""
    defaults = [{field.name: field.default for field in fields(member)} for member in members]
    tag = next(name for name in TAGS if name in defaults[0])
    return tag, {str(default[tag]): member for default, member in zip(defaults, members, strict=True)}


def _inside(place: str, annotation: Json, value: Json) -> Json:
    """A field or item; its errors get this place before their own."""
    try:
        return read_as(annotation, value)
    except FormatError as error:
        dot = "" if not error.field or error.field.startswith("[") else "."
        raise FormatError(error.why, field=place + dot + error.field) from None


def _scalar(cls: type[Any], value: Json) -> Json:
    if type(value) is not cls and not (cls is float and type(value) is int):
        raise FormatError(f"expected {_SCALARS[cls]}, found {kind(value)}")
    try:
        return cls(value)
    except OverflowError:
        raise FormatError("the number is larger than any float") from None


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise FormatError(f"expected an object, found {kind(value)}")
    return value
