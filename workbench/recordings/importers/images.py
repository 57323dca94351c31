"""How large a picture is, from the first bytes of its data; the data itself is never kept."""

import base64
import struct
from collections.abc import Callable
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

PNG = b"\x89PNG\r\n\x1a\n"
GIF = b"GIF8"
JPEG = b"\xff\xd8"
"""The first bytes of each."""

PictureRule: TypeAlias = Callable[[int, int], int]
"""Tokens of a picture by its width and height."""
_HEAD = 400_000
"""Base64 characters in which a JPEG's frame header is sought: it follows the embedded preview,
if there is one.
"""
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image(media_type: str, content: str | bytes, rule: PictureRule | None = None) -> Image:
    """A placeholder for a picture from its base64 text, its `data:` URL or its bytes.

    Its tokens are counted by Anthropic's rule unless another is passed.
    """
    if isinstance(content, bytes):
        head = base64.b64encode(content[:_HEAD]).decode()
        return replace(image(media_type, head, rule), bytes=len(content))
    if content.startswith("data:"):
        url_head, _, content = content[5:].partition(",")
        media_type = url_head.partition(";")[0] or media_type
    padding = content[-2:].count("=")
    size = len(content) * 3 // 4 - padding
    tokens = _tokens(media_type, content, rule or anthropic_tokens)
    return Image(
        media_type or "image/png",
        bytes=max(size, 0),
        tokens=tokens,
    )


def linked(url: str, rule: PictureRule | None = None) -> Image:
    """A placeholder for a picture from its URL; its size is unknown."""
    if url.startswith("data:"):
        return image("", url, rule)
    return Image("image/png", 0, UNKNOWN_TOKENS)


def _tokens(media_type: str, encoded: str, rule: PictureRule) -> int:
    head = _decoded_head(encoded)
    if media_type == "application/pdf":
        pages = head.count(b"/Type /Page\n")
        pages += head.count(b"/Type/Page/")
        return PAGE_TOKENS * max(1, pages)
    sides = _sides(head)
    if len(sides) != 2 or not all(sides):
        return UNKNOWN_TOKENS
    return rule(*sides)


def _decoded_head(encoded: str) -> bytes:
    """The first bytes of base64 text; none where it is damaged."""
    encoded = encoded[: _HEAD // 4 * 4]
    padding = "=" * (-len(encoded) % 4)
    try:
        return base64.b64decode(encoded + padding)
    except ValueError:
        return b""


def anthropic_tokens(width: int, height: int) -> int:
    """Tokens of a picture for Anthropic, by its pixels once it is scaled down."""
    scale = min(1.0, LONGEST_EDGE / max(width, height))
    pixels = width * scale * height * scale
    tokens = round(pixels / PIXELS_PER_TOKEN)
    tokens = min(MOST_TOKENS, tokens)
    return max(1, tokens)


def openai_tokens(width: int, height: int) -> int:
    """Tokens of a picture for OpenAI at high detail: 85, and 170 for each tile of 512 pixels.

    It is scaled into a square of 2,048 and to 768 on its shorter side first. Source: its guide on
    images and vision, for GPT-4o and GPT-4.1; newer models count less.
    """
    scale = min(1.0, 2_048 / max(width, height))
    shorter_edge = min(width, height) * scale
    scale *= min(1.0, 768 / shorter_edge)
    columns = ceil(width * scale / 512)
    rows = ceil(height * scale / 512)
    return 85 + 170 * columns * rows


def gemini_tokens(width: int, height: int) -> int:
    """Tokens of a picture for Gemini: 258 for each tile, one where both sides have at most 384
    pixels.

    A tile's side is two thirds of the picture's shorter one, within 256 and 768. Source: its page
    on tokens, for models up to 2.5.
    """
    if max(width, height) <= 384:
        return 258
    shorter_edge = min(width, height)
    tile = shorter_edge * 2 // 3
    tile = max(tile, 256)
    tile = min(tile, 768)
    columns = ceil(width / tile)
    rows = ceil(height / tile)
    return 258 * columns * rows


def _sides(head: bytes) -> tuple[int, ...]:
    """Width and height of a PNG, GIF or JPEG; zeros where they cannot be read."""
    if head.startswith(PNG) and len(head) >= 24:
        side_bytes = head[16:24]
        return struct.unpack(">II", side_bytes)
    if head.startswith(GIF) and len(head) >= 10:
        side_bytes = head[6:10]
        return struct.unpack("<HH", side_bytes)
    if head.startswith(JPEG):
        return _sides_of_jpeg(head)
    return 0, 0


def _sides_of_jpeg(head: bytes) -> tuple[int, ...]:
    """Likewise of a JPEG, from the header of its frame: segments before it are passed over."""
    offset = 2
    while offset + 9 < len(head) and head[offset] == 0xFF:
        if head[offset + 1] in _FRAMES:
            side_bytes = head[offset + 5 : offset + 9]
            return struct.unpack(">HH", side_bytes)
        length_bytes = head[offset + 2 : offset + 4]
        offset += 2 + int.from_bytes(length_bytes, "big")
    return 0, 0
