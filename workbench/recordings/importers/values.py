"""Strict JSON, and typed reading of foreign fields: absent is a default, a wrong type is an error
that names the field.

A field is the name of a key; `a/b` is `b` inside the object `a`. Of several fields, the first that
holds something counts.
"""

import ast
import json
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json

MAX_DEPTH = 200
"""Levels of nesting that are read; real recordings have fewer than twenty."""


Record: TypeAlias = Mapping[str, Json]
"""A JSON object that is read."""
JsonObject: TypeAlias = dict[str, Json]
"""A JSON object that was decoded or made."""
LeaveOut: TypeAlias = Callable[[FormatError], None]
"""Is told of each value that is left out, and why."""


def decode(text: str, leave_out: LeaveOut | None = None) -> Json:
    """The value of one JSON text. Half surrogate pairs become U+FFFD, since no tokenizer or file
    takes them.

    Args:
        text: that is decoded.
        leave_out: is told of numbers that no float holds and of what is nested too deeply; null
            stands in their place. Without it they are errors.

    Raises:
        FormatError: not JSON; names the line. Or a value cannot be read; names its field.
    """
    faults: list[FormatError] = []
    has_faults = False
    try:
        value = _decoder.decode(text)
        bracket_count = text.count("{") + text.count("[")
        has_faults = bracket_count > MAX_DEPTH and _too_deep(value)
    except json.JSONDecodeError as error:
        raise _not_json(error) from None
    except (_NoNumber, RecursionError, ValueError):
        has_faults = True
    if has_faults:
        value = _without_faults(text, leave_out or faults.append)
    if faults:
        raise faults[0]
    if "\\ud" in text or "\\uD" in text:
        encoded = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        value = json.loads(encoded.decode("utf-16", "replace"))
    return value


def _not_json(error: json.JSONDecodeError) -> FormatError:
    return FormatError(f"not JSON ({error.msg.lower()} at column {error.colno})", line=error.lineno)


def decode_or(text: Json, default: Json = None) -> Json:
    """The value of a JSON text, or the default where it is none."""
    try:
        return decode(text) if isinstance(text, str) else default
    except FormatError:
        return default


def decodable(text: str) -> Json:
    """What can be decoded of a JSON text; None where it is none."""
    try:
        return decode(text, lambda error: None)
    except FormatError:
        return None


class _NoNumber(Exception):
    """A number stands in a JSON text that no float can hold."""


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """Stands for a number that cannot be read, until its place is known."""

    reason: str


def _without_faults(text: str, leave_out: LeaveOut) -> Json:
    """The value of a JSON text with null in the place of what cannot be read; each is told with its
    field.

    Raises:
        FormatError: it is not JSON even so.
    """
    try:
        value = _marking.decode(_without_depths(text, leave_out))
    except json.JSONDecodeError as error:
        raise _not_json(error) from None
    except RecursionError:
        raise FormatError(f"nested deeper than {MAX_DEPTH} levels", line=1) from None
    document = {"": value}
    open_containers: list[tuple[Json, str]] = [(document, "")]
    while open_containers:
        holder, place = open_containers.pop()
        is_object = isinstance(holder, dict)
        for key in list(holder) if is_object else range(len(holder)):
            inner = holder[key]
            step = f".{key}" if is_object else f"[{key}]"
            inner_place = (place + step).lstrip(".")
            if isinstance(inner, _Unreadable):
                holder[key] = None
                leave_out(FormatError(inner.reason, field=inner_place))
            elif isinstance(inner, dict | list):
                open_containers.append((inner, inner_place))
    return document[""]


_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)


def _without_depths(text: str, leave_out: LeaveOut) -> str:
    """A JSON text with null in the place of what is nested too deeply."""
    pieces: list[str] = []
    depth = start = end = counted_to = 0
    line = 1
    for token in _BRACKET.finditer(text):
        if token[0] in ("{", "["):
            depth += 1
            if depth == MAX_DEPTH + 1:
                start = token.start()
        elif token[0] in ("}", "]"):
            if depth == MAX_DEPTH + 1:
                pieces += [text[end:start], "null"]
                end = token.end()
                line += text.count("\n", counted_to, start)
                counted_to = start
                leave_out(FormatError(f"nested deeper than {MAX_DEPTH} levels", line=line))
            depth -= 1
    return "".join(pieces) + text[end:]


def as_printed(text: str) -> Json:
    """The value of a Python literal; the text as it is where it is none."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes that Python does not know
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


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


def _too_deep(value: Json) -> bool:
    """Whether a value is nested deeper than is read, found level by level."""
    containers = [value]
    for _ in range(MAX_DEPTH + 1):
        containers = [item for item in containers if isinstance(item, dict | list)]
        if not containers:
            return False
        next_level: list[Json] = []
        for container in containers:
            next_level += container.values() if isinstance(container, dict) else container
        containers = next_level
    return True


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _NoNumber
    return value


def _finite_or_marked(digits: str) -> float | _Unreadable:
    value = float(digits)
    if math.isfinite(value):
        return value
    return _Unreadable(f"{digits[:20]} is not a number that a float can hold")


def _whole_or_marked(digits: str) -> int | _Unreadable:
    try:
        return int(digits)
    except ValueError:
        return _Unreadable("a number has too many digits")


_decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
_marking = json.JSONDecoder(
    parse_float=_finite_or_marked, parse_constant=_finite_or_marked, parse_int=_whole_or_marked
)


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
