"""What ExAthena leaves alone: the first messages, those with certain names, the live end, and pinned ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, ToolResult
from workbench.transcript.pairing import protected, with_partners

NAMES = ("memory", "skill:*")
_KEPT = 0.5


@dataclass(frozen=True, slots=True)
class Pinning:
    """The rule.

    Attributes:
        prefix: slots at the front; messages that are pinned by name take none.
        suffix: how many messages at the end are live.
        names: messages with these names; `skill:*` is every name that begins with `skill:`. A tool's name is none.
    """

    prefix: int = 1
    suffix: int = 6
    names: tuple[str, ...] = NAMES

    def named(self, message: Message) -> bool:
        """Whether the message is pinned by its name."""
        said = message.name if not isinstance(message, ToolResult) else ""
        return bool(said) and any(
            said == name or (name.endswith("*") and said.startswith(name[:-1])) for name in self.names
        )

    def holds(self, message: Message) -> bool:
        """Whether the message stays wherever it stands."""
        return message.pinned or self.named(message)

    def floor(self, messages: Sequence[Message]) -> int:
        """Where the pinned prefix ends: its slots, and what is pinned by name among and right behind them."""
        left = self.prefix
        for i, message in enumerate(messages):
            if self.named(message):
                continue
            if left == 0:
                return i
            left -= 1
        return len(messages)

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
        held = protected(messages) | {i for i, message in enumerate(messages) if self.named(message)}
        prefix = {i for i in range(self.floor(messages)) if not isinstance(messages[i], Summary)}
        held = with_partners(messages, held | prefix)
        start = max(len(messages) - self.suffix, 0)
        if budget.reason == "matched":
            start = max(start, _fitting(context, budget, held))
        return with_partners(messages, held | set(range(start, len(messages))))


PINNING = Pinning()


def _fitting(context: Context, budget: Budget, held: set[int]) -> int:
    """The first index from which on the messages that are not held take at most half of the room."""
    left = _KEPT * (budget.target - context.overhead - sum(context.sizes[i] for i in held))
    for i in range(len(context.messages) - 1, -1, -1):
        left -= 0 if i in held else context.sizes[i]
        if left < 0:
            return i + 1
    return 0
