"""Moves very long tool results to the archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.marker import reference, truncated
from workbench.compaction.plan import Plan
from workbench.compaction.results import rewritten
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Text, ToolResult, plain_text


@dataclass(frozen=True, slots=True)
class BudgetReduction:
    """Puts a reference in the place of each tool result of more than `chars` characters.

    The full text can be read afterwards: `Context.read(reference)`.

    Source:
        ExAthena, `Compactors.BudgetReduction`, restated; the reference is a hash of the text, so that the same text
        has the same reference in every run.
    """

    chars: int = 16_000
    name: ClassVar[str] = "budget_reduction"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace what is too long, wherever it stands."""
        long = (
            (i, plain_text(message))
            for i, message in enumerate(context.messages)
            if isinstance(message, ToolResult)
            and sum(len(block.text) for block in message.blocks if isinstance(block, Text)) > self.chars
        )
        named = ((i, len(text), reference(text)) for i, text in long)
        return rewritten(context, ((i, truncated(size, ref), ref) for i, size, ref in named), pictures=True)
