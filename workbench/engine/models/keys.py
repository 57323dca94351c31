"""Takes keys out of what a provider says: gateways repeat the header or the address that they
refused.

A key is masked as it is, in parts (`sk-abc...xyz`), in base64, in an address, and in JSON.
"""

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

MASK = "[key]"
SHORTEST = 8
"""Characters of a variable that is masked; shorter ones are switches such as `false`."""
SHORTEST_NAMED = 4
"""Of a key that the options name, which is one whatever it looks like."""
PART = 8
"""Characters in a row that a text may not share with a key."""
SHORTEST_END = 3
"""Characters of a key beside a gap, as in `sk-***xyz`."""
ADDRESSES = ("OPENAI_BASE_URL", "OPENAI_API_BASE", "WORKBENCH_API_BASE")
"""Variables with the address of a server, which may hold a password."""
NO_KEY = "none"
"""What a server of your own is sent in the place of a key."""

_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH(?!OR)|HEADERS?$", re.IGNORECASE
)
_HEADER_VALUE = re.compile(
    r"[:=]\s*[\"']?(?:(?:Bearer|Basic|Token)\s+)?([^\s,;\"'}]+)", re.IGNORECASE
)
_GAP = r"(?:\*{2,}|x{3,}|\.{2,}|…+|•+|<[^<>\s]*>)"
"""What stands for the middle of a key that is quoted in part."""


def without_keys(text: str, variable: str = "", address: str = "") -> str:
    """A short text, such as an error, without any key that this process knows, whole or in part.

    Keys are the values of environment variables whose names say so, and what servers' addresses
    have of them.

    Args:
        text: what a provider said.
        variable: the name of another variable that holds a key; empty for none.
        address: of the server; empty for the usual one.
    """
    keys = set(_keys(variable, address))
    for key in sorted(keys, key=len, reverse=True):
        text = _without_parts(text, key)
        text = _pattern_with_gap(key).sub(MASK, text)
    return text


def without_whole_keys(text: str, variable: str = "", address: str = "") -> str:
    """A text of any length without the keys that stand in it whole; see `without_keys`."""
    lowered = text.lower()
    for key in _keys(variable, address):
        forms = _parts(key).forms
        if any(form in lowered for form in forms):
            return without_keys(text, variable, address)
    return text


def _keys(variable: str, address: str) -> Iterator[str]:
    named = os.environ.get(variable, "").strip()
    if len(named) >= SHORTEST_NAMED and named != NO_KEY:
        yield named
    yield from _keys_of_address(address)
    for name in ADDRESSES:
        address = os.environ.get(name, "")
        yield from _keys_of_address(address)
    for name, value in os.environ.items():
        if _NAME.search(name) and not _is_a_file(value):
            yield from _keys_of_variable(value)


def _is_a_file(value: str) -> bool:
    """Whether a variable names a file of keys, such as GOOGLE_APPLICATION_CREDENTIALS, and is
    none itself.
    """
    try:
        return Path(value).exists()
    except OSError:  # longer than any path
        return False


def _keys_of_variable(value: str) -> Iterator[str]:
    """A variable's value, or the values of the headers that it lists."""
    bare = value.strip()
    values = [bare]
    if any(sign in bare for sign in (" ", '"', ",")):
        values = _HEADER_VALUE.findall(value)
    for single_value in values:
        if len(single_value) >= SHORTEST:
            yield single_value


def _keys_of_address(address: str) -> Iterator[str]:
    parts = urlsplit(address)
    for part in (parts.password, parts.username):
        if part and len(part) >= SHORTEST_NAMED:
            yield part
    for _, value in parse_qsl(parts.query):
        if len(value) >= SHORTEST:
            yield value


def _without_parts(text: str, key: str) -> str:
    """The text without any run of characters that is part of a key, however written."""
    parts = _parts(key)
    lowered = text.lower()
    pieces: list[str] = []
    position = 0
    piece_start = 0
    while position < len(text):
        length = parts.length_at(lowered, position)
        if not length:
            position += 1
            continue
        pieces.append(text[piece_start:position])
        pieces.append(MASK)
        position += length
        while position < len(text) and lowered[position - length + 1 : position + 1] in parts.texts:
            position += 1
        piece_start = position
    pieces.append(text[piece_start:])
    return "".join(pieces)


class _Parts:
    """The ways in which a key may be written, and all their short parts: in lower case."""

    def __init__(self, key: str) -> None:
        spellings = {
            key,
            quote(key, safe=""),
            quote_plus(key),
            json.dumps(key)[1:-1],
            *_in_base64(key),
        }
        self.forms = {form.lower() for form in spellings}
        self.texts: set[str] = set()
        for form in self.forms:
            length = min(PART, len(form))
            for start in range(len(form) - length + 1):
                part = form[start : start + length]
                self.texts.add(part)
        distinct_lengths = set(map(len, self.texts))
        self.lengths = sorted(distinct_lengths, reverse=True)

    def length_at(self, lowered: str, position: int) -> int:
        """The length of the longest part that stands here in a text in lower case; 0 for none."""
        for length in self.lengths:
            if lowered[position : position + length] in self.texts:
                return length
        return 0


@lru_cache(maxsize=512)
def _parts(key: str) -> _Parts:
    return _Parts(key)


def _in_base64(key: str) -> Iterator[str]:
    """The letters of base64 that a key alone decides, whatever stands before it: as in `Basic`
    after a user's name.
    """
    raw = key.encode("utf-8", "surrogateescape")
    for shift in range(3):
        letters = b64encode(bytes(shift) + raw).decode()
        sure_start = -(-8 * shift // 6)
        sure_stop = 8 * (shift + len(raw)) // 6
        sure = letters[sure_start:sure_stop]
        yield sure
        yield sure.replace("+", "-").replace("/", "_")


@lru_cache(maxsize=512)
def _pattern_with_gap(key: str) -> re.Pattern[str]:
    """The beginning of a key, a gap and its end, as in `sk-abc...xyz`; a longer beginning or end
    is masked already.
    """
    beginning_texts = [MASK]
    end_texts = [MASK]
    for length in range(min(PART, len(key)), SHORTEST_END - 1, -1):
        beginning_texts.append(key[:length])
        end_texts.append(key[-length:])
    beginnings = _any_of(beginning_texts)
    ends = _any_of(end_texts)
    short_ends = _any_of([key[-length:] for length in range(SHORTEST_END - 1, 0, -1)])
    both_ends = rf"{beginnings}{_GAP}(?:{ends}|{short_ends}(?!\w))?"
    end_alone = rf"{_GAP}{ends}(?!\w)"
    return re.compile(f"{both_ends}|{end_alone}", re.IGNORECASE)


def _any_of(texts: list[str]) -> str:
    """A pattern of these texts."""
    return f"(?:{'|'.join(map(re.escape, texts))})"
