"""What a request would send: the thing that compaction compacts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from workbench.transcript.message import Message, ToolCall
from workbench.transcript.pairing import answered, cut_points
from workbench.transcript.tokens import TokenCounter, chars_per_token

EMPTY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Context:
    """Messages with their sizes, each counted once as it entered.

    Attributes:
        sizes: tokens of each message.
        overhead: tokens sent with every request that no message holds (system prompt, tool schemas).
        count: the counter for new messages.
        archive: full texts that stages took out of messages, by the reference in their place.
        tokens: the whole request: overhead and all sizes.
    """

    messages: tuple[Message, ...]
    sizes: tuple[int, ...]
    overhead: int = 0
    count: TokenCounter = chars_per_token
    archive: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    tokens: int = field(init=False)

    def __post_init__(self) -> None:
        if len(self.messages) != len(self.sizes):
            raise ValueError(f"{len(self.messages)} messages but {len(self.sizes)} sizes")
        object.__setattr__(self, "tokens", self.overhead + sum(self.sizes))

    @classmethod
    def of(cls, messages: Iterable[Message], count: TokenCounter = chars_per_token, overhead: int = 0) -> Context:
        """A context of these messages, each counted now."""
        said = tuple(messages)
        return cls(said, tuple(count(message) for message in said), overhead, count)

    @property
    def spoken(self) -> int:
        """Tokens of the messages alone."""
        return self.tokens - self.overhead

    @cached_property
    def answered(self) -> Mapping[int, tuple[int, ToolCall]]:
        """For the index of each tool result, the index of the message that made the call, and the call; found once."""
        return answered(self.messages)

    @cached_property
    def callers(self) -> Mapping[int, int]:
        """For the index of each tool result, the index of the message that made the call."""
        return {i: caller for i, (caller, _) in self.answered.items()}

    @cached_property
    def calls(self) -> dict[int, ToolCall]:
        """For the index of each tool result, the call that it answers."""
        return {i: call for i, (_, call) in self.answered.items()}

    @cached_property
    def cut_points(self) -> Sequence[bool]:
        """For each index whether a cut there parts no call from its result."""
        return cut_points(self.messages, self.callers)

    def sizes_of(self, messages: Iterable[Message]) -> list[int]:
        """The size of each of these messages; those of this context are not counted again."""
        known = dict(zip(map(id, self.messages), self.sizes, strict=True))
        return [known[id(message)] if id(message) in known else self.count(message) for message in messages]


class OpenContext:
    """A context that still grows: appending and asking for its size cost the same however long it is."""

    __slots__ = ("archive", "count", "messages", "overhead", "sizes", "tokens")

    def __init__(self, start: Context) -> None:
        self.messages: list[Message] = list(start.messages)
        self.sizes: list[int] = list(start.sizes)
        self.overhead = start.overhead
        self.count = start.count
        self.archive = start.archive
        self.tokens = start.tokens

    def append(self, message: Message, size: int | None = None) -> None:
        """Add a message; its size in tokens is counted unless it is passed."""
        size = self.count(message) if size is None else size
        self.messages.append(message)
        self.sizes.append(size)
        self.tokens += size

    @property
    def spoken(self) -> int:
        """Tokens of the messages alone."""
        return self.tokens - self.overhead

    def closed(self) -> Context:
        """The context as it is now."""
        return Context(tuple(self.messages), tuple(self.sizes), self.overhead, self.count, self.archive)
