"""The messages that ExAthena leaves alone: the first ones, those with certain names, the live end, and pinned ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, ToolResult
from workbench.transcript.pairing import protected, with_partners


@dataclass(frozen=True, slots=True)
class Pinning:
    """The rule; messages named `memory` or `skill:...` are pinned by their names, but no tool's result is.

    Attributes:
        prefix: slots at the front; messages that are pinned by name take none.
        suffix: how many messages at the end are live.
    """

    prefix: int = 1
    suffix: int = 6

    def named(self, message: Message) -> bool:
        """Whether the message is pinned by its name."""
        named = message.name == "memory" or message.name.startswith("skill:")
        return named and not isinstance(message, ToolResult)

    def holds(self, message: Message) -> bool:
        """Whether the message stays wherever it stands."""
        return message.pinned or self.named(message)

    def floor(self, messages: Sequence[Message]) -> int:
        """Where the pinned prefix ends: its slots, and what is pinned by name among and right behind them."""
        free = [i for i, message in enumerate(messages) if not self.named(message)]
        return free[self.prefix] if self.prefix < len(free) else len(messages)

    def between(self, messages: Sequence[Message]) -> range:
        """The indices between prefix and live end."""
        start = self.floor(messages)
        return range(start, max(len(messages) - self.suffix, start))

    def kept(self, context: Context, budget: Budget) -> set[int]:
        """The indices that a summary does not replace, each call with its results and each result with its call.

        The newest user message is among them; an earlier summary is not, though it stands in the prefix: it is carried
        on. Where a comparison sets the size, the live end takes at most half of the room that it leaves.
        """
        messages = context.messages
        prefix = range(self.floor(messages))
        held = protected(messages) | {i for i, message in enumerate(messages) if self.named(message)}
        held = with_partners(messages, held | {i for i in prefix if not isinstance(messages[i], Summary)})
        start = max(len(messages) - self.suffix, 0)
        if budget.reason == "matched":
            left = 0.5 * (budget.target - context.overhead - sum(context.sizes[i] for i in held))
            for i in range(len(messages) - 1, start - 1, -1):
                left -= 0 if i in held else context.sizes[i]
                if left < 0:
                    start = i + 1
                    break
        return with_partners(messages, held | set(range(start, len(messages))))


PINNING = Pinning()
