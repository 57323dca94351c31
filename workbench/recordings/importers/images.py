"""How large a picture is, from the first bytes of its data; the data itself is never kept."""

import base64
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import ceil
from typing import TypeAlias

from workbench.engine.transcript.message import Image

PIXELS_PER_TOKEN = 750
LONGEST_EDGE = 1_568
"""Anthropic scales a picture down to this edge and counts width × height / 750. Source: its
vision guide.
"""
MOST_TOKENS = 1_600
UNKNOWN_TOKENS = 1_200
PAGE_TOKENS = 2_000
"""A page of a document: its text and its picture. Source: Anthropic's PDF guide gives 1,500 to
3,000 for the text.
"""

PictureRule: TypeAlias = Callable[[int, int], int]
"""Tokens of a picture by its width and height."""
_HEAD = 400_000
"""Base64 characters in which a JPEG's frame header is sought: it follows the embedded preview,
if there is one.
"""
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image(media_type: str, data: str | bytes, rule: PictureRule | None = None) -> Image:
    """A placeholder for a picture from its base64 text, its `data:` URL or its bytes.

    Its tokens are counted by Anthropic's rule unless another is passed.
    """
    if isinstance(data, bytes):
        return replace(
            image(media_type, base64.b64encode(data[:_HEAD]).decode(), rule), bytes=len(data)
        )
    if data.startswith("data:"):
        kind, _, data = data[5:].partition(",")
        media_type = kind.partition(";")[0] or media_type
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return Image(
        media_type or "image/png", max(size, 0), _tokens(media_type, data, rule or anthropic_tokens)
    )


def linked(url: str, rule: PictureRule | None = None) -> Image:
    """A placeholder for a picture from its URL; its size is unknown."""
    return (
        image("", url, rule) if url.startswith("data:") else Image("image/png", 0, UNKNOWN_TOKENS)
    )


def _tokens(media_type: str, data: str, rule: PictureRule) -> int:
    head, data = b"", data[: _HEAD // 4 * 4]
    with suppress(ValueError):
        head = base64.b64decode(data + "=" * (-len(data) % 4))
    if media_type == "application/pdf":
        return PAGE_TOKENS * max(1, head.count(b"/Type /Page\n") + head.count(b"/Type/Page/"))
    sides = _sides(head)
    return rule(*sides) if len(sides) == 2 and all(sides) else UNKNOWN_TOKENS


def anthropic_tokens(width: int, height: int) -> int:
    """Tokens of a picture for Anthropic, by its pixels once it is scaled down."""
    scale = min(1.0, LONGEST_EDGE / max(width, height))
    return max(1, min(MOST_TOKENS, round(width * scale * height * scale / PIXELS_PER_TOKEN)))


def openai_tokens(width: int, height: int) -> int:
    """Tokens of a picture for OpenAI at high detail: 85, and 170 for each tile of 512 pixels.

    It is scaled into a square of 2,048 and to 768 on its shorter side first. Source: its guide on
    images and vision, for GPT-4o and GPT-4.1; newer models count less.
    """
    scale = min(1.0, 2_048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    return 85 + 170 * ceil(width * scale / 512) * ceil(height * scale / 512)


def gemini_tokens(width: int, height: int) -> int:
    """Tokens of a picture for Gemini: 258 for each tile, one where both sides have at most 384
    pixels.

    A tile's side is two thirds of the picture's shorter one, within 256 and 768. Source: its page
    on tokens, for models up to 2.5.
    """
    if max(width, height) <= 384:
        return 258
    tile = min(max(min(width, height) * 2 // 3, 256), 768)
    return 258 * ceil(width / tile) * ceil(height / tile)


def _sides(head: bytes) -> tuple[int, ...]:
    """Width and height of a PNG, GIF or JPEG; zeros where they cannot be read."""
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        return struct.unpack(">II", head[16:24])
    if head[:4] == b"GIF8" and len(head) >= 10:
        return struct.unpack("<HH", head[6:10])
    offset = 2 if head[:2] == b"\xff\xd8" else len(head)
    while offset + 9 < len(head) and head[offset] == 0xFF:
        if head[offset + 1] in _FRAMES:
            return struct.unpack(">HH", head[offset + 5 : offset + 9])
        offset += 2 + int(struct.unpack(">H", head[offset + 2 : offset + 4])[0])
    return 0, 0
