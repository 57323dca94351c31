"""Where Opal cuts: back from the newest message, then forward to a user message, or inside a long turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.compaction.cut import Cut
from workbench.compaction.presets.swap import free, granted, whole, within
from workbench.compaction.presets.token_counters import byte_length
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, is_real_user, plain_text

BYTES_PER_TOKEN = 4
PER_MESSAGE = 20
KEEP_BY_HAND = 20_000
SPLIT_FROM = 5
LEFT_BY_FORCE = 2


def keep_recent(budget: Budget) -> int:
    """Tokens to keep: what was asked for, else a quarter of the window, a fifth after an overflow, 20,000 by hand."""
    if budget.keep_recent is not None:
        return budget.keep_recent
    if budget.reason == "overflow":
        return budget.window // 5
    return KEEP_BY_HAND if budget.reason in ("manual", "requested") else budget.window // 4


def cut_size(message: Message) -> int:
    """What a message counts while a cut is sought: the bytes of its words and 20. Calls are not looked at."""
    return byte_length(plain_text(message)) + PER_MESSAGE


def walked(messages: Sequence[Message], keep: int, *, force: bool = False) -> int | None:
    """The first message to keep, before pairs are looked at; None where nothing is to be cut off.

    Args:
        messages: n, oldest first.
        keep: tokens, >= 0.
        force: cut before the last two messages where there would be no cut.
    """
    total, start = 0, None
    for i in range(len(messages) - 1, -1, -1):
        total += cut_size(messages[i])
        if total >= keep * BYTES_PER_TOKEN:
            start = i
            break
    if start is not None:
        at = next((i for i in range(start, len(messages)) if is_real_user(messages[i])), start)
        if at >= 1:
            return at
    return max(len(messages) - LEFT_BY_FORCE, 1) if force and len(messages) > LEFT_BY_FORCE else None


def split_from(messages: Sequence[Message], at: int) -> int | None:
    """Where the turn that a cut at `at` parts begins; None if it parts none, or one of fewer than five messages."""
    if at >= len(messages) or is_real_user(messages[at]):
        return None
    turn = next((i for i in range(at - 1, -1, -1) if is_real_user(messages[i])), None)
    return turn if turn is not None and at - turn >= SPLIT_FROM else None


@dataclass(frozen=True, slots=True)
class OpalCut:
    """Opal's cut, moved to where it parts no call from its result."""

    def find(self, context: Context, budget: Budget, /) -> Cut | None:
        """The cut, behind any earlier summary; None where everything fits and nobody forces it."""
        indices = free(context.messages)
        said = [context.messages[i] for i in indices]
        matched = budget.reason == "matched"
        at = walked(said, granted(context, budget, keep_recent(budget)), force=budget.force)
        if at is None and not matched:
            return None
        earlier = next((i + 1 for i in range(len(said) - 1, -1, -1) if isinstance(said[i], Summary)), 0)
        at = within(context, budget, indices, max(at or 0, earlier))
        if at < len(said) or not matched:
            paired = whole(said, at)
            if paired is None or paired < earlier:
                return None
            at = paired
        turn = split_from(said, at)
        keep = indices[at] if at < len(indices) else len(context.messages)
        return Cut(keep if turn is None else indices[turn], keep)
