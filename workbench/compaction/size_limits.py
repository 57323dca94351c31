"""How long a summary may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.compaction.plan import Budget
from workbench.transcript.context import Context, pinned

SUMMARY_SHARE = 0.25
"""The part of the room that the summaries of restated systems take at most.

Their own bounds were made for large windows; in a small one such a summary would fill the context to the threshold.
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
        most_turn: its bound for the start of a split turn, on top of `most`; None where both share `most`.
        share: the part of the room under the target that a summary takes at most, unless a comparison sets the size.
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

    def allowed(self, context: Context, budget: Budget, gone: Sequence[int], frame: int) -> int:
        """Tokens that the summary's text may have, so that the context never grows; below `least` if too few.

        `gone` are the indices that give way, `frame` the tokens that are sent around the text.
        """
        left = budget.room(context, gone)
        freed = sum(context.sizes[i] for i in gone)
        most = min(self._within_share(context, budget, self.own(freed, budget.window)), freed - frame - 1)
        if self.to_target:
            return min(most, left - frame if left >= 0 else self.least)
        return min(most, max(left - frame, self.least)) if budget.matched else most

    def own(self, freed: int, window: int) -> int:
        """The system's own bound for a summary of so many tokens, in a window of so many."""
        return self.most + (self.most_turn or 0)

    def _within_share(self, context: Context, budget: Budget, own: int) -> int:
        if self.share is None or budget.matched:
            return own
        left = budget.target - context.overhead - sum(context.sizes[i] for i in pinned(context.messages))
        return max(min(own, int(self.share * left)), self.least)

    def parts(self, allowed: int, history: float) -> tuple[int, int]:
        """What the summaries of the whole turns and of a split turn's start may have, by the history's share."""
        first = int(allowed * min(max(history, 0.25), 0.75))
        return self.single(first), min(allowed - first, self.most_turn or allowed)

    def single(self, allowed: int) -> int:
        """What the one summary of everything may have."""
        return min(allowed, self.most)

    def named(self, most: int, context: Context, budget: Budget, gone: Sequence[int]) -> int | None:
        """The bound that a request names: none where the system states none, unless little room is left."""
        if self.stated or budget.matched:
            return most
        usual = max(sum(context.sizes[i] for i in gone) // 10, USUAL)
        return None if most >= 2 * usual else most
