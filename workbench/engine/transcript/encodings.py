"""What a text says where it is written in another way: in base64, an address, JSON or HTML."""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote

BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
"""A run of letters that may be base64, of either alphabet."""
_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_DEPTH = 2
"""Encodings inside encodings, such as JSON in base64."""
_LEAST = 8
"""Characters from which on what base64 says is looked at: shorter ones come about by chance."""


def readings(text: str, depth: int = _DEPTH) -> Iterator[str]:
    """A text, and what comes of it where escapes and encodings are undone."""
    yield text
    if not depth:
        return
    decoded_runs = map(said_in_base64, BASE64.findall(text))
    of_base64 = "\n".join(filter(None, decoded_runs))
    decoded_texts = {unescape(text), unquote(text), unescaped(text), of_base64}
    for decoded_text in decoded_texts - {text, ""}:
        yield from readings(decoded_text, depth - 1)


def unescaped(text: str) -> str:
    """A text without the escapes of JSON."""
    return _ESCAPE.sub(_letter, text)


def _letter(escape: re.Match[str]) -> str:
    return str(json.loads(f'"{escape.group()}"'))


def said_in_base64(run: str, *, strict: bool = False) -> str:
    """What a run of base64 letters says; empty where that is too short.

    Args:
        run: of `BASE64`.
        strict: give nothing where some of it is no text; else that is left out.
    """
    letters = run.rstrip("=").replace("+", "-").replace("/", "_")
    if len(letters) % 4 == 1:
        letters = letters[:-1]
    padding = "=" * (-len(letters) % 4)
    raw = urlsafe_b64decode(letters + padding)
    try:
        decoded = raw.decode("utf-8", "strict" if strict else "ignore")
    except UnicodeDecodeError:
        return ""
    if len(decoded) < _LEAST or (strict and _CONTROL.search(decoded)):
        return ""
    return decoded
