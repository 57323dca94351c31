"""Compactions in a row: each works on the summary before it and on what came since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from workbench.engine.compaction.engine import Compaction, compact
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Strategy
from workbench.engine.models.model import Model
from workbench.engine.transcript.context import Context
from workbench.evaluation.replays.budgets import with_room


def chain_stops(history: Context, requests: Iterable[int], length: int) -> tuple[int, ...]:
    """Where the compactions of a chain come, so that they part a history into stretches of about
    equal tokens.

    Args:
        history: which ends at a boundary.
        requests: indices of recorded requests; each compaction but the final one comes before one
            of them.
        length: compactions in the chain.

    Returns:
        The end of each stretch, the final one the boundary; none where the history has too few
        requests.
    """
    boundary = len(history.messages)
    cuts = [index for index in requests if 0 < index < boundary and history.cut_points[index]]
    if len(cuts) < length - 1:
        return ()
    tokens_until = [0, *accumulate(history.sizes)]
    stops: list[int] = []
    earliest = 0
    for number in range(1, length):
        goal = history.spoken * number / length
        to_come = length - 1 - number
        stop_place = len(cuts) - to_come
        distances = [abs(tokens_until[cut] - goal) for cut in cuts[earliest:stop_place]]
        nearest = earliest + distances.index(min(distances))
        stops.append(cuts[nearest])
        earliest = nearest + 1
    return (*stops, boundary)


def compacted_in_chain(
    history: Context,
    stops: Sequence[int],
    strategy: Strategy,
    budget: Budget,
    share: float,
    model: Model,
) -> tuple[Compaction, ...]:
    """Compact at each stop what the compaction before left, and what was said since.

    A chain ends early behind an answer that is awaited: what comes then depends on it.

    Args:
        history: which ends at the final stop.
        stops: of `chain_stops`.
        strategy: the stages.
        budget: of each compaction; its target grows where what must stay leaves too little room.
        share: of the history, that `budget` was made for.
        model: writes the summaries.

    Raises:
        ModelError: the model failed and the strategy has nothing to use otherwise.
    """
    compactions: list[Compaction] = []
    memory = Context((), (), history.overhead, history.count)
    start = 0
    for stop in stops:
        context = grown(memory, history, start, stop)
        target = with_room(budget.target, context, share)
        compaction = compact(context, strategy, replace(budget, target=target), model)
        compactions.append(compaction)
        if any(completion.awaited for completion in compaction.completions):
            break
        memory = compaction.after
        start = stop
    return tuple(compactions)


def grown(memory: Context, history: Context, start: int, stop: int) -> Context:
    """A context that goes on with `messages[start:stop]` of a history."""
    return Context(
        memory.messages + history.messages[start:stop],
        memory.sizes + history.sizes[start:stop],
        memory.overhead,
        memory.count,
        memory.archive,
    )
