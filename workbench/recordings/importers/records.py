"""Strict reading of dataclasses: their fields say what is accepted, and an error names the field
that is wrong.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json
from workbench.recordings.importers.values import kind

Record = TypeVar("Record")
TAGS = ("type", "role")
"""Fields that say which class a record is."""
_WORDS: Mapping[Any, str] = {
    str: "text", bool: "true or false", int: "a whole number", float: "a number below 1e308", list: "a list",
    dict: "an object",
}  # fmt: skip


def read_as(annotation: Json, value: Json, place: str = "") -> Json:
    """A dataclass from a decoded JSON object: every field is known and has its type, and none is
    missing.

    Args:
        annotation: a dataclass, a union of dataclasses that differ by their `type` or `role`, or
            the type of a field.
        value: what was decoded.
        place: the path of the value, for errors.

    Raises:
        FormatError: a field is unknown, missing, or of another type; the field is named by its
            path.
    """
    origin: Json = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Literal:
        if value not in arguments:
            raise FormatError(
                f"expected {' or '.join(arguments)}, found {str(value)[:40]!r}", field=place
            )
        return value
    if origin in (Union, UnionType):
        members = tuple(member for member in arguments if member is not NoneType)
        if value is None and NoneType in arguments:
            return None
        return read_as(
            members[0] if len(members) == 1 else _member(members, value, place), value, place
        )
    if origin is tuple:
        items = _typed(list, value, place)
        if arguments[0] in (str, int) and {*map(type, items)} <= {arguments[0]}:
            return tuple(items)
        return tuple(read_as(arguments[0], item, f"{place}[{i}]") for i, item in enumerate(items))
    if is_dataclass(annotation):
        return _record(annotation, value, place)
    return _typed(annotation if annotation in _WORDS else dict, value, place)


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


def _record(cls: Json, value: Json, place: str) -> Json:
    record, (types, needed), prefix = (
        _typed(dict, value, place),
        _fields(cls),
        place and f"{place}.",
    )
    for name in record:
        if name not in types and name not in TAGS:
            raise FormatError(
                f"unknown field; known fields are {', '.join(sorted(types))}", field=prefix + name
            )
    for name in needed:
        if name not in record:
            raise FormatError("the field is missing", field=prefix + name)
    return cls(
        **{
            name: read_as(types[name], item, prefix + name)
            for name, item in record.items()
            if name in types
        }
    )


@cache
def _fields(cls: Json) -> tuple[dict[str, Any], list[str]]:
    """The type of each field but the tags, and the names of those without a default."""
    types = get_type_hints(cls)
    untagged = [field for field in fields(cls) if field.name not in TAGS]
    needed = [f.name for f in untagged if f.default is MISSING and f.default_factory is MISSING]
    return {field.name: types[field.name] for field in untagged}, needed


def _member(members: tuple[Any, ...], value: Json, place: str) -> Json:
    """The member of a union whose tag the value has."""
    tag, by_tag = _tags(members)
    name = _typed(dict, value, place).get(tag)
    if not isinstance(name, str) or name not in by_tag:
        reason = f"expected one of {', '.join(sorted(by_tag))}, found {str(name)[:40]!r}"
        raise FormatError(reason, field=f"{place}.{tag}" if place else tag)
    return by_tag[name]


@cache
def _tags(members: tuple[Any, ...]) -> tuple[str, dict[str, Any]]:
    """The field that tells the members of a union apart, and each by its value."""
    tag = next(name for name in TAGS if name in members[0].__dataclass_fields__)
    return tag, {member.__dataclass_fields__[tag].default: member for member in members}


def _typed(cls: type[Any], value: Json, place: str) -> Json:
    if cls is float and type(value) is int and abs(value) < 1e308:
        return float(value)
    if type(value) is not cls:
        raise FormatError(f"expected {_WORDS[cls]}, found {kind(value)}", field=place)
    return value
