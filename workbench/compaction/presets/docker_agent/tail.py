"""Which newest messages stay: one rule for summaries of the model and for those that a hook supplies."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.transcript.message import AssistantMessage, Message, Summary, UserMessage


def split_index_for_keep(messages: Sequence[Message], sizes: Sequence[int], budget: int) -> int:
    """Where the kept tail begins: at a user's or the model's message, with at most `budget` tokens behind it.

    Args:
        messages: n, without system messages.
        sizes: n, in tokens.
        budget: tokens; a tail of exactly that much stays.

    Returns:
        In [1, n], and 0 for n = 0. Where everything fits it is n: everything is compacted, nothing is kept.
    """
    last, total = len(messages), 0
    for i in range(len(messages) - 1, -1, -1):
        total += sizes[i]
        if total > budget:
            return last
        if begins(messages[i]):
            last = i
    return len(messages)


def first_index_in_budget(messages: Sequence[Message], sizes: Sequence[int], budget: int) -> int:
    """Where the longest end of the list begins that takes at most `budget` tokens; n where not even the last fits.

    Args:
        messages: n.
        sizes: n, in tokens.
        budget: tokens.
    """
    first, total = len(messages), 0
    for i in range(len(messages) - 1, -1, -1):
        total += sizes[i]
        if total > budget:
            break
        if begins(messages[i]):
            first = i
    return first


def begins(message: Message) -> bool:
    """Whether a kept part may begin here, so that no result stands without its call."""
    return isinstance(message, UserMessage | AssistantMessage | Summary)
