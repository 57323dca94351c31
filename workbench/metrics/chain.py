"""How long what was said lives through a chain of compactions: who was at risk in each round, and who was lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.extraction.entities import KINDS, Kind
from workbench.metrics.message_lifetimes import sent_lifetimes
from workbench.metrics.metric import MetricInput
from workbench.ragged import Flags, Ints


@dataclass(frozen=True, slots=True)
class ChainRound:
    """Entities of one kind in one round of their life: how many entered it, and how many it took.

    Attributes:
        round: 1 for the first compaction after an entity was first said, 2 for the second, ...
        at_risk: entities that entered the round alive, whenever they were said.
        lost: those that no longer stood in what was sent after it.
    """

    kind: Kind
    round: int
    at_risk: int
    lost: int


def chain(data: MetricInput) -> Iterator[ChainRound]:
    """The rounds of all entities and statements of a natural replay, background left out.

    An entity that was lost once stays lost, even if somebody says it again. Those that are alive at the last compaction
    are censored there. Fails to see what a paraphrase keeps of an entity: an entity stands there or not.
    """
    events = [event for event in data.replay.events if event.share is None]
    if data.replay.mode != "natural" or not events:
        return
    index, n = data.index, data.index.inverted_index.n
    first, kind = index.everything
    began = np.searchsorted(np.array([event.at for event in events]), first, side="right")
    alive = (first < n) & (began < len(events))
    until = _uncovered(began, alive, *index.holders(sent_lifetimes(data.replay, data.message_lifetimes)))
    lost = alive & (until < len(events))
    ended = np.where(lost, until + 1, np.where(alive, len(events), began))  # behind the last one it entered alive
    rounds = ended - began
    entered = _by_round(rounds, kind, len(events))
    at_risk = np.cumsum(entered[::-1], axis=0)[::-1]
    died = _by_round(rounds[lost], kind[lost], len(events))
    for round, row in enumerate(at_risk[1:].tolist(), 1):
        for which, many in enumerate(row):
            if many:
                yield ChainRound(KINDS[which], round, many, int(died[round, which]))


def _uncovered(began: Ints, wanted: Flags, item: Ints, begin: Ints, end: Ints) -> Ints:
    """For each wanted item the first number from `began` on that none of its ranges holds.

    Args:
        began: for each item where to begin to look.
        wanted: which items are asked for; of the others the answer is `began`.
        item: whose each range is; in any order.
        begin: the first number of each range.
        end: the number behind its last one.
    """
    asked = wanted[item] & (end > began[item])
    item, begin, end = item[asked], begin[asked], end[asked]
    wide = int(end.max(initial=0)) + 1
    order = np.argsort(item * wide + begin, kind="stable")
    item, begin, end = item[order], begin[order], end[order]
    found = began.copy()
    if not len(item):
        return found
    reach = np.maximum.accumulate(item * wide + end)  # one item's numbers lie above those of the item before
    opens = np.diff(item, prepend=-1) != 0
    before = np.where(opens, item * wide + began[item], np.concatenate((reach[:1], reach[:-1])))
    gaps = np.flatnonzero(item * wide + begin > before)
    ends = np.append(np.flatnonzero(opens)[1:], len(item)) - 1
    found[item[ends]] = reach[ends] - item[ends] * wide
    found[item[gaps[::-1]]] = (before - item * wide)[gaps[::-1]]  # backwards: the first gap stays
    return found


def _by_round(rounds: Ints, kinds: Ints, most: int) -> Ints:
    """How many of each kind have each number of rounds, 0..most."""
    shape = (most + 1, len(KINDS))
    counts: Ints = np.bincount(rounds * shape[1] + kinds, minlength=shape[0] * shape[1]).reshape(shape)
    return counts
