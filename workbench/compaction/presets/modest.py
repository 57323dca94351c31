"""A summary that leaves room to go on, also in a small window."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.compaction.plan import Plan
from workbench.compaction.presets.swap import free
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.transcript.context import Context

SHARE = 0.25
"""The part of the room under the target that a summary takes at most.

The systems' own bounds were made for windows in which they are less. In a small one a summary of that length would fill
the context up to the threshold, and the next request would be due again.
"""


def modest(context: Context, budget: Budget, own: int) -> int:
    """Tokens of a summary: the system's own bound, as far as there is room; where a comparison sets the size, all."""
    if budget.reason == "matched":
        return own
    fixed = context.tokens - sum(context.sizes[i] for i in free(context.messages))
    return max(min(own, int(SHARE * (budget.target - fixed))), 0)


@dataclass(frozen=True, slots=True)
class ModestSummary:
    """The shared summary with its bound held to the room."""

    summarize: Summarize

    @property
    def name(self) -> str:
        """What stands in records."""
        return self.summarize.name

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The summary's plan; where there is no such room it may be as long as the target allows."""
        most = modest(context, budget, self.summarize.most)
        stage = self.summarize if most < self.summarize.least else replace(self.summarize, most=most)
        return stage.plan(context, budget)
