"""Strict JSON: what no program can read is an error with its place, or null in its place."""

import ast
import json
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json

MAX_DEPTH = 200
"""Levels of nesting that are read; real recordings have fewer than twenty."""

_FIRST_FIELD = re.compile(r'\{\s?"[^"\\]*"\s?:')
_BEFORE_VALUES = (":", "[", ",", ": ", ", ")
_CLOSING = {"{": "}", "[": "]"}
_ESCAPE = 7
"""Characters within which a broken escape, as `\\u00`, and what follows it begin."""

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


def objects_of_line(line: str) -> list[str]:
    """The JSON texts of a line: itself, or the objects on it where a writer left out the line ends
    between them. One that was not written to its end stands apart from the next.
    """
    texts: list[str] = []
    end = 0
    while line.startswith("{", end):
        start = end
        end = _end_of_object(line, start) or _end_of_torn_object(line, start)
        if not end:
            return [line]
        texts.append(line[start:end])
    if end != len(line.rstrip()):
        return [line]
    return texts


def _end_of_object(line: str, start: int) -> int:
    """Where the object ends that begins here; 0 where it is no JSON."""
    try:
        _, end = _decoder.raw_decode(line, start)
    except (_NoNumber, RecursionError, ValueError):
        return 0
    return end


def _end_of_torn_object(line: str, start: int) -> int:
    """Where an object that breaks off is followed by a whole one; 0 where it is not."""
    try:
        _decoder.raw_decode(line, start)
    except json.JSONDecodeError as error:
        nearby = range(max(error.pos - 2, start + 1), error.pos + _ESCAPE)
        for next_start in nearby:
            if line.startswith('{"', next_start) and _end_of_object(line, next_start):
                return next_start
        return _record_in_place_of_value(line, start)
    except (_NoNumber, RecursionError, ValueError):
        pass
    return 0


def _record_in_place_of_value(line: str, start: int) -> int:
    """Where the next record begins if an object breaks off where a value is due; 0 where none does.

    Unlike a value inside, a record begins with the same field as the one that breaks off, shares
    another with it, and ends the line or stands before one more.
    """
    first_field = _FIRST_FIELD.match(line, start)
    if first_field is None:
        return 0
    line_end = len(line.rstrip())
    record_start = line.find(first_field[0], first_field.end())
    while record_start > 0:
        end = 0
        if line.endswith(_BEFORE_VALUES, 0, record_start):
            end = _end_of_object(line, record_start)
        is_last = end == line_end or line.startswith("{", end)
        if end and is_last and _are_alike(line[start:record_start], line[record_start:end]):
            return record_start
        record_start = line.find(first_field[0], record_start + 1)
    return 0


def _are_alike(torn: str, record: str) -> bool:
    """Whether an object that breaks off has two fields of a record, or its only one."""
    fields = set(_field_names(_closed(torn)))
    common_fields = fields & set(_field_names(record))
    return bool(fields) and len(common_fields) >= min(2, len(fields))


def _field_names(text: str) -> Sequence[str]:
    """The fields of a JSON object; none of anything else."""
    value = decode_or(text)
    if not isinstance(value, dict):
        return ()
    return tuple(value)


def _closed(torn: str) -> str:
    """A JSON text that breaks off where a value is due, with null there and all brackets closed."""
    closing: list[str] = []
    for token in _BRACKET.finditer(torn):
        if token[0] in _CLOSING:
            closing.append(_CLOSING[token[0]])
        elif token[0] in ("}", "]"):
            del closing[-1:]
    return torn + "null" + "".join(reversed(closing))


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
