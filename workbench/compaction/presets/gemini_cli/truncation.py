"""Gemini CLI's reverse budget: the newest tool output in full, older output by its last lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.marker import reference
from workbench.compaction.plan import Plan, Replace
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Image, Text, ToolResult, plain_text, with_blocks

TOKENS = 50_000
LINES = 30
MARK = "[older output, cut to its end; full text under ref="


@dataclass(frozen=True, slots=True)
class ReverseBudget:
    """Walks back over tool results; once they take more than the budget, older ones keep their last lines.

    Attributes:
        tokens: of results that stay whole, counted from the newest; the one that exceeds it is cut.
        lines: what stays of the others.
    """

    tokens: int = TOKENS
    lines: int = LINES
    name: ClassVar[str] = "reverse_budget"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The cut results, each smaller than it was, and their full texts for the archive."""
        edits, archive, used = [], {}, 0
        for i in range(len(context.messages) - 1, -1, -1):
            message = context.messages[i]
            if not isinstance(message, ToolResult):
                continue
            used += context.sizes[i]
            text = plain_text(message)
            if used <= self.tokens or message.pinned or text.startswith(MARK):
                continue
            end = _last_lines(text, self.lines)
            if len(end) == len(text):
                continue
            ref = reference(text)
            pictures = [block for block in message.blocks if isinstance(block, Image)]
            short = with_blocks(message, (Text(f"{MARK}{ref}]\n{end}"), *pictures))
            if context.count(short) < context.sizes[i]:
                edits.append(Replace(i, i + 1, (short,)))
                archive[ref] = text
        return Plan(tuple(reversed(edits)), archive) if edits else None


def _last_lines(text: str, lines: int) -> str:
    """That many, or the whole text if it has no more."""
    parts = text.rsplit("\n", lines) if "\n" in text else [text]
    return text[len(parts[0]) + 1 :] if len(parts) > lines else text
