"""How large a request each API takes, besides its tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.live.formats.table import MessageFormat


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The most pictures that a request may hold, and the most bytes of its body."""

    images: int
    bytes: int


LIMITS: Mapping[MessageFormat, RequestLimits] = {
    "anthropic": RequestLimits(100, 32_000_000),
    "openai": RequestLimits(500, 50_000_000),
    "responses": RequestLimits(500, 50_000_000),
    "gemini": RequestLimits(3_000, 20_000_000),
}
"""Defaults of `Settings.most_images` and `Settings.most_bytes`.

Source:
    Anthropic's vision guide (100 pictures in a request of the API, 32 MB); OpenAI's guide on images and vision (500
    pictures, 50 MB a request); Google's pages on image understanding (3,000 pictures, 20 MB of inline data a request).
"""
