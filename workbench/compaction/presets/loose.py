"""The messages of a context that may go, and where restated systems cut among them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from workbench.compaction.cut import Cut
from workbench.compaction.presets.swap import free, within
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, is_real_user
from workbench.transcript.pairing import callers, cut_points

Value = TypeVar("Value")

LEFT_BY_FORCE = 2
HALF = 0.5
"""The part of the room under the target that newest messages take at most: the rest is for the summary."""


@dataclass(frozen=True, slots=True)
class Loose:
    """The m messages that are neither pinned nor the partner of a pinned one, with their sizes and their indices.

    Attributes:
        flags: m + 1: whether a cut before each parts no call from its result.
        earlier: the place behind the newest summary among them; 0 without one.
    """

    context: Context
    budget: Budget
    indices: tuple[int, ...]
    messages: tuple[Message, ...]
    sizes: tuple[int, ...]
    flags: tuple[bool, ...]
    earlier: int

    @classmethod
    def of(cls, context: Context, budget: Budget) -> Loose:
        """Those of a context."""
        indices = tuple(free(context.messages))
        said, sizes = _at(indices, context.messages), _at(indices, context.sizes)
        earlier = next((i + 1 for i in range(len(said) - 1, -1, -1) if said[i].role == "summary"), 0)
        return cls(context, budget, indices, said, sizes, tuple(_flags(context.messages, indices)), earlier)

    def __len__(self) -> int:
        return len(self.messages)

    def kept(self, own: int) -> int:
        """Tokens of newest messages to keep: what was asked for, else the system's number, as far as there is room."""
        if self.budget.keep_recent is not None and self.budget.reason != "matched":
            return self.budget.keep_recent
        fixed = self.context.tokens - sum(self.sizes)
        return min(own, int(HALF * max(self.budget.target - fixed, 0)))

    def fitting(self, tokens: int) -> int:
        """The first place whose rest takes at most so many tokens."""
        rests = list(accumulate(reversed(self.sizes)))
        return len(self) - (bisect_left(rests, tokens + 1) if tokens >= 0 else 0)

    def reaching(self, tokens: int) -> int | None:
        """The last place whose rest takes at least so many tokens; None if all together take less."""
        rests = list(accumulate(reversed(self.sizes)))
        at = bisect_left(rests, tokens)
        return len(self) - 1 - at if at < len(rests) else None

    def after(self, at: int) -> int:
        """The nearest place at or after `at` that parts no pair; m where there is none earlier."""
        return next(i for i in range(max(at, 0), len(self) + 1) if self.flags[i])

    def before(self, at: int) -> int:
        """The nearest place at or before `at` that parts no pair."""
        return next(i for i in range(min(at, len(self)), -1, -1) if self.flags[i])

    def turn(self, at: int) -> int:
        """Where the turn begins that holds the message at this place; the place itself where a turn begins there."""
        if at < len(self) and not is_real_user(self.messages[at]):
            return next((i for i in range(at - 1, self.earlier - 1, -1) if is_real_user(self.messages[i])), at)
        return at

    def cut(self, at: int | None, *, split: bool = False) -> Cut | None:
        """The cut before this place, behind any earlier summary; None where nothing would be cut off.

        Args:
            at: in [0, m]; None where the system sees nothing to cut off, which is final unless somebody forces it or a
                comparison sets the size.
            split: whether the start of a turn that goes on is summarised apart.
        """
        if at is None or at <= 0:
            if not self.budget.force and self.budget.reason != "matched":
                return None
            at = max(len(self) - LEFT_BY_FORCE, 0) if self.budget.force else 0
        at = self.after(within(self.context, self.budget, self.indices, max(at, self.earlier)))
        if at == 0:
            return None
        turn = self.turn(at) if split else at
        return Cut(self._index(turn), self._index(at))

    def _index(self, at: int) -> int:
        return self.indices[at] if at < len(self.indices) else len(self.context.messages)


def _flags(messages: Sequence[Message], indices: Sequence[int]) -> list[bool]:
    """The cut points among these messages: those of all messages, unless a pair that is none of them lies around some.

    Args:
        messages: n messages.
        indices: of m messages, ascending; with each call its results are among them or none is.
    """
    held = set(range(len(messages))).difference(indices)
    if not held.isdisjoint(callers(messages)):
        return cut_points([messages[i] for i in indices])
    return [*_at(indices, cut_points(messages)[:-1]), True]


def _at(indices: Sequence[int], values: Sequence[Value]) -> tuple[Value, ...]:
    """The values at these indices, ascending; at once where none is left out between them, as is most often so."""
    if indices and indices[-1] - indices[0] == len(indices) - 1:
        return tuple(values[indices[0] : indices[-1] + 1])
    return tuple([values[i] for i in indices])
