"""How often an agent looked again at what it had looked at before, after a compaction and by its nature."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from workbench.metrics.sources import repeatable
from workbench.transcript.files import touched
from workbench.transcript.message import AssistantMessage, Message, ToolCall

WINDOW = 24
"""Tool calls after a boundary that are watched."""
BEFORE = 96
"""Tool calls before a boundary from which the natural rate is taken; at least `WINDOW` of them."""


@dataclass(frozen=True, slots=True)
class Rereads:
    """What an agent looked at again around one boundary.

    Attributes:
        at: the boundary.
        calls: tool calls that were watched after it, 24 at most.
        repeats: those among them that only look, and at what was looked at before the boundary.
        expected: as many as the rate among the 96 calls before the boundary gives; None where there are fewer than 24.
    """

    at: int
    calls: int
    repeats: int
    expected: float | None


def rereads(messages: Sequence[Message], boundaries: Sequence[int]) -> tuple[Rereads, ...]:
    """The repeats after each boundary beside the natural rate.

    A repeat is a call that only looks (`sources.repeatable`) with the target of an earlier one: the file of a reading
    tool whatever the lines, else the same arguments. Only what was seen before the boundary counts after it, since what
    was seen after it is still there.

    Fails to see: a look by other means; that a file had changed and so was worth another look, on both sides alike.
    """
    calls = [
        (at, _target(call))
        for at, message in enumerate(messages)
        if isinstance(message, AssistantMessage)
        for call in message.calls
    ]
    seen: dict[str, int] = {}
    again: list[bool] = []
    for at, target in calls:
        again.append(bool(target) and target in seen)
        if target:
            seen.setdefault(target, at)
    return tuple(_around(calls, seen, again, at) for at in boundaries)


def _around(calls: Sequence[tuple[int, str]], first: dict[str, int], again: Sequence[bool], at: int) -> Rereads:
    start = bisect_left(calls, at, key=itemgetter(0))
    watched = calls[start : start + WINDOW]
    repeats = sum(bool(target) and first[target] < at for _, target in watched)
    before = again[max(0, start - BEFORE) : start]
    expected = sum(before) / len(before) * len(watched) if len(before) >= WINDOW else None
    return Rereads(at, len(watched), repeats, expected)


def _target(call: ToolCall) -> str:
    """What a call that only looks looks at; empty for any other call."""
    if not repeatable(call):
        return ""
    files = touched(call.name, call.arguments).read
    return files[0] if files else f"{call.name} {json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)}"
