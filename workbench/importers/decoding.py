"""Strict JSON: what `json.loads` lets through or fails on is named in one sentence."""

from __future__ import annotations

import json
import re

from workbench.errors import FormatError
from workbench.transcript.message import Json

MAX_DEPTH = 200
"""Levels of nesting that are read; real recordings have fewer than twenty."""

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)")
_LONE = 6


def decode(text: str) -> Json:
    """The value of one JSON text. Half surrogate pairs become U+FFFD, since no tokenizer or file takes them.

    Raises:
        FormatError: not JSON, a number no float can hold, or nested too deeply; names the line.
    """
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPE.sub(_whole_pairs, text)
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON ({error.msg.lower()} at column {error.colno})", line=error.lineno) from None
    except RecursionError:
        raise FormatError(f"nested deeper than {MAX_DEPTH} levels", line=1) from None
    except ValueError:
        raise FormatError("a number has too many digits", line=1) from None
    if text.count("{") + text.count("[") > MAX_DEPTH and too_deep(value):
        raise FormatError(f"nested deeper than {MAX_DEPTH} levels", line=1)
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


def too_deep(value: Json) -> bool:
    """Whether a decoded value is nested deeper than `MAX_DEPTH` levels."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        inner = (one for outer in level for one in (outer.values() if isinstance(outer, dict) else outer))
        level = [one for one in inner if isinstance(one, dict | list)]
    return bool(level)


def _whole_pairs(found: re.Match[str]) -> str:
    escape = found[0]
    return "\\ufffd" if len(escape) == _LONE and escape[1] == "u" and escape[2] in "dD" else escape


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise FormatError(f"the number {digits[:20]} is larger than any float", line=1)
    return value


def _no_constant(name: str) -> float:
    raise FormatError(f"{name} is no JSON value", line=1)


_decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)
