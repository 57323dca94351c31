"""How large a picture is, from the first bytes of its data; the data itself is never kept."""

from __future__ import annotations

import base64
import struct
from contextlib import suppress
from dataclasses import replace

from workbench.transcript.message import Image

PIXELS_PER_TOKEN = 750
LONGEST_EDGE = 1_568
"""Anthropic scales a picture down to this edge and counts width × height / 750. Source: its vision guide."""
MOST_TOKENS = 1_600
UNKNOWN_TOKENS = 1_200
PAGE_TOKENS = 2_000
"""A page of a document: its text and its picture. Source: Anthropic's PDF guide gives 1,500 to 3,000 for the text."""

_HEAD = 400_000
"""Base64 characters in which a JPEG's frame header is sought: it follows the embedded preview, if there is one."""
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image(media_type: str, data: str | bytes) -> Image:
    """A placeholder for a picture from its base64 text, its `data:` URL or its bytes."""
    if isinstance(data, bytes):
        return replace(image(media_type, base64.b64encode(data[:_HEAD]).decode()), bytes=len(data))
    if data.startswith("data:"):
        kind, _, data = data[5:].partition(",")
        media_type = kind.partition(";")[0] or media_type
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return Image(media_type or "image/png", max(size, 0), _tokens(media_type, data))


def linked(url: str) -> Image:
    """A placeholder for a picture from its URL; its size is unknown."""
    return image("", url) if url.startswith("data:") else Image("image/png", 0, UNKNOWN_TOKENS)


def _tokens(media_type: str, data: str) -> int:
    head, data = b"", data[: _HEAD // 4 * 4]
    with suppress(ValueError):
        head = base64.b64decode(data + "=" * (-len(data) % 4))
    if media_type == "application/pdf":
        return PAGE_TOKENS * max(1, head.count(b"/Type /Page\n") + head.count(b"/Type/Page/"))
    sides = _sides(head)
    if not all(sides):
        return UNKNOWN_TOKENS
    scale = min(1.0, LONGEST_EDGE / max(sides))
    return max(1, min(MOST_TOKENS, round(sides[0] * scale * sides[1] * scale / PIXELS_PER_TOKEN)))


def _sides(head: bytes) -> tuple[int, ...]:
    """Width and height of a PNG, GIF or JPEG; zeros where they cannot be read."""
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        return struct.unpack(">II", head[16:24])
    if head[:4] == b"GIF8" and len(head) >= 10:
        return struct.unpack("<HH", head[6:10])
    at = 2 if head[:2] == b"\xff\xd8" else len(head)
    while at + 9 < len(head) and head[at] == 0xFF:
        if head[at + 1] in _FRAMES:
            return struct.unpack(">HH", head[at + 5 : at + 9])
        at += 2 + int(struct.unpack(">H", head[at + 2 : at + 4])[0])
    return 0, 0
