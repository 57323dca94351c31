"""What an agent does again: calls whose results the conversation had told it already."""

from collections.abc import Sequence
from typing import NamedTuple

from workbench.engine.transcript.message import Json
from workbench.evaluation.analysis.seen_before import is_mostly_seen, recognisable_lines


class Repeats(NamedTuple):
    """Of the calls from a place of a conversation on.

    Attributes:
        calls: all of them.
        again: those whose result had mostly been told before that, by whatever call.
    """

    calls: int
    again: int


def repeats(messages: Sequence[Json], start: int) -> Repeats:
    """What was told again in a conversation, which no compaction has changed, from a place on.

    Args:
        messages: chat messages.
        start: the number of the message from which on calls count; what stands before is known.
    """
    known_lines = set[str]()
    calls = again = 0
    for number, message in enumerate(messages):
        if message["role"] != "tool":
            continue
        lines = list(recognisable_lines(str(message["content"])))
        if number >= start:
            old = []
            for line in lines:
                if line in known_lines:
                    old.append(line)
            calls += 1
            again += is_mostly_seen(lines, old)
        known_lines.update(lines)
    return Repeats(calls, again)
