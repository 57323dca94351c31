"""Typed reading of foreign fields: absent is a default, a wrong type is an error that names the field."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from workbench.errors import FormatError
from workbench.importers.decoding import kind
from workbench.transcript.message import Json

MILLISECONDS = 1e11
"""Epoch numbers above this are milliseconds: as seconds they would lie in the year 5138."""
MICROSECONDS = 1e14
NANOSECONDS = 1e17
MOST = 2**53
"""A count that JSON keeps exactly is smaller."""


def text(record: Mapping[str, Json], *fields: str) -> str:
    """The first of these text fields that holds something; empty if all are absent, null or empty."""
    for field in fields:
        value = record.get(field)
        if value is not None and not isinstance(value, str):
            raise FormatError(f"expected text, found {kind(value)}", field=field)
        if value:
            return value
    return ""


def label(record: Mapping[str, Json], field: str) -> str:
    """What a record calls itself; empty where that is no text. Never an error: for telling formats apart."""
    value = record.get(field)
    return value if isinstance(value, str) else ""


def block_texts(record: Mapping[str, Json], field: str) -> str:
    """The texts of a list of text blocks, a line each."""
    return "\n".join(text(block, "text") for block in objects(record, field))


def identifier(record: Mapping[str, Json], *fields: str) -> str:
    """The first of these identifiers, text or a whole number; empty if all are absent, null or empty."""
    for field in fields:
        value = record.get(field)
        found = str(value) if isinstance(value, int) and not isinstance(value, bool) else text(record, field)
        if found:
            return found
    return ""


def mapping(record: Mapping[str, Json], *fields: str) -> dict[str, Json]:
    """The first of these object fields that holds something; empty if all are absent, null or empty."""
    for field in fields:
        value = record.get(field)
        if value is not None and not isinstance(value, dict):
            raise FormatError(f"expected an object, found {kind(value)}", field=field)
        if value:
            return value
    return {}


def items(record: Mapping[str, Json], field: str) -> list[Json]:
    """A list field; empty if it is absent or null."""
    value = record.get(field)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FormatError(f"expected a list, found {kind(value)}", field=field)
    return value


def texts(record: Mapping[str, Json], field: str) -> tuple[str, ...]:
    """The texts in a list field; anything else in it is passed over."""
    return tuple(item for item in items(record, field) if isinstance(item, str))


def objects(record: Mapping[str, Json], field: str) -> list[dict[str, Json]]:
    """A field that is a list of objects."""
    found = items(record, field)
    for i, value in enumerate(found):
        if not isinstance(value, dict):
            raise FormatError(f"expected an object, found {kind(value)}", field=f"{field}[{i}]")
    return found


def count(record: Mapping[str, Json], *fields: str) -> int:
    """The first of these counts that is not 0; 0 if all are absent, null or 0."""
    return next((found for field in fields if (found := optional_count(record, field))), 0)


def optional_count(record: Mapping[str, Json], field: str) -> int | None:
    """A count, or None if it is absent or null."""
    value = record.get(field)
    if value is None or (type(value) is int and 0 <= value < MOST):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST:
        shown = value if isinstance(value, float) else kind(value)
        raise FormatError(f"expected a count from 0 to 2^53, found {shown}", field=field)
    return int(value)


def timestamp(record: Mapping[str, Json], field: str) -> float | None:
    """A time as seconds since 1970: from ISO text, or from seconds, milli-, micro- or nanoseconds."""
    value = record.get(field)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        if value.isdigit() and len(value) < 20:
            return _seconds(float(value))
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise FormatError(f"expected an ISO time, found {value[:40]!r}", field=field) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e20:
        raise FormatError(f"expected a time, found {kind(value)}", field=field)
    return _seconds(float(value))


def _seconds(value: float) -> float:
    for bound, factor in ((NANOSECONDS, 1e9), (MICROSECONDS, 1e6), (MILLISECONDS, 1e3)):
        if value > bound:
            return value / factor
    return value
