"""All formats by name, which of them an entry shows, and how large a request each takes besides
its tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.live.formats.chat_apis import Anthropic, OpenAIChat
from workbench.live.formats.gemini import Gemini
from workbench.live.formats.responses import Responses
from workbench.live.formats.shape import HostFormat, Record

MessageFormat: TypeAlias = Literal["openai", "anthropic", "responses", "gemini"]

FORMATS: Mapping[MessageFormat, HostFormat] = {
    "gemini": Gemini(), "responses": Responses(), "anthropic": Anthropic(), "openai": OpenAIChat(),
}  # fmt: skip
"""In the order in which they are tried."""


def format_of(record: Record) -> MessageFormat | None:
    """The format that an entry shows by what only this format has; None where it could be of
    several.
    """
    return next((name for name, format in FORMATS.items() if format.shows(record)), None)


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
    Anthropic's vision guide (100 pictures in a request of the API, 32 MB); OpenAI's guide on images
    and vision (500 pictures, 50 MB a request); Google's pages on image understanding (3,000
    pictures, 20 MB of inline data a request).
"""
