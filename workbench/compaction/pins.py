"""Which messages a strategy leaves alone: those that are pinned, and those that its own rule adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message
from workbench.transcript.pairing import protected, with_partners


@dataclass(frozen=True, slots=True)
class Pins:
    """A rule of what stays besides pinned messages and the newest user message.

    Attributes:
        prefix: how many of the first messages.
        suffix: how many of the last messages.
        names: messages with these names; `skill:*` is every name that begins with `skill:`.
        share: the part of the room under the target that prefix and suffix may take together; a prefix takes at
            most half of that. So a small budget is still reached.
    """

    prefix: int = 0
    suffix: int = 0
    names: tuple[str, ...] = ()
    share: float = 0.5

    def fixed(self, context: Context, budget: Budget) -> set[int]:
        """The indices that stay, without the suffix."""
        messages = context.messages
        kept = protected(messages)
        if self.names:
            kept |= with_partners(messages, [i for i, message in enumerate(messages) if self.names_it(message)])
        if self.prefix:
            first = _lasting(messages, with_partners(messages, range(min(self.prefix, len(messages)))) - kept)
            if sum(context.sizes[i] for i in first) <= self.share / 2 * _room(context, budget, kept):
                kept |= first
        return kept

    def held(self, context: Context, budget: Budget) -> set[int]:
        """The indices that stay: the fixed ones, and as much of the suffix as the share allows."""
        kept = self.fixed(context, budget)
        if not self.suffix:
            return kept
        flags = context.cut_points
        left = self.share * _room(context, budget, kept)
        start = stop = len(flags) - 1
        wanted = max(stop - self.suffix, 0)
        while start > wanted:
            begin = next(i for i in range(start - 1, -1, -1) if flags[i])
            left -= sum(context.sizes[i] for i in range(begin, start) if i not in kept)
            if left < 0:
                break
            start = begin
        return kept | _lasting(context.messages, set(range(start, stop)) - kept)

    def names_it(self, message: Message) -> bool:
        """Whether the message stays because of its name."""
        return bool(message.name) and any(fnmatchcase(message.name, name) for name in self.names)


def _lasting(messages: Sequence[Message], indices: set[int]) -> set[int]:
    """Those that are not summaries: a summary is carried on into the next one, wherever it is."""
    return {i for i in indices if messages[i].role != "summary"}


def _room(context: Context, budget: Budget, kept: set[int]) -> int:
    return max(budget.target - context.overhead - sum(context.sizes[i] for i in kept), 0)
