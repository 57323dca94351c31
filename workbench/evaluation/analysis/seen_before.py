"""Whether a result tells what was told before, by its lines."""

from collections.abc import Collection, Iterator

MOSTLY = 0.5
"""Share of a result's lines above which it told nothing new."""
SHORTEST_LINE = 12
"""Characters of a line that can be recognised; shorter ones, such as `}` or `ok`, stand in many
results.
"""
MARGIN = "0123456789:→|"
"""What tools put before a line of a file: its number, and marks."""


def recognisable_lines(text: str) -> Iterator[str]:
    """The lines of a text that can be recognised, without line numbers and margins."""
    for line in text.splitlines():
        words = line.strip()
        words = words.lstrip(MARGIN).strip()
        if len(words) >= SHORTEST_LINE:
            yield words


def is_mostly_seen(lines: Collection[str], seen_lines: Collection[str]) -> bool:
    """Whether more than half of the lines were seen before."""
    return bool(seen_lines) and len(seen_lines) > MOSTLY * len(lines)
