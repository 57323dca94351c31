"""Which messages of a context give way to a summary: the rules' interface, the helpers that they
share, the result.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TypeAlias

from workbench.engine.compaction.plan import Budget
from workbench.engine.transcript.context import Context, cut_points, last_user, pinned, protected
from workbench.engine.transcript.context_lookup import cut_point_from, cut_point_until, indices_but
from workbench.engine.transcript.message import Message, is_real_user

LEFT_BY_FORCE = 2
"""Messages that stay where a compaction is forced although everything would fit."""
KEPT_SHARE = 0.5
"""The part of the room under the target that newest messages take at most: the rest is for the
summary.
"""
KEPT_AT_MOST = 0.75
"""The same where a comparison sets the size and a system's own rule keeps more."""


@dataclass(frozen=True, slots=True)
class Span:
    """The messages that give way to a summary.

    Attributes:
        indices: of the messages, ascending.
        history: those before this index belong to whole turns, the others to the start of a turn
            that goes on.
        rewritten: messages that stay in another form, by index.
    """

    indices: tuple[int, ...]
    history: int
    rewritten: Mapping[int, Message] = field(default_factory=dict)

    def without(self, stays: Collection[int]) -> Span:
        """The same, but these stay."""
        indices = [i for i in self.indices if i not in stays]
        return replace(self, indices=tuple(indices))


CutRule: TypeAlias = Callable[[Context, Budget], Span | None]
"""Selects what a summary replaces; None where there is nothing. Pure; it never selects a
protected message.
"""


def spare(context: Context) -> list[int]:
    """The indices of the messages that may go: those that are not protected."""
    protected_indices = protected(context.messages)
    return indices_but(context.messages, protected_indices)


