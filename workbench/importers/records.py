"""Strict reading of dataclasses: their fields say what is accepted, and an error names the field that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from workbench.errors import FormatError
from workbench.importers.decoding import kind
from workbench.transcript.message import Json

Record = TypeVar("Record")
Reader: TypeAlias = Callable[[Json], Any]
"""Turns a decoded JSON value into the value of one field."""

TAGS = ("type", "role")
"""Fields that say which class a record is."""


def read_as(cls: type[Record], value: Json) -> Record:
    """A dataclass from a decoded JSON object: every field is known and has its type, and none is missing.

    Raises:
        FormatError: a field is unknown, missing, or of another type; the field is named by its path.
    """
    record: Record = _record(cls, value)
    return record


def read_one_of(union: object, value: Json) -> Any:  # noqa: ANN401  # one of the union's classes
    """The member of a union of dataclasses that the value's `type` or `role` names.

    Raises:
        FormatError: it names none, or a field is wrong.
    """
    return _reader(union)(value)


def _record(cls: Any, value: Json) -> Any:  # noqa: ANN401  # a dataclass, an instance of it
    given = _object(value)
    readers, needed = _fields(cls)
    for name in given:
        if name not in readers and name not in TAGS:
            raise FormatError(f"unknown field; known fields are {', '.join(sorted(readers))}", field=name)
    for name in needed:
        if name not in given:
            raise FormatError("the field is missing", field=name)
    return cls(**{name: _inside(name, readers[name], item) for name, item in given.items() if name in readers})


@cache
def _fields(cls: Any) -> tuple[dict[str, Reader], list[str]]:  # noqa: ANN401  # a dataclass
    """The reader of each field but the tags, and the names of those without a default."""
    types = get_type_hints(cls)
    known = [field for field in fields(cls) if field.name not in TAGS]
    needed = [f.name for f in known if f.default is MISSING and f.default_factory is MISSING]
    return {field.name: _reader(types[field.name]) for field in known}, needed


@cache
def _reader(annotation: Any) -> Reader:  # noqa: ANN401  # a type, or a form of `typing`
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return partial(_choice, arguments)
    if origin in (Union, UnionType):
        members = [member for member in arguments if member is not NoneType]
        reader = _reader(members[0]) if len(members) == 1 else partial(_tagged, tuple(members))
        return reader if len(members) == len(arguments) else lambda value: None if value is None else reader(value)
    if origin is tuple:
        return partial(_items, _reader(arguments[0]))
    if isinstance(annotation, type) and is_dataclass(annotation):
        return partial(_record, annotation)
    return partial(_scalar, annotation) if annotation in _SCALARS else _object


def _choice(allowed: Sequence[str], value: Json) -> str:
    if value not in allowed:
        raise FormatError(f"expected {' or '.join(allowed)}, found {str(value)[:40]!r}")
    return str(value)


def _items(reader: Reader, value: Json) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise FormatError(f"expected a list, found {kind(value)}")
    return tuple(_inside(f"[{i}]", reader, item) for i, item in enumerate(value))


def _tagged(members: tuple[type[Any], ...], value: Json) -> Any:  # noqa: ANN401  # one of the members
    tag, by_tag = _tags(members)
    name = _object(value).get(tag)
    if not isinstance(name, str) or name not in by_tag:
        raise FormatError(f"expected one of {', '.join(sorted(by_tag))}, found {str(name)[:40]!r}", field=tag)
    return _record(by_tag[name], value)


@cache
def _tags(members: tuple[type[Any], ...]) -> tuple[str, dict[str, type[Any]]]:
    """The field that tells the members apart, and the member for each of its values."""
    defaults = [{field.name: field.default for field in fields(member)} for member in members]
    tag = next(name for name in TAGS if name in defaults[0])
    return tag, {str(default[tag]): member for default, member in zip(defaults, members, strict=True)}


def _inside(place: str, reader: Reader, value: Json) -> Any:  # noqa: ANN401  # what the reader gives
    """What the reader gives; its errors get this place before their own."""
    try:
        return reader(value)
    except FormatError as error:
        dot = "" if not error.field or error.field.startswith("[") else "."
        raise FormatError(error.why, field=place + dot + error.field) from None


def _scalar(cls: type[Any], value: Json) -> Any:  # noqa: ANN401  # an instance of `cls`
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


_SCALARS: Mapping[Any, str] = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
