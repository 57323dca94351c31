"""How long entities live through a chain of compactions: those at risk in each round, and lost."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from workbench.base.ragged import Ints, integers
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
    in_order_of_mention = np.argsort(first_message, kind="stable")
    mentions = first_message[in_order_of_mention]
    rounds = np.zeros(len(kind), dtype=np.int64)
    alive = integers(())
    said_count = 0
    at_risk_counts = Counter[tuple[int, int]]()
    lost_counts = Counter[tuple[int, int]]()
    for event in replay.events:
        sent = view(replay.session, event.compaction.sent)
        held = index.places_held(integers(sent.kept), sent.texts)
        earlier_count = said_count
        said_count = int(np.searchsorted(mentions, event.at))
        new = in_order_of_mention[earlier_count:said_count]
        at_risk = np.concatenate((alive, new))
        rounds[at_risk] += 1
        is_held = np.isin(at_risk, held)
        alive = at_risk[is_held]
        at_risk_counts.update(_rounds_of(rounds, kind, at_risk))
        lost_counts.update(_rounds_of(rounds, kind, at_risk[~is_held]))
    for round_and_kind, at_risk_count in sorted(at_risk_counts.items()):
        number, kind_number = round_and_kind
        yield {
            "kind": KINDS[kind_number],
            "round": number,
            "at_risk": at_risk_count,
            "lost": lost_counts[round_and_kind],
        }


def _rounds_of(rounds: Ints, kind: Ints, places: Ints) -> Iterator[tuple[int, int]]:
    """The round and the kind of the entities at some places."""
    return zip(
        rounds[places].tolist(),
        kind[places].tolist(),
        strict=True,
    )
