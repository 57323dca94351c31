"""Shortens runs of tool results to their first words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import ClassVar

from workbench.compaction.clip import head
from workbench.compaction.marker import EXCERPT, is_archived
from workbench.compaction.pins import Pins, live
from workbench.compaction.plan import Plan
from workbench.compaction.results import rewritten
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, ToolResult, plain_text


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
        between = live(context.messages, self.pins.prefix, self.pins.suffix)
        runs = (run for run in _runs(context.messages, between) if len(run) >= self.run)
        return rewritten(context, self._excerpts(context, chain.from_iterable(runs)))

    def _excerpts(self, context: Context, results: Iterable[int]) -> Iterator[tuple[int, str]]:
        for i in results:
            message = context.messages[i]
            if self.pins.names_it(message) or is_archived(message, context.archive):
                continue
            text = plain_text(message)
            if len(text) > self.chars and not text.startswith(EXCERPT):
                yield i, f"{EXCERPT} {head(text, self.chars)} […]"


def _runs(messages: Sequence[Message], between: range) -> Iterator[list[int]]:
    for is_result, run in groupby(between, lambda i: isinstance(messages[i], ToolResult)):
        if is_result:
            yield list(run)
