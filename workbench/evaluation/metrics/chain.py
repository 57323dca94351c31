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
    living_places = integers(())
    said_count = 0
    at_risk_counts = Counter[tuple[int, int]]()
    lost_counts = Counter[tuple[int, int]]()
    for event in replay.events:
        sent = view(replay.session, event.compaction.sent)
        kept_messages = integers(sent.kept)
        held_places = index.places_held(kept_messages, sent.texts)
        earlier_count = said_count
        said_count = int(np.searchsorted(mentions, event.at))
        new_places = in_order_of_mention[earlier_count:said_count]
        places_at_risk = np.concatenate((living_places, new_places))
        rounds[places_at_risk] += 1
        is_held = np.isin(places_at_risk, held_places)
        living_places = places_at_risk[is_held]
        lost_places = places_at_risk[~is_held]
        rounds_at_risk = _rounds_of(rounds, kind, places_at_risk)
        at_risk_counts.update(rounds_at_risk)
        rounds_lost = _rounds_of(rounds, kind, lost_places)
        lost_counts.update(rounds_lost)
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
    rounds_there = rounds[places]
    kinds_there = kind[places]
    return zip(
        rounds_there.tolist(),
        kinds_there.tolist(),
        strict=True,
    )
