"""Forgets tool results that the agent has long since answered to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.marker import is_archived, snipped
from workbench.compaction.pins import Pins, live
from workbench.compaction.plan import Plan
from workbench.compaction.results import rewritten
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, ToolResult


@dataclass(frozen=True, slots=True)
class Snip:
    """Puts a marker with the call's id in the place of each stale tool result.

    Attributes:
        age: a result is stale when at least so many answers of the model came after it.
        pins: what stays; `prefix` and `suffix` are counted in messages here, whatever their size.

    Source:
        ExAthena, `Compactors.Snip`: four iterations, live suffix of six, restated.
    """

    age: int = 4
    pins: Pins = Pins(suffix=6)
    name: ClassVar[str] = "snip"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace stale results; one whose marker would not be smaller stays, and so does a reference."""
        return rewritten(context, self._stale(context))

    def _stale(self, context: Context) -> Iterator[tuple[int, str]]:
        messages = context.messages
        between = live(messages, self.pins.prefix, self.pins.suffix)
        answers = 0
        for i in range(len(messages) - 1, between.start - 1, -1):
            message = messages[i]
            answers += isinstance(message, AssistantMessage)
            if i >= between.stop or answers < self.age or not isinstance(message, ToolResult):
                continue
            if not self.pins.names_it(message) and not is_archived(message, context.archive):
                yield i, snipped(message.call_id)
