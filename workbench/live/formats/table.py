"""All formats by name, and which of them an entry shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from workbench.live.formats.anthropic import Anthropic
from workbench.live.formats.gemini import Gemini
from workbench.live.formats.openai_chat import OpenAIChat
from workbench.live.formats.responses import Responses
from workbench.live.formats.shape import Format, Record

MessageFormat: TypeAlias = Literal["openai", "anthropic", "responses", "gemini"]

FORMATS: Mapping[MessageFormat, Format] = {
    "gemini": Gemini(), "responses": Responses(), "anthropic": Anthropic(), "openai": OpenAIChat(),
}  # fmt: skip
"""In the order in which they are tried."""


def format_of(record: Record) -> MessageFormat | None:
    """The format that an entry shows by what only this format has; None where it could be of several."""
    return next((name for name, format in FORMATS.items() if format.shows(record)), None)
