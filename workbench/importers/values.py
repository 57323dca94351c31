"""Strict JSON, and typed reading of foreign fields: absent is a default, a wrong type is an error that names the field.

A field is the name of a key; `a/b` is `b` inside the object `a`. Of several fields, the first that holds something
counts.
"""

import ast
import json
import math
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime

from workbench.errors import FormatError
from workbench.transcript.message import Json

MAX_DEPTH = 200
"""Levels of nesting that are read; real recordings have fewer than twenty."""


def decode(text: str) -> Json:
    """The value of one JSON text. Half surrogate pairs become U+FFFD, since no tokenizer or file takes them.

    Raises:
        FormatError: not JSON, a number no float can hold, or nested too deeply; names the line.
    """
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON ({error.msg.lower()} at column {error.colno})", line=error.lineno) from None
    except RecursionError:
        raise FormatError(f"nested deeper than {MAX_DEPTH} levels", line=1) from None
    except ValueError:
        raise FormatError("a number has too many digits", line=1) from None
    if text.count("{") + text.count("[") > MAX_DEPTH and _too_deep(value):
        raise FormatError(f"nested deeper than {MAX_DEPTH} levels", line=1)
    if "\\ud" in text or "\\uD" in text:
        encoded = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        value = json.loads(encoded.decode("utf-16", "replace"))
    return value


def decode_or(text: Json, default: Json = None) -> Json:
    """The value of a JSON text, or the default where it is none."""
    try:
        return decode(text) if isinstance(text, str) else default
    except FormatError:
        return default


def as_printed(text: str) -> Json:
    """The value of a Python literal; the text as it is where it is none."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes that Python does not know
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def kind(value: Json) -> str:
    """What a decoded JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def as_object(value: Json, field: str = "") -> dict[str, Json]:
    """The value, a JSON object.

    Raises:
        FormatError: it is something else; the field is named.
    """
    if not isinstance(value, dict):
        raise FormatError(f"expected an object, found {kind(value)}", field=field)
    return value


def _too_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        containers = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [inner for container in containers for inner in container]
    return any(isinstance(one, dict | list) for one in level)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise FormatError(f"{digits[:20]} is not a number that a float can hold", line=1)
    return value


_decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


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
