"""Strict JSON: what `json.loads` lets through or fails on is named in one sentence."""

from __future__ import annotations

import json
import math

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
