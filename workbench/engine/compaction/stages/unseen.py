"""What the model has just asked for stays: the results behind its last answer."""

from dataclasses import dataclass
from typing import ClassVar

from workbench.engine.compaction.clip import shortened_together
from workbench.engine.compaction.cut import MOST_OF_ROOM, Pins, room_beside
from workbench.engine.compaction.plan import Budget, Plan, Replace
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.context_lookup import tokens_of
from workbench.engine.transcript.results import unseen_results


@dataclass(frozen=True, slots=True)
class ShortenUnseen:
    """Cuts the results that the model has not seen yet, where they are too large to stay beside a
    summary.

    Each keeps its two ends around a marker, in a fair share of the room. Where a comparison sets the
    size nothing is cut: the newest results could fill it, and the summaries are what is compared.

    Attributes:
        least_tokens: tokens below which no result is cut: a shorter rest says too little.
        pins: what stays besides.
    """

    least_tokens: int = 32
    pins: Pins = Pins()
    name: ClassVar[str] = "shorten_unseen"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The shorter results; None where they and their calls leave a summary its room."""
        results = set(unseen_results(context.messages))
        if budget.matched or not results:
            return None
        callers = {context.callers[i] for i in results if i in context.callers}
        fixed_indices = self.pins.fixed(context, budget)
        room = room_beside(context, budget, fixed_indices)
        result_room = int(MOST_OF_ROOM * room) - tokens_of(context, callers - fixed_indices)
        new_results = sorted(results - fixed_indices)
        if tokens_of(context, new_results) <= result_room:
            return None
        short_results = shortened_together(context, new_results, result_room, self.least_tokens)
        edits: list[Replace] = []
        for i, short in sorted(short_results.items()):
            if short is not context.messages[i]:
                edits.append(Replace.message_at(i, short))
        return Plan(tuple(edits)) if edits else None
