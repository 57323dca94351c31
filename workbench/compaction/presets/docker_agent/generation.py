"""What differs between docker-agent's versions: how they count, how much they keep, and how long a summary may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from workbench.compaction.clip import shortened
from workbench.compaction.presets.docker_agent.counting import calibrated, docker_tokens, docker_tokens_g2
from workbench.transcript.message import Message, ToolResult

MAX_KEEP_TOKENS = 20_000
MAX_SUMMARY_TOKENS = 16_000
_RESULT_SHARE = 4


class Generation(Protocol):
    """One version."""

    def count(self, message: Message, /) -> int:
        """Tokens of one message."""
        ...

    def sizes(self, messages: Sequence[Message], counted: Sequence[int] | None = None, /) -> tuple[int, ...]:
        """Tokens of each of these messages, which may explain each other; `counted` is what `count` gave for each."""
        ...

    def keep(self, limit: int, /) -> int:
        """Tokens of newest messages that stay, in a window of `limit` tokens; 0 or less is an unknown one."""
        ...

    def cap(self, limit: int, /) -> int:
        """Tokens that a summary may have."""
        ...

    def bounded(self, messages: Sequence[Message], counted: Sequence[int], room: int, /) -> tuple[Message, ...]:
        """The messages as the summariser reads them, in so many tokens."""
        ...


@dataclass(frozen=True, slots=True)
class G1:
    """v1.53.0."""

    name: ClassVar[str] = "g1"

    def count(self, message: Message, /) -> int:
        """By four."""
        return docker_tokens(message)

    def sizes(self, messages: Sequence[Message], counted: Sequence[int] | None = None, /) -> tuple[int, ...]:
        """Each by itself."""
        return tuple(map(docker_tokens, messages) if counted is None else counted)

    def keep(self, limit: int, /) -> int:
        """20,000, whatever the window."""
        return MAX_KEEP_TOKENS

    def cap(self, limit: int, /) -> int:
        """16,000, whatever the window."""
        return MAX_SUMMARY_TOKENS

    def bounded(self, messages: Sequence[Message], counted: Sequence[int], room: int, /) -> tuple[Message, ...]:
        """As they are."""
        return tuple(messages)


@dataclass(frozen=True, slots=True)
class G2:
    """Later versions, for small windows too."""

    name: ClassVar[str] = "g2"

    def count(self, message: Message, /) -> int:
        """As reported, else by 3.5, without a scale."""
        return docker_tokens_g2(message)

    def sizes(self, messages: Sequence[Message], counted: Sequence[int] | None = None, /) -> tuple[int, ...]:
        """With the scale that fits them."""
        return calibrated(messages, counted)

    def keep(self, limit: int, /) -> int:
        """A fifth of the window, at most 20,000."""
        return min(MAX_KEEP_TOKENS, limit // 5) if limit > 0 else MAX_KEEP_TOKENS

    def cap(self, limit: int, /) -> int:
        """A quarter of the window, at most 16,000."""
        return min(MAX_SUMMARY_TOKENS, limit // 4)

    def bounded(self, messages: Sequence[Message], counted: Sequence[int], room: int, /) -> tuple[Message, ...]:
        """Results of more than a quarter of the room are cut in the middle; the original does not say to how much."""
        most = max(room // _RESULT_SHARE, 1)
        short = (
            shortened(message, most, size, self.count) if size > most and isinstance(message, ToolResult) else None
            for message, size in zip(messages, counted, strict=True)
        )
        return tuple(message if cut is None else cut for message, cut in zip(messages, short, strict=True))


FIRST = G1()
LATER = G2()
