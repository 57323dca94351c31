"""The messages that ExAthena leaves alone: the first ones, those with certain names, the live end, and pinned ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.compaction.place import behind_prompt
from workbench.compaction.span_selection import Span
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, ToolResult
from workbench.transcript.pairing import cut_points, protected, with_partners

FEWEST = 3
"""Messages that are worth a summary."""


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

    def find(self, context: Context, budget: Budget, /) -> Span | None:
        """What a summary replaces: the rest, but the newest user message; None for fewer than three messages.

        A call stays or goes with its results. An earlier summary goes though it stands in the prefix: it is carried on.
        Where a comparison sets the size, the live end takes at most half of the room that it leaves.
        """
        messages = context.messages
        held = protected(messages) | {i for i, message in enumerate(messages) if self.named(message)}
        prefix = {i for i in range(self.floor(messages)) if not isinstance(messages[i], Summary)}
        held = with_partners(messages, held | prefix)
        start = max(len(messages) - self.suffix, 0)
        if budget.matched:
            left = 0.5 * (budget.target - context.overhead - sum(context.sizes[i] for i in held))
            for i in range(len(messages) - 1, start - 1, -1):
                left -= 0 if i in held else context.sizes[i]
                if left < 0:
                    start = i + 1
                    break
        kept = with_partners(messages, held | set(range(start, len(messages))))
        gone = tuple(i for i in range(len(messages)) if i not in kept)
        return Span(gone, len(messages)) if len(gone) >= FEWEST else None

    def place(self, messages: Sequence[Message], gone: Sequence[int]) -> int:
        """Right behind the pinned prefix, but never inside a pair; at the latest where the first message goes."""
        flags = cut_points(messages)
        prompt = behind_prompt(messages, gone)
        if prompt > gone[0]:
            return next(i for i in range(prompt, len(flags)) if flags[i])
        places = (i for i in range(max(self.floor(messages), prompt), gone[0] + 1) if flags[i])
        return next(places, next(i for i in range(gone[0], -1, -1) if flags[i]))


PINNING = Pinning()
