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
    if depth:
        decoded_texts = filter(None, (said_in_base64(run.group()) for run in BASE64.finditer(text)))
        decoded = {unescape(text), unquote(text), unescaped(text), "\n".join(decoded_texts)}
        for reading in decoded - {text, ""}:
            yield from readings(reading, depth - 1)


def unescaped(text: str) -> str:
    """A text without the escapes of JSON."""
    return _ESCAPE.sub(lambda escape: str(json.loads(f'"{escape.group()}"')), text)


def said_in_base64(run: str, *, strict: bool = False) -> str:
    """What a run of base64 letters says; empty where that is too short.

    Args:
        run: of `BASE64`.
        strict: give nothing where some of it is no text; else that is left out.
    """
    bare = run.rstrip("=").replace("+", "-").replace("/", "_")
    bare = bare[:-1] if len(bare) % 4 == 1 else bare
    raw = urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    try:
        decoded = raw.decode("utf-8", "strict" if strict else "ignore")
    except UnicodeDecodeError:
        return ""
    return decoded if len(decoded) >= _LEAST and not (strict and _CONTROL.search(decoded)) else ""
