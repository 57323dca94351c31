"""To which size a history is compacted, so that what must stay leaves room for what a strategy
keeps.
"""

from __future__ import annotations

from workbench.engine.transcript.context import Context, protected

ROOM = 0.5
"""The part of a share that is left for what may be taken away, however much must stay."""


def budget(history: Context, share: float) -> int:
    """Tokens of the whole context, overhead included, for a share in (0, 1) of the history's tokens
    without overhead.

    Never less than what must stay and half of that share of the rest: a budget that what must stay
    uses up would not measure what a strategy keeps.
    """
    tokens = history.overhead + int(share * history.spoken)
    return with_room(tokens, history, share)


def with_room(tokens: int, context: Context, share: float) -> int:
    """So many tokens, and never less than what must stay and half of a share of the rest."""
    stays = least(context)
    loose = context.tokens - stays
    return max(tokens, stays + int(ROOM * share * loose))


def least(history: Context) -> int:
    """Tokens of what must stay: overhead, protected messages, the newest user message."""
    protected_tokens = sum(history.sizes[index] for index in protected(history.messages))
    return history.overhead + protected_tokens
