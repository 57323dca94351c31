"""When Opal compacts: before a request that would fill 80 % of the window, by the provider's own last count."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation

THRESHOLD = 0.80


def estimated(situation: Situation) -> int:
    """Tokens of the next prompt: the last reported one and what came after it, else all by estimate."""
    if situation.reported is not None and situation.reported.prompt > 0:
        return situation.reported.prompt + situation.since
    return situation.tokens


@dataclass(frozen=True, slots=True)
class OpalTrigger:
    """Due at exactly 80 % of the window and above; keeps a quarter of the window.

    The target is the size at which it would be due no more. Where the provider counts otherwise than the estimate,
    it is scaled to the estimate, in which contexts are measured.
    """

    threshold: float = THRESHOLD
    name: ClassVar[str] = "opal_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `estimated / window >= threshold`."""
        tokens, window = estimated(situation), situation.window
        if not situation.requested and (window <= 0 or tokens / window < self.threshold):
            return None
        due = self.threshold * window * situation.tokens / max(tokens, 1)
        return Budget(
            target=min(max(ceil(due) - 1, 0), max(situation.tokens - 1, 0)),
            window=window,
            reason="requested" if situation.requested else "threshold",
            keep_recent=window // 4,
        )
