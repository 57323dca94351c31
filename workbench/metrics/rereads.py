"""How often an agent looked again at what it had looked at before, after a compaction and by its nature."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import itemgetter

from workbench.metrics.sources import repeatable
from workbench.transcript.files import touched
from workbench.transcript.message import AssistantMessage, Message, ToolCall

WINDOW = 24
"""Tool calls after a boundary that are watched."""
BEFORE = 96
"""Tool calls before a boundary from which the natural rate is taken; at least `WINDOW` of them."""


def rereads(messages: Sequence[Message], boundaries: Sequence[int]) -> Iterator[dict[str, str | int | float | None]]:
    """The repeats after each boundary (`at`) beside the natural rate, as rows.

    `calls` are the tool calls that were watched after it, 24 at most; `repeats` those among them that only look, and at
    what was looked at before the boundary; `expected` as many as the rate among the 96 calls before the boundary gives,
    None where there are fewer than 24. Two looks are the same if they read the same file, whatever the lines, or have
    the same arguments.

    Fails to see: a look by other means; that a file had changed and so was worth another look, on both sides alike.
    """
    calls = [
        (at, _target(call))
        for at, message in enumerate(messages)
        if isinstance(message, AssistantMessage)
        for call in message.calls
    ]
    first: dict[str, int] = {}
    again: list[bool] = []
    for at, target in calls:
        again.append(bool(target) and target in first)
        first.setdefault(target, at)
    for at in boundaries:
        start = bisect_left(calls, at, key=itemgetter(0))
        watched, before = calls[start : start + WINDOW], again[max(0, start - BEFORE) : start]
        yield {
            "at": at, "calls": len(watched),
            "repeats": sum(bool(target) and first[target] < at for _, target in watched),
            "expected": sum(before) / len(before) * len(watched) if len(before) >= WINDOW else None,
        }  # fmt: skip


def _target(call: ToolCall) -> str:
    """What a call that only looks looks at; empty for any other call."""
    if not repeatable(call):
        return ""
    files = touched(call.name, call.arguments).read
    return files[0] if files else f"{call.name} {json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)}"
