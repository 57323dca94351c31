"""Strict reading of dataclasses: their fields say what is accepted, and an error names the field
that is wrong.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json
from workbench.recordings.importers.values import JsonObject, kind

TomlRecord = TypeVar("TomlRecord")
TAGS = ("type", "role")
"""Fields that say which class a record is."""
_WORDS: Mapping[Any, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number below 1e308",
    list: "a list",
    dict: "an object",
}


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
        return _union(arguments, value, place)
    if origin is tuple:
        return _tuple(arguments[0], _typed(list, value, place), place)
    if is_dataclass(annotation):
        return _record(annotation, value, place)
    return _typed(annotation if annotation in _WORDS else dict, value, place)


def _union(arguments: tuple[Any, ...], value: Json, place: str) -> Json:
    """The value of a field that may have one of several types."""
    if value is None and NoneType in arguments:
        return None
    members = tuple(argument for argument in arguments if argument is not NoneType)
    member = members[0]
    if len(members) > 1:
        member = _member(members, value, place)
    return read_as(member, value, place)


def _tuple(item_type: Json, items: list[Json], place: str) -> tuple[Json, ...]:
    """The items of a field that is a list."""
    if item_type in (str, int) and {*map(type, items)} <= {item_type}:
        return tuple(items)  # most are, and need no look at each
    values: list[Json] = []
    for index, item in enumerate(items):
        values.append(read_as(item_type, item, f"{place}[{index}]"))
    return tuple(values)


def read_toml(cls: type[TomlRecord], file: Path, file_kind: str) -> TomlRecord:
    """The dataclass that a TOML file describes; `file_kind` names it in errors.

    Raises:
        FormatError: there is no such file, it is not TOML, or a field is wrong; the field is named.
    """
    try:
        document = tomllib.loads(file.read_text("utf-8"))
        record: TomlRecord = read_as(cls, document)
        return record
    except FileNotFoundError:
        raise FormatError(f"there is no {file_kind} here", where=str(file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FormatError(f"the {file_kind} is not TOML: {problem}", where=str(file)) from None
    except FormatError as error:
        raise FormatError(f"{file_kind}: {error.why}", where=str(file), field=error.field) from None


def _record(cls: Json, value: Json, place: str) -> Json:
    record = _typed(dict, value, place)
    fields_of_class = _fields(cls)
    types = fields_of_class.types
    prefix = f"{place}." if place else ""
    for name in record:
        if name not in types and name not in TAGS:
            known_fields = ", ".join(sorted(types))
            reason = f"unknown field; known fields are {known_fields}"
            raise FormatError(reason, field=prefix + name)
    for name in fields_of_class.needed:
        if name not in record:
            raise FormatError("the field is missing", field=prefix + name)
    values: JsonObject = {}
    for name, item in record.items():
        if name in types:
            values[name] = read_as(types[name], item, prefix + name)
    return cls(**values)


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of a class but the tags.

    Attributes:
        types: the type of each.
        needed: the names of those without a default.
    """

    types: dict[str, Any]
    needed: list[str]


@cache
def _fields(cls: Json) -> _Fields:
    hints = get_type_hints(cls)
    types: dict[str, Any] = {}
    needed: list[str] = []
    for field in fields(cls):
        if field.name in TAGS:
            continue
        types[field.name] = hints[field.name]
        if field.default is MISSING and field.default_factory is MISSING:
            needed.append(field.name)
    return _Fields(types, needed)


def _member(members: tuple[Any, ...], value: Json, place: str) -> Json:
    """The member of a union whose tag the value has."""
    tag, by_tag = _tags(members)
    record = _typed(dict, value, place)
    name = record.get(tag)
    if not isinstance(name, str) or name not in by_tag:
        known_names = ", ".join(sorted(by_tag))
        shown_name = str(name)[:40]
        raise FormatError(
            f"expected one of {known_names}, found {shown_name!r}",
            field=f"{place}.{tag}" if place else tag,
        )
    return by_tag[name]


@cache
def _tags(members: tuple[Any, ...]) -> tuple[str, dict[str, Any]]:
    """The field that tells the members of a union apart, and each by its value."""
    tag = next(name for name in TAGS if name in members[0].__dataclass_fields__)
    members_by_tag: dict[str, Any] = {}
    for member in members:
        field = member.__dataclass_fields__[tag]
        members_by_tag[field.default] = member
    return tag, members_by_tag


def _typed(cls: type[Any], value: Json, place: str) -> Json:
    if cls is float and type(value) is int and abs(value) < 1e308:
        return float(value)
    if type(value) is not cls:
        raise FormatError(f"expected {_WORDS[cls]}, found {kind(value)}", field=place)
    return value
