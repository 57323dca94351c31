"""Which messages of a context give way to a summary: the rules' interface, the helpers that they
share, the result.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TypeAlias

from workbench.engine.compaction.plan import Budget
from workbench.engine.transcript.context import Context, cut_points, last_user, pinned, protected
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Message, Summary, is_real_user, said_texts

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
        gone: their indices, ascending.
        history: those before this index belong to whole turns, the others to the start of a turn
            that goes on.
        rewritten: messages that stay in another form, by index.
    """

    gone: tuple[int, ...]
    history: int
    rewritten: Mapping[int, Message] = field(default_factory=dict)

    def without(self, stays: Collection[int]) -> Span:
        """The same, but these stay."""
        return replace(self, gone=tuple(i for i in self.gone if i not in stays))


CutRule: TypeAlias = Callable[[Context, Budget], Span | None]
"""Selects what a summary replaces; None where there is nothing. Pure; it never selects a
protected message.
"""


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """What is summarised.

    Attributes:
        earlier: summaries whose text is carried on.
        history: messages of whole turns.
        prefix: the start of a turn that goes on.
        files: what the whole conversation did to files so far.
    """

    earlier: tuple[Summary, ...]
    history: tuple[Message, ...]
    prefix: tuple[Message, ...] = ()
    files: FileOps = FileOps()

    @classmethod
    def of(cls, context: Context, span: Span) -> SummaryInput:
        """The messages of a span."""
        messages = context.messages
        new = [i for i in span.gone if messages[i].role != "summary"]
        return cls(
            tuple(message for i in span.gone if isinstance(message := messages[i], Summary)),
            tuple(messages[i] for i in new if i < span.history),
            tuple(messages[i] for i in new if i >= span.history),
        )

    @property
    def new(self) -> tuple[Message, ...]:
        """All but the earlier summaries."""
        return self.history + self.prefix

    @property
    def split(self) -> bool:
        """Whether there are whole turns as well as the start of another one."""
        return bool(self.history and self.prefix)

    @property
    def previous(self) -> str:
        """The text of the earlier summaries."""
        return "\n\n".join(summary.text for summary in self.earlier)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the messages that the summary replaces, those of an earlier summary
        included.
        """
        before = [id for summary in self.earlier for id in summary.replaces]
        new = (
            one.replaces if one.role == "summary" and one.replaces else (one.id,)
            for one in self.new
        )
        return tuple(dict.fromkeys([*before, *(id for ids in new for id in ids)]))

    @property
    def has_text(self) -> bool:
        """Whether any new message says anything."""
        return any(text.strip() for message in self.new for text in said_texts(message))


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """One summary to write: `given` gives way, the model reads `shown` of it, `lists` names the
    files as text.
    """

    context: Context
    budget: Budget
    span: Span
    given: SummaryInput
    shown: SummaryInput
    lists: str = ""


def spare(context: Context) -> list[int]:
    """The indices of the messages that may go: neither pinned, nor a pinned one's partner, nor
    the newest prompt.
    """
    held = protected(context.messages)
    return [i for i in range(len(context.messages)) if i not in held]


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
        held = pinned(context.messages)
        indices = tuple(i for i in range(len(context.messages)) if i not in held)
        messages = tuple(context.messages[i] for i in indices)
        summaries = [i for i, message in enumerate(messages) if message.role == "summary"]
        sizes = tuple(context.sizes[i] for i in indices)
        earlier = summaries[-1] + 1 if summaries else 0
        place = {i: at for at, i in enumerate(indices)}
        caller_of = {place[i]: place[caller] for i, caller in context.callers.items() if i in place}
        return cls(
            context, budget, indices, messages, sizes, cut_points(messages, caller_of), earlier
        )

    @classmethod
    def weighed(cls, context: Context, budget: Budget, fixed: Collection[int]) -> Movable:
        """All messages of a context, of which the fixed ones weigh nothing, for a rule that
        knows pins.
        """
        sizes = tuple(0 if i in fixed else size for i, size in enumerate(context.sizes))
        return cls(
            context,
            budget,
            tuple(range(len(sizes))),
            context.messages,
            sizes,
            context.cut_points,
            earlier=0,
        )

    def __len__(self) -> int:
        return len(self.messages)

    def kept(self, own: int) -> int:
        """Tokens of newest messages to keep: as requested, else the system's number, at most
        half of the room.
        """
        if self.budget.keep_recent is not None and not self.budget.matched:
            return self.budget.keep_recent
        return min(own, self._share(KEPT_SHARE, self.indices))

    def requested(self, own: int) -> int:
        """The place that leaves the tokens which were requested to be kept; the system's own
        where none were.
        """
        asked = self.budget.keep_recent
        return own if asked is None or self.budget.matched else self.fitting(asked)

    def granted(self, own: int) -> int:
        """Tokens of newest messages to keep: the system's number, at most half of the room in a
        comparison.
        """
        if not self.budget.matched:
            return own
        return min(own, self._share(KEPT_SHARE, spare(self.context)))

    def _share(self, share: float, gone: Sequence[int]) -> int:
        """Tokens of a share of the room under the target once these messages are gone."""
        return int(share * max(self.budget.room(self.context, gone), 0))

    def fitting(self, tokens: int) -> int:
        """The first place whose rest takes at most so many tokens."""
        rests = list(accumulate(reversed(self.sizes)))
        return len(self) - (bisect_left(rests, tokens + 1) if tokens >= 0 else 0)

    def reaching(self, tokens: int) -> int | None:
        """The last place whose rest takes at least so many tokens; None if all together take
        less.
        """
        rests = list(accumulate(reversed(self.sizes)))
        at = bisect_left(rests, tokens)
        return len(self) - 1 - at if at < len(rests) else None

    def after(self, at: int) -> int:
        """The nearest place at or after `at` that parts no pair; m where there is none earlier."""
        return next(i for i in range(max(at, 0), len(self) + 1) if self.flags[i])

    def before(self, at: int) -> int:
        """The nearest place at or before `at` that parts no pair."""
        return next(i for i in range(min(at, len(self)), -1, -1) if self.flags[i])

    def inner(self, at: int) -> int | None:
        """The nearest place at or after `at`, else before it, that parts no pair, both ends
        excluded; None if none.
        """
        after = (i for i in range(max(at, 1), len(self)) if self.flags[i])
        before = (i for i in range(min(at, len(self)) - 1, 0, -1) if self.flags[i])
        return next(after, next(before, None))

    def turn(self, at: int) -> int:
        """Where the turn begins that holds the message at this place; the place itself where a
        turn begins there.
        """
        if at < len(self) and not is_real_user(self.messages[at]):
            return next(
                (i for i in range(at - 1, self.earlier - 1, -1) if is_real_user(self.messages[i])),
                at,
            )
        return at

    def within(self, at: int) -> int:
        """In a comparison, the first place from `at` on whose rest leaves room for a summary;
        else `at`.
        """
        if not self.budget.matched:
            return at
        newest = last_user(self.context.messages)
        sizes = [
            0 if i == newest else size for i, size in zip(self.indices, self.sizes, strict=True)
        ]
        left, most = sum(sizes[at:]), self._share(KEPT_AT_MOST, spare(self.context))
        while at < len(self) and (left > most or not self.flags[at]):
            left -= sizes[at]
            at += 1
        return at

    def cut(self, at: int | None, *, split: bool = False) -> Span | None:
        """The span before this place, behind any earlier summary; None where nothing would be cut
        off.

        Args:
            at: in [0, m]; None where the system sees nothing to cut off: final, unless the
                compaction is forced or a comparison sets the size.
            split: whether the start of a turn that goes on is summarised apart.
        """
        if at is None or at <= 0:
            if not self.budget.force and not self.budget.matched:
                return None
            at = max(len(self) - LEFT_BY_FORCE, 0) if self.budget.force else 0
        at = self.after(self.within(max(at, self.earlier)))
        return None if at == 0 else self.span(at, self.turn(at) if split else at)

    def span(self, at: int, turn: int | None = None) -> Span:
        """The messages before the place but the newest user message; `turn` is where the turn
        begins that it parts.
        """
        newest = last_user(self.context.messages)
        gone = tuple(i for i in self.indices[:at] if i != newest)
        return Span(gone, self.index(at if turn is None else turn))

    def index(self, at: int) -> int:
        """The index in the context of the message at this place; behind the last one the number
        of messages.
        """
        return self.indices[at] if at < len(self) else len(self.context.messages)
