"""What ExAthena leaves alone: a prefix, the live end, and messages that are pinned by their names."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.plan import Budget, behind_prompt, place
from workbench.engine.compaction.setting_names import DOCUMENTED
from workbench.engine.compaction.span_selection import KEPT_SHARE, Span
from workbench.engine.transcript.context import Context, protected, with_partners
from workbench.engine.transcript.context_lookup import indices_but, tokens_of
from workbench.engine.transcript.message import Message

FEWEST = 3
"""Messages that are worth a summary."""


@dataclass(frozen=True, slots=True)
class Pinning:
    """What stays: `prefix` slots at the front, `suffix` live messages, and those named `memory`
    or `skill:...`.
    """

    prefix: int = field(default=1, metadata={DOCUMENTED: "pinned_prefix_count"})
    suffix: int = field(default=6, metadata={DOCUMENTED: "live_suffix_count"})

    def __post_init__(self) -> None:
        check_whole_number("prefix", self.prefix, least=0)
        check_whole_number("suffix", self.suffix, least=0)

    def named(self, message: Message) -> bool:
        """Whether the message is pinned by its name, which takes no slot; no tool's result is."""
        if message.role == "tool":
            return False
        return message.name == "memory" or message.name.startswith("skill:")

    def floor(self, messages: Sequence[Message]) -> int:
        """Where the pinned prefix ends: its slots, with what is pinned by name among them."""
        slots = 0
        for i, message in enumerate(messages):
            if self.named(message):
                continue
            if slots == self.prefix:
                return i
            slots += 1
        return len(messages)

    def between(self, messages: Sequence[Message]) -> range:
        """The indices between prefix and live end."""
        start = self.floor(messages)
        return range(start, max(len(messages) - self.suffix, start))

    def cut(self, context: Context, budget: Budget) -> Span | None:
        """What a summary replaces: the rest, but the newest user message; None for fewer than three
        messages.

        A call stays or goes with its results. An earlier summary in the prefix goes too: it is
        carried on. Where a comparison sets the size, the live end takes at most half of the room
        that it leaves.
        """
        messages = context.messages
        held_indices = protected(messages)
        for i, message in enumerate(messages):
            if self.named(message):
                held_indices.add(i)
        for i in range(self.floor(messages)):
            if messages[i].role != "summary":
                held_indices.add(i)
        held_indices = with_partners(messages, held_indices)
        start = max(len(messages) - self.suffix, 0)
        if budget.matched:
            start = self._fitting_start(context, budget, held_indices)
        live_end = range(start, len(messages))
        kept_indices = with_partners(messages, held_indices.union(live_end))
        removed_indices = indices_but(messages, kept_indices)
        if len(removed_indices) < FEWEST:
            return None
        return Span(tuple(removed_indices), len(messages))

    def _fitting_start(
        self,
        context: Context,
        budget: Budget,
        held_indices: set[int],
    ) -> int:
        """Where the part of the live end begins that takes at most half of the room."""
        end = len(context.messages)
        start = max(end - self.suffix, 0)
        held_tokens = tokens_of(context, held_indices)
        room = KEPT_SHARE * (budget.target - context.overhead - held_tokens)
        for i in reversed(range(start, end)):
            if i not in held_indices:
                room -= context.sizes[i]
            if room < 0:
                return i + 1
        return start

    def place(self, context: Context, removed_indices: Sequence[int]) -> int:
        """Right behind the pinned prefix, but never inside a pair; at the latest where the first
        message goes.
        """
        prompt_end = behind_prompt(context.messages, removed_indices)
        earliest = max(self.floor(context.messages), prompt_end)
        for index in range(earliest, removed_indices[0] + 1):
            if context.cut_points[index]:
                return index
        return place(context, removed_indices)


PINNING = Pinning()


@dataclass(frozen=True, slots=True)
class BetweenPins:
    """What a summary replaces: all that is not pinned."""

    pinning: Pinning = PINNING

    def __call__(self, context: Context, budget: Budget, /) -> Span | None:
        """The span; None for too few messages."""
        return self.pinning.cut(context, budget)


@dataclass(frozen=True, slots=True)
class BehindPrefix:
    """Where a summary stands: behind the pinned prefix."""

    pinning: Pinning = PINNING

    def __call__(self, context: Context, removed_indices: Sequence[int], /) -> int:
        """The index."""
        return self.pinning.place(context, removed_indices)