@dataclass(frozen=True, slots=True)
class Movable:
    """The m messages that may go: neither pinned nor the partner of a pinned one, for rules that
    know no pins.

    A place is a number in [0, m]: the messages before it go, those from it on stay. The newest user
    message counts like the others, but no span holds it: it stays beside the summary.

    Attributes:
        indices: of the messages in the context.
        flags: m + 1, whether a cut at each place parts no call from its result.
        earlier: the place behind the newest summary among them; 0 without one.
    """

    context: Context
    budget: Budget
    indices: tuple[int, ...]
    messages: tuple[Message, ...]
    sizes: tuple[int, ...]
    flags: Sequence[bool]
    earlier: int

    @classmethod
    def of(cls, context: Context, budget: Budget) -> Movable:
        """Those of a context."""
        pinned_indices = pinned(context.messages)
        indices = indices_but(context.messages, pinned_indices)
        messages = [context.messages[i] for i in indices]
        sizes = [context.sizes[i] for i in indices]
        place_of = {index: place for place, index in enumerate(indices)}
        earlier = 0
        for place, message in enumerate(messages):
            if message.role == "summary":
                earlier = place + 1
        caller_of: dict[int, int] = {}
        for index, caller in context.callers.items():
            if index in place_of:
                caller_of[place_of[index]] = place_of[caller]
        return cls(
            context=context,
            budget=budget,
            indices=tuple(indices),
            messages=tuple(messages),
            sizes=tuple(sizes),
            flags=cut_points(messages, caller_of),
            earlier=earlier,
        )

    @classmethod
    def weighed(
        cls,
        context: Context,
        budget: Budget,
        fixed: Collection[int],
    ) -> Movable:
        """All messages of a context; the fixed ones weigh nothing. For rules that know pins."""
        sizes = list(context.sizes)
        for index in fixed:
            sizes[index] = 0
        return cls(
            context=context,
            budget=budget,
            indices=tuple(range(len(sizes))),
            messages=context.messages,
            sizes=tuple(sizes),
            flags=context.cut_points,
            earlier=0,
        )

    def __len__(self) -> int:
        return len(self.messages)

    def kept(self, own_tokens: int) -> int:
        """Tokens of newest messages: as requested, else the system's, at most half the room."""
        if self.budget.keep_recent is not None and not self.budget.matched:
            return self.budget.keep_recent
        return min(own_tokens, self._share(KEPT_SHARE, self.indices))

    def requested(self, own_place: int) -> int:
        """The place that leaves the tokens which were requested; else the system's own."""
        if self.budget.keep_recent is None or self.budget.matched:
            return own_place
        return self.fitting(self.budget.keep_recent)

    def granted(self, own_tokens: int) -> int:
        """Tokens of newest messages: the system's; in a comparison at most half the room."""
        if not self.budget.matched:
            return own_tokens
        return min(own_tokens, self._share(KEPT_SHARE, spare(self.context)))

    def _share(self, share: float, removed_indices: Sequence[int]) -> int:
        """Tokens of a share of the room under the target once these messages are gone."""
        room = self.budget.room(self.context, removed_indices)
        return int(share * max(room, 0))

    def fitting(self, tokens: int) -> int:
        """The first place whose rest takes at most so many tokens."""
        if tokens < 0:
            return len(self)
        rests = list(accumulate(reversed(self.sizes)))
        return len(self) - bisect_right(rests, tokens)

    def reaching(self, tokens: int) -> int | None:
        """The last place whose rest takes at least so many tokens; None if all take less."""
        rests = list(accumulate(reversed(self.sizes)))
        rest_index = bisect_left(rests, tokens)
        if rest_index == len(rests):
            return None
        return len(self) - 1 - rest_index

    def after(self, place: int) -> int:
        """The nearest place from this one on that parts no pair; m where there is none earlier."""
        return cut_point_from(self.flags, max(place, 0))

    def before(self, place: int) -> int:
        """The nearest place up to this one that parts no pair."""
        return cut_point_until(self.flags, min(place, len(self)))

    def inner(self, place: int) -> int | None:
        """The nearest place from this one on, else before it, that parts no pair, both ends
        excluded; None if there is none.
        """
        for following in range(max(place, 1), len(self)):
            if self.flags[following]:
                return following
        for preceding in range(min(place, len(self)) - 1, 0, -1):
            if self.flags[preceding]:
                return preceding
        return None

    def turn(self, place: int) -> int:
        """Where the turn of the message at this place begins; the place itself if unknown."""
        if place == len(self):
            return place
        start = place
        while start >= self.earlier:
            if is_real_user(self.messages[start]):
                return start
            start -= 1
        return place

    def within(self, place: int) -> int:
        """In a comparison, the first place from here that leaves room for a summary."""
        if not self.budget.matched:
            return place
        max_tokens = self._share(KEPT_AT_MOST, spare(self.context))
        newest = last_user(self.context.messages)
        sizes = list(self.sizes)
        if newest is not None and newest in self.indices:
            sizes[self.indices.index(newest)] = 0
        rest_tokens = sum(sizes[place:])
        while place < len(self):
            if rest_tokens <= max_tokens and self.flags[place]:
                break
            rest_tokens -= sizes[place]
            place += 1
        return place

    def cut(self, place: int | None, *, split: bool = False) -> Span | None:
        """The span before this place, behind any earlier summary; None where nothing would be cut
        off.

        Args:
            place: in [0, m]; None where the system sees nothing to cut off: final, unless the
                compaction is forced or a comparison sets the size.
            split: whether the start of a turn that goes on is summarised apart.
        """
        if place is None or place <= 0:
            if not self.budget.force and not self.budget.matched:
                return None
            place = max(len(self) - LEFT_BY_FORCE, 0) if self.budget.force else 0
        place = self.within(max(place, self.earlier))
        place = self.after(place)
        if place == 0:
            return None
        return self.span(place, self.turn(place) if split else place)

    def span(self, place: int, turn: int | None = None) -> Span:
        """The messages before the place but the newest user message; `turn` is split there."""
        newest = last_user(self.context.messages)
        indices = tuple(i for i in self.indices[:place] if i != newest)
        return Span(indices, self.index(place if turn is None else turn))

    def index(self, place: int) -> int:
        """The index in the context of the message at this place."""
        if place == len(self):
            return len(self.context.messages)
        return self.indices[place]
