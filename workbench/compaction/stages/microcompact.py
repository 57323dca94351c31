"""Shortens runs of tool results to their first words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from workbench.compaction.clip import head
from workbench.compaction.marker import EXCERPT, is_archived
from workbench.compaction.pins import Pins, live
from workbench.compaction.plan import Plan, Replace
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Text, ToolResult, plain_text, with_blocks


@dataclass(frozen=True, slots=True)
class Microcompact:
    """Cuts the results in each run of adjacent tool results to an excerpt, in place, so that pairs stay whole.

    Attributes:
        run: how many adjacent results make a run.
        chars: how many characters of each are kept.
        pins: what stays; `prefix` and `suffix` are counted in messages here, whatever their size.

    Source:
        ExAthena, `Compactors.Microcompact`: runs of three, 200 characters, restated. Where the original's first
        version merged a run into one message and so orphaned its calls, each result stays in its place.
    """

    run: int = 3
    chars: int = 200
    pins: Pins = Pins(suffix=6)
    name: ClassVar[str] = "microcompact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace the long results of each run; one that is an excerpt already stays."""
        edits = []
        between = live(context.messages, self.pins.prefix, self.pins.suffix)
        for i in (i for run in _runs(context.messages, between) if len(run) >= self.run for i in run):
            message = context.messages[i]
            if (
                not isinstance(message, ToolResult)
                or message.pinned
                or self.pins.names_it(message)
                or is_archived(message, context.archive)
            ):
                continue
            text = plain_text(message)
            if len(text) <= self.chars or text.startswith(EXCERPT):
                continue
            short = with_blocks(message, (Text(f"{EXCERPT} {head(text, self.chars)} […]"),))
            if context.count(short) < context.sizes[i]:
                edits.append(Replace(i, i + 1, (short,)))
        return Plan(tuple(edits)) if edits else None


def _runs(messages: Sequence[Message], between: range) -> Iterator[list[int]]:
    for is_result, run in groupby(between, lambda i: isinstance(messages[i], ToolResult)):
        if is_result:
            yield list(run)
