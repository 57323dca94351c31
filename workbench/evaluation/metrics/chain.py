"""How long what was said lives through a chain of compactions: entities at risk in each round,
and entities lost.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from workbench.base.ragged import kept_mask
from workbench.engine.extraction.entities import KINDS
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.metrics.view import view


def chain(data: MetricInput) -> Iterator[dict[str, str | int | float | None]]:
    """The rounds of all entities and statements of a natural replay, background left out, as rows
    by kind.

    `round` is 1 for the first compaction after an entity was first said, 2 for the second, ...;
    `at_risk` counts the entities that entered it alive, `lost` those of them that were not in what
    was sent after it. An entity that was lost once stays lost, even if it is said again. Those that
    are alive at the last compaction are censored there. Fails to see what a paraphrase keeps of an
    entity.
    """
    replay, index = data.replay, data.index
    if replay.mode != "natural":
        return
    first, kind = index.everything
    rounds, lost = np.zeros(len(first), dtype=np.int64), np.zeros(len(first), dtype=bool)
    entered, died = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for event in replay.events:
        seen = view(replay.session, event.compaction.sent)
        at_risk = (first < event.at) & ~lost
        rounds[at_risk] += 1
        gone = at_risk & ~index.held(kept_mask(seen.kept, index.inverted_index.n), seen.texts)
        lost |= gone
        entered.update(zip(rounds[at_risk].tolist(), kind[at_risk].tolist(), strict=True))
        died.update(zip(rounds[gone].tolist(), kind[gone].tolist(), strict=True))
    for (number, which), many in sorted(entered.items()):
        yield {"kind": KINDS[which], "round": number, "at_risk": many, "lost": died[number, which]}
