"""Strict reading of our own records: every field is known, has its type, and an error names it.

A `Reads` turns a decoded JSON value into a value of ours. `record` builds one for a class from those of its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from workbench.errors import FormatError
from workbench.importers.source import kind
from workbench.transcript.message import Json

Reads: TypeAlias = Callable[[Json], Any]
"""Gives whatever type its field has; `Any`, since the fields of a class are read through one table."""


def text(value: Json) -> str:
    """Text."""
    if not isinstance(value, str):
        raise FormatError(f"expected text, found {kind(value)}")
    return value


def flag(value: Json) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise FormatError(f"expected true or false, found {kind(value)}")
    return value


def whole(value: Json) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise FormatError(f"expected a whole number, found {kind(value)}")
    return value


def number(value: Json) -> float:
    """A number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"expected a number, found {kind(value)}")
    try:
        return float(value)
    except OverflowError:
        raise FormatError("the number is larger than any float") from None


def mapping(value: Json) -> dict[str, Json]:
    """An object, taken as it is."""
    if not isinstance(value, dict):
        raise FormatError(f"expected an object, found {kind(value)}")
    return value


def choice(*allowed: str) -> Reads:
    """One of these words."""

    def reads(value: Json) -> str:
        if value not in allowed:
            raise FormatError(f"expected {' or '.join(allowed)}, found {str(value)[:40]!r}")
        return str(value)

    return reads


def maybe(inner: Reads) -> Reads:
    """The same, or null."""
    return lambda value: None if value is None else inner(value)


def listed(inner: Reads) -> Reads:
    """A list of these, as a tuple."""

    def reads(value: Json) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise FormatError(f"expected a list, found {kind(value)}")
        return tuple(inside(f"[{i}]", inner, item) for i, item in enumerate(value))

    return reads


def record(cls: Callable[..., Any], needed: Mapping[str, Reads], extra: Mapping[str, Reads]) -> Reads:
    """An object with these fields: all of `needed`, any of `extra`, and no other but a type or role."""
    known = {**needed, **extra}

    def reads(value: Json) -> Any:  # noqa: ANN401  # what `cls` gives
        given = mapping(value)
        for name in given:
            if name not in known and name not in ("type", "role"):
                raise FormatError(f"no such field; known are {', '.join(sorted(known))}", field=name)
        for name in needed:
            if name not in given:
                raise FormatError("the field is missing", field=name)
        return cls(**{name: inside(name, known[name], item) for name, item in given.items() if name in known})

    return reads


def tagged(tag: str, by_tag: Mapping[str, Reads]) -> Reads:
    """An object whose field `tag` says what it is."""

    def reads(value: Json) -> Any:  # noqa: ANN401  # what the chosen one gives
        given = mapping(value)
        name = given.get(tag)
        chosen = by_tag.get(name) if isinstance(name, str) else None
        if chosen is None:
            raise FormatError(f"expected one of {', '.join(sorted(by_tag))}, found {str(name)[:40]!r}", field=tag)
        return chosen(given)

    return reads


def inside(place: str, inner: Reads, value: Json) -> Any:  # noqa: ANN401  # what `inner` gives
    """What `inner` reads; its errors get this place before their own."""
    try:
        return inner(value)
    except FormatError as error:
        dot = "" if not error.field or error.field.startswith("[") else "."
        raise FormatError(error.why, field=place + dot + error.field) from None
