"""Parts of a text: a span, its line, and what stands just before it or at its end."""

import re
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""Where a part of a text begins and ends, half-open."""


def preceding(text: str, place: int, reach: int) -> str:
    """The last characters before a place, as many as that."""
    start = max(0, place - reach)
    return text[start:place]


def search_before(
    pattern: re.Pattern[str], text: str, place: int, reach: int
) -> re.Match[str] | None:
    """The first match in the last characters before a place, as many as that."""
    start = max(0, place - reach)
    return pattern.search(text, start, place)


def character_before(text: str, place: int) -> str:
    """The character before a place; empty at the beginning of a text."""
    return text[place - 1 : place]


def character_at(text: str, place: int) -> str:
    """The character at a place; empty at the end of a text."""
    return text[place : place + 1]


def line_start(text: str, place: int) -> int:
    """Where the line of a place begins."""
    return text.rfind("\n", 0, place) + 1


def line_end(text: str, place: int) -> int:
    """Where the line of a place ends."""
    end = text.find("\n", place)
    if end < 0:
        return len(text)
    return end
