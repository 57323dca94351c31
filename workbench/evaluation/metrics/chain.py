"""How long entities live through a chain of compactions: those at risk in each round, and lost."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from workbench.base.ragged import Flags, Ints, kept_mask
from workbench.engine.extraction.entities import KINDS
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.metrics.view import view


def chain(data: MetricInput) -> Iterator[dict[str, str | int | float | None]]:
    """The rounds of a natural replay's entities and statements, without background, by kind.

    `round` is 1 for the first compaction after an entity was first said, 2 for the second, ...;
    `at_risk` counts the entities that entered it alive, `lost` those of them that were not in what
    was sent after it. An entity that was lost once stays lost, even if it is said again. Those that
    are alive at the last compaction are censored there. Fails to see what a paraphrase keeps of an
    entity.
    """
    replay = data.replay
    index = data.index
    if replay.mode != "natural":
        return
    first_message, kind = index.everything
    message_count = index.inverted_index.n
    entity_count = len(first_message)
    rounds = np.zeros(entity_count, dtype=np.int64)
    is_lost = np.zeros(entity_count, dtype=bool)
    at_risk_counts = Counter[tuple[int, int]]()
    lost_counts = Counter[tuple[int, int]]()
    for event in replay.events:
        sent = view(replay.session, event.compaction.sent)
        is_kept = kept_mask(sent.kept, message_count)
        in_context = index.held(is_kept, sent.texts)
        is_past = first_message < event.at
        is_at_risk = is_past & ~is_lost
        rounds[is_at_risk] += 1
        is_newly_lost = is_at_risk & ~in_context
        is_lost |= is_newly_lost
        rounds_at_risk = _rounds_of(rounds, kind, is_at_risk)
        at_risk_counts.update(rounds_at_risk)
        rounds_lost = _rounds_of(rounds, kind, is_newly_lost)
        lost_counts.update(rounds_lost)
    in_order = sorted(at_risk_counts.items())
    for round_and_kind, at_risk in in_order:
        number, kind_number = round_and_kind
        yield {
            "kind": KINDS[kind_number],
            "round": number,
            "at_risk": at_risk,
            "lost": lost_counts[round_and_kind],
        }


def _rounds_of(rounds: Ints, kind: Ints, flags: Flags) -> Iterator[tuple[int, int]]:
    """The round and the kind of each entity with a flag."""
    flagged_rounds = rounds[flags]
    flagged_kinds = kind[flags]
    return zip(
        flagged_rounds.tolist(),
        flagged_kinds.tolist(),
        strict=True,
    )
