"""How long a summary may be."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.engine.compaction.plan import Budget
from workbench.engine.transcript.context import Context, pinned
from workbench.engine.transcript.context_lookup import tokens_of

SUMMARY_SHARE = 0.25
"""The part of the room that the summaries of restated systems take at most.

Their own bounds were made for large windows; in a small one such a summary would fill the context
to the threshold.
"""
LEAST = 24
"""Tokens below which a restated system is not asked for a summary."""
USUAL = 400
"""Tokens of a summary of little; one of much takes a tenth."""
UNBOUNDED = 10**9
"""Tokens that no summary takes: the bound of a system that has none."""


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """The bounds of a summary, in tokens.

    Attributes:
        least: with less than this left no model is asked.
        most: the system's own bound.
        most_turn: its bound for the start of a split turn, on top of `most`; None where both share
            `most`.
        share: the part of the room under the target that a summary takes at most, unless a
            comparison sets the size.
        to_target: whether the target binds even where no comparison sets the size.
        stated: whether a request names its bound even where much room is left.
        split_from: from so many tokens on, a split turn is asked about separately.
    """

    least: int = 48
    most: int = 16_000
    most_turn: int | None = None
    share: float | None = None
    to_target: bool = True
    stated: bool = True
    split_from: int = 192

    def allowed(
        self,
        context: Context,
        budget: Budget,
        removed_indices: Sequence[int],
        frame: int,
    ) -> int:
        """Tokens of the summary's text, so that the context never grows.

        `removed_indices` give way, `frame` the tokens that are sent around the text.
        """
        target_room = budget.room(context, removed_indices)
        freed = tokens_of(context, removed_indices)
        own_limit = self.own(freed, budget.window)
        own_limit = self._within_share(context, budget, own_limit)
        max_tokens = min(own_limit, freed - frame - 1)
        if self.to_target:
            return min(max_tokens, target_room - frame if target_room >= 0 else self.least)
        if budget.matched:
            return min(max_tokens, max(target_room - frame, self.least))
        return max_tokens

    def own(self, freed: int, window: int) -> int:
        """The system's own bound for a summary of so many tokens, in a window of so many."""
        return self.most + (self.most_turn or 0)

    def _within_share(
        self,
        context: Context,
        budget: Budget,
        own_limit: int,
    ) -> int:
        """The limit, or the share of the room where that is less."""
        if self.share is None or budget.matched:
            return own_limit
        pinned_tokens = tokens_of(context, pinned(context.messages))
        room = budget.target - context.overhead - pinned_tokens
        share_limit = int(self.share * room)
        return max(min(own_limit, share_limit), self.least)

    def parts(self, allowed: int, history: float) -> tuple[int, int]:
        """Tokens for the whole turns and for a split turn's start, by the history's share."""
        history_tokens = int(allowed * min(max(history, 0.25), 0.75))
        turn_tokens = min(allowed - history_tokens, self.most_turn or allowed)
        return self.single(history_tokens), turn_tokens

    def single(self, allowed: int) -> int:
        """What the one summary of everything may have."""
        return min(allowed, self.most)

    def named(
        self,
        max_tokens: int,
        context: Context,
        budget: Budget,
        removed_indices: Sequence[int],
    ) -> int | None:
        """The bound that a request names; None where the system states none and room is left."""
        if self.stated or budget.matched:
            return max_tokens
        usual = max(tokens_of(context, removed_indices) // 10, USUAL)
        return None if max_tokens >= 2 * usual else max_tokens
