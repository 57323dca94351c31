"""Typed reading of foreign fields: absent is a default, a wrong type is an error that names the field.

A field is the name of a key; `a/b` is `b` inside the object `a`. Of several fields, the first that holds something
counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from workbench.errors import FormatError
from workbench.importers.decoding import as_object, kind
from workbench.transcript.message import Json

_MOST = 2**53
"""A count that JSON keeps exactly is smaller."""
_EPOCHS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Epoch numbers above the first figure are not seconds, but so many a second: as seconds they are later than 5138."""


def text(record: Mapping[str, Json], *fields: str) -> str:
    """A text; empty if all fields are absent, null or empty."""
    for field in fields:
        if found := _typed(record, field, str, "text"):
            return str(found)
    return ""


def label(record: Mapping[str, Json], field: str) -> str:
    """A text field; empty if it holds anything else. Never an error, for recognising formats."""
    value = record.get(field)
    return value if isinstance(value, str) else ""


def block_texts(record: Mapping[str, Json], field: str) -> str:
    """The texts of a list of text blocks, a line each."""
    return "\n".join(text(block, "text") for block in objects(record, field))


def identifier(record: Mapping[str, Json], *fields: str) -> str:
    """An identifier, text or a whole number; empty if all fields are absent, null or empty."""
    for field in fields:
        value = record.get(field)
        found = str(value) if isinstance(value, int) and not isinstance(value, bool) else text(record, field)
        if found:
            return found
    return ""


def mapping(record: Mapping[str, Json], *fields: str) -> dict[str, Json]:
    """An object; empty if all fields are absent, null or empty."""
    return next((found for field in fields if (found := _typed(record, field, dict, "an object"))), {})


def items(record: Mapping[str, Json], field: str) -> list[Json]:
    """A list; empty if it is absent or null."""
    return _typed(record, field, list, "a list") or []


def texts(record: Mapping[str, Json], field: str) -> tuple[str, ...]:
    """The texts in a list; anything else in it is passed over."""
    return tuple(item for item in items(record, field) if isinstance(item, str))


def objects(record: Mapping[str, Json], field: str) -> list[dict[str, Json]]:
    """A list of objects."""
    return [as_object(value, f"{field}[{i}]") for i, value in enumerate(items(record, field))]


def count(record: Mapping[str, Json], *fields: str) -> int:
    """A count; 0 if all fields are absent, null or 0."""
    return next((found for field in fields if (found := optional_count(record, field))), 0)


def optional_count(record: Mapping[str, Json], field: str) -> int | None:
    """A count, or None if it is absent or null."""
    value = _value(record, field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST:
        shown = value if isinstance(value, float) else kind(value)
        raise FormatError(f"expected a count from 0 to 2^53, found {shown}", field=field.replace("/", "."))
    return int(value)


def timestamp(record: Mapping[str, Json], field: str) -> float | None:
    """A time as seconds since 1970: from ISO text, or from seconds, milli-, micro- or nanoseconds."""
    value = _value(record, field)
    if value is None or value == "":
        return None
    if isinstance(value, str) and not (value.isdigit() and len(value) < 20):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise FormatError(f"expected an ISO time, found {value[:40]!r}", field=field) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float | str) or not 0 <= float(value) < 1e20:
        raise FormatError(f"expected a time, found {kind(value)}", field=field)
    return next((float(value) / factor for bound, factor in _EPOCHS if float(value) > bound), float(value))


def time_of(words: str) -> float | None:
    """The time that a text names, or None where it names none."""
    try:
        return timestamp({"time": words}, "time")
    except FormatError:
        return None


def _value(record: Mapping[str, Json], field: str) -> Json:
    holder, _, name = field.rpartition("/")
    return (mapping(record, holder) if holder else record).get(name)


def _typed(record: Mapping[str, Json], field: str, cls: type, wanted: str) -> Json:
    value = _value(record, field)
    if value is not None and not isinstance(value, cls):
        raise FormatError(f"expected {wanted}, found {kind(value)}", field=field.replace("/", "."))
    return value
