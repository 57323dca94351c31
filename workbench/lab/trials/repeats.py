"""What an agent does again: calls whose results the conversation had told it already."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.engine.transcript.message import Json

MOSTLY = 0.5
"""Share of a result's lines above which it told nothing new."""
SHORTEST_LINE = 12
"""Characters of a line that can be told again; shorter ones, such as `}` or `ok`, stand in many
results.
"""


class Repeats(NamedTuple):
    """Of the calls from a place of a conversation on.

    Attributes:
        calls: all of them.
        again: those whose result had mostly been told before that, by whatever call.
        again_characters: of the lines of all results that had been told before.
    """

    calls: int
    again: int
    again_characters: int


def repeats(messages: Sequence[Json], start: int) -> Repeats:
    """What was told again in a conversation, which no compaction has changed, from a place on.

    Args:
        messages: chat messages.
        start: the number of the message from which on calls count; what stands before is known.
    """
    known_lines = set[str]()
    calls = again = characters = 0
    for number, message in enumerate(messages):
        if message["role"] != "tool":
            continue
        lines = list(_lines(str(message["content"])))
        if number >= start:
            old = [line for line in lines if line in known_lines]
            calls += 1
            again += bool(old) and len(old) > MOSTLY * len(lines)
            characters += sum(map(len, old))
        known_lines.update(lines)
    return Repeats(calls, again, characters)


def _lines(result: str) -> Iterator[str]:
    """The lines of a result that can be told apart, without line numbers and margins."""
    for line in result.splitlines():
        words = line.strip().lstrip("0123456789:").strip()
        if len(words) >= SHORTEST_LINE:
            yield words
