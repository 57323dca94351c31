"""Typed reading of foreign fields: absent is a default, a wrong type is an error that names the
field.

A field is the name of a key; `a/b` is `b` inside the object `a`. Of several fields, the first that
holds something counts.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json

Record: TypeAlias = Mapping[str, Json]
"""A JSON object that is read."""
JsonObject: TypeAlias = dict[str, Json]
"""A JSON object that was decoded or made."""


def kind(value: Json) -> str:
    """What a decoded JSON value is, in words."""
    names = {
        dict: "an object",
        list: "a list",
        str: "text",
        bool: "true or false",
        type(None): "null",
    }
    return names.get(type(value), "a number")


def as_object(value: Json, field: str = "") -> JsonObject:
    """The value, a JSON object.

    Raises:
        FormatError: it is something else; the field is named.
    """
    if not isinstance(value, dict):
        raise FormatError(f"expected an object, found {kind(value)}", field=field)
    return value


def as_mapping(value: Json) -> JsonObject:
    """The value where it is an object, else an empty one. Never an error, for recognising
    formats.
    """
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """The value where it is a list, else a list of it alone."""
    return value if isinstance(value, list) else [value]


def items_of(value: Json) -> list[Json]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


_MOST = 2**53
"""A count that JSON keeps exactly is smaller."""
_LATEST = 1e20
"""An epoch number from which it is no time, in whatever unit."""
_EPOCHS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Epoch numbers above the first figure are not seconds, but so many a second: as seconds they
are later than 5138.
"""


def text(record: Record, *fields: str) -> str:
    """A text; empty if all fields are absent, null or empty."""
    for field in fields:
        words = _typed(record, field, str, "text")
        if words:
            return str(words)
    return ""


def label(record: Record, field: str) -> str:
    """A text field; empty if it holds anything else. Never an error, for recognising formats."""
    value = record.get(field)
    return value if isinstance(value, str) else ""


def first_value(record: Record, fields: str) -> Json:
    """The first of these fields, separated by spaces, that holds something, whatever it is; None
    where none does.
    """
    for field in fields.split():
        value: Json = dict(record)
        for name in field.split("/"):
            value = as_mapping(value).get(name)
        if value not in (None, "", [], {}):
            return value
    return None


def block_texts(record: Record, field: str) -> str:
    """The texts of a list of text blocks, a line each."""
    return "\n".join(text(block, "text") for block in objects(record, field))


def strings(value: Json) -> Iterator[str]:
    """Every text inside a value, but for the names of types."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name != "type":
                yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def identifier(record: Record, *fields: str) -> str:
    """An identifier, text or a whole number; empty if all fields are absent, null or empty."""
    for field in fields:
        value = _value(record, field)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        name = text(record, field)
        if name:
            return name
    return ""


def mapping(record: Record, *fields: str) -> JsonObject:
    """An object; empty if all fields are absent, null or empty."""
    for field in fields:
        value: JsonObject | None = _typed(record, field, dict, "an object")
        if value:
            return value
    return {}


def items(record: Record, field: str) -> list[Json]:
    """A list; empty if it is absent or null."""
    return _typed(record, field, list, "a list") or []


def texts(record: Record, field: str) -> tuple[str, ...]:
    """The texts in a list; anything else in it is passed over."""
    return tuple(item for item in items(record, field) if isinstance(item, str))


def objects(record: Record, field: str) -> list[JsonObject]:
    """A list of objects."""
    values = enumerate(items(record, field))
    return [as_object(value, f"{field}[{number}]") for number, value in values]


def count(record: Record, *fields: str) -> int:
    """A count; 0 if all fields are absent, null or 0."""
    for field in fields:
        figure = optional_count(record, field)
        if figure:
            return figure
    return 0


def optional_count(record: Record, field: str) -> int | None:
    """A count, or None if it is absent or null."""
    value = _value(record, field)
    if value is None:
        return None
    if _is_number(value) and 0 <= value < _MOST:
        return int(value)
    shown_value = kind(value)
    if isinstance(value, float) or (_is_number(value) and abs(value) < 10**9):
        shown_value = str(value)
    raise FormatError(
        f"expected a count from 0 to 2^53, found {shown_value}", field=field.replace("/", ".")
    )


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def timestamp(record: Record, field: str) -> float | None:
    """A time as seconds since 1970: from ISO text, or from seconds, milli-, micro- or
    nanoseconds.
    """
    value = _value(record, field)
    if value is None or value == "":
        return None
    field = field.replace("/", ".")
    number = value
    if isinstance(value, str):
        if not value.isdecimal() or len(value) >= 20:
            return _iso_time(value, field)
        number = float(value)
    if not _is_number(number) or not 0 <= number < _LATEST:
        raise FormatError(f"expected a time, found {kind(value)}", field=field)
    for bound, units_a_second in _EPOCHS:
        if number > bound:
            return float(number / units_a_second)
    return float(number)


def _iso_time(words: str, field: str) -> float:
    """An ISO time as seconds since 1970; without a zone it is in UTC."""
    try:
        moment = datetime.fromisoformat(words)
        if not moment.tzinfo:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError):
        raise FormatError(f"expected an ISO time, found {words[:40]!r}", field=field) from None


def time_of(words: str) -> float | None:
    """The time that a text names, or None where it names none."""
    try:
        return timestamp({"time": words}, "time")
    except FormatError:
        return None


def _value(record: Record, field: str) -> Json:
    outer, _, name = field.rpartition("/")
    holder = mapping(record, outer) if outer else record
    return holder.get(name)


def _typed(record: Record, field: str, cls: type, expected: str) -> Json:
    value = _value(record, field)
    if value is not None and not isinstance(value, cls):
        raise FormatError(
            f"expected {expected}, found {kind(value)}", field=field.replace("/", ".")
        )
    return value
