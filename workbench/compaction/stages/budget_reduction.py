"""Moves very long tool results to the archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.marker import reference, truncated
from workbench.compaction.plan import Plan, Replace
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Image, Text, ToolResult, plain_text, with_blocks


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
        edits, archive = [], {}
        for i, message in enumerate(context.messages):
            if not isinstance(message, ToolResult) or message.pinned:
                continue
            text = plain_text(message)
            if len(text) <= self.chars:
                continue
            if sum(len(block.text) for block in message.blocks if isinstance(block, Text)) <= self.chars:
                continue
            ref = reference(text)
            pictures = tuple(block for block in message.blocks if isinstance(block, Image))
            short = with_blocks(message, (Text(truncated(len(text), ref)), *pictures))
            if context.count(short) < context.sizes[i]:
                edits.append(Replace(i, i + 1, (short,)))
                archive[ref] = text
        return Plan(tuple(edits), archive) if edits else None
