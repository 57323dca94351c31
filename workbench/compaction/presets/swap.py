"""What of a context gives way to a summary, for the presets that restate other systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.compaction.clip import shortened
from workbench.compaction.cut import Cut
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, Text, UserMessage, plain_text
from workbench.transcript.pairing import cut_points, last_user, with_partners
from workbench.transcript.tokens import TokenCounter

LEAST = 24
"""Tokens of a summary under which it is not worth asking for one."""

_KEPT = 0.5
_KEPT_AT_MOST = 0.75


def free(messages: Sequence[Message]) -> list[int]:
    """The indices of what may go: neither pinned nor the partner of a pinned message. The originals know no pins."""
    pinned = [i for i, message in enumerate(messages) if message.pinned]
    held = with_partners(messages, pinned)
    return [i for i in range(len(messages)) if i not in held]


def spare(messages: Sequence[Message]) -> list[int]:
    """The same without the newest user message, which always stays."""
    newest = last_user(messages)
    return [i for i in free(messages) if i != newest]


def whole(messages: Sequence[Message], at: int) -> int | None:
    """The nearest place at or after `at`, else before it, that parts no call from its result; None if there is none.

    Neither end is such a place.
    """
    flags = cut_points(messages)
    after = (i for i in range(max(at, 1), len(messages)) if flags[i])
    before = (i for i in range(min(at, len(messages)) - 1, 0, -1) if flags[i])
    return next(after, next(before, None))


def room(context: Context, budget: Budget, freed: Iterable[int]) -> int:
    """Tokens that the target leaves for a summary and for those of these messages that stay."""
    return max(budget.target - context.tokens + sum(context.sizes[i] for i in freed), 0)


def list_chars(context: Context, budget: Budget) -> int | None:
    """Characters of file lists: about a quarter of the room where a comparison sets the size, else no bound."""
    return room(context, budget, spare(context.messages)) if budget.reason == "matched" else None


def granted(context: Context, budget: Budget, own: int) -> int:
    """The tokens of newest messages to keep: the system's own number, less where a comparison sets the size."""
    if budget.reason != "matched":
        return own
    return min(own, int(_KEPT * room(context, budget, spare(context.messages))))


def within(context: Context, budget: Budget, indices: Sequence[int], at: int) -> int:
    """Where a comparison sets the size: the first place from `at` on, among these messages, whose rest leaves room.

    Args:
        context: n messages.
        budget: with the size in its target.
        indices: of the m messages that may go.
        at: in [0, m].
    """
    if budget.reason != "matched":
        return at
    flags = cut_points([context.messages[i] for i in indices])
    loose = set(spare(context.messages))
    sizes = [context.sizes[i] if i in loose else 0 for i in indices]
    left = sum(sizes[at:])
    most = _KEPT_AT_MOST * room(context, budget, loose)
    while at < len(indices) and (left > most or not flags[at]):
        left -= sizes[at]
        at += 1
    return at


@dataclass(frozen=True, slots=True)
class Matter:
    """What is to be summarised.

    Attributes:
        gone: the indices that give way, ascending.
        earlier: summaries among them: what they say is carried on.
        history: messages of whole turns.
        prefix: the start of a turn that goes on.
    """

    gone: tuple[int, ...]
    earlier: tuple[Summary, ...]
    history: tuple[Message, ...]
    prefix: tuple[Message, ...]

    @property
    def new(self) -> tuple[Message, ...]:
        """All but the earlier summaries."""
        return self.history + self.prefix

    @property
    def split(self) -> bool:
        """Whether history and prefix are both there to be summarised apart."""
        return bool(self.history and self.prefix)

    @property
    def previous(self) -> str:
        """What the earlier summaries say."""
        return "\n\n".join(summary.text for summary in self.earlier)

    @property
    def ids(self) -> tuple[str, ...]:
        """The messages that the summary stands for; those of an earlier one among them."""
        before = [id for summary in self.earlier for id in summary.replaces]
        return tuple(dict.fromkeys([*before, *(message.id for message in self.new)]))


def matter(context: Context, cut: Cut) -> Matter:
    """What the cut gives up: all that may go before it but the newest user message, which stays beside the summary."""
    said = context.messages
    newest = last_user(said)
    gone = tuple(i for i in free(said) if i < cut.keep and i != newest)
    earlier = tuple(message for i in gone if isinstance(message := said[i], Summary))
    new = [i for i in gone if not isinstance(said[i], Summary)]
    return Matter(
        gone,
        earlier,
        tuple(said[i] for i in new if i < cut.history),
        tuple(said[i] for i in new if i >= cut.history),
    )


def bound(context: Context, budget: Budget, gone: Sequence[int], frame: int, least: int = LEAST) -> int:
    """The most tokens that the answers may have without making the context larger, or missing a size that was set.

    Args:
        context: what is compacted.
        budget: the target binds only where a comparison sets it.
        gone: the indices that give way.
        frame: tokens that are sent around the answers.
        least: what they may have even where a size that was set leaves less.
    """
    freed = sum(context.sizes[i] for i in gone)
    most = freed - frame - 1
    return min(most, max(room(context, budget, gone) - frame, least)) if budget.reason == "matched" else most


def stated(most: int, context: Context, budget: Budget, gone: Sequence[int]) -> int | None:
    """The bound that a request names: None, as in the originals, unless the room is so small that it matters."""
    freed = sum(context.sizes[i] for i in gone)
    return None if budget.reason != "matched" and most >= 2 * max(freed // 10, 400) else most


def clipped(text: str, most: int, count: TokenCounter) -> str:
    """The text, or its two ends around a marker, in at most that many tokens; empty where not even a marker fits."""
    whole = UserMessage(id="", blocks=(Text(text),))
    short = shortened(whole, most, count(whole), count)
    return "" if short is None else plain_text(short)
