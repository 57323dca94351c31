"""Future-reference recall: of what the recorded future needed from the history, how much a context
still holds.

The *demand* at a boundary: each lexical entity of the history that a later recorded assistant text
or argument value uses within the horizon, unless somebody said it again after the boundary and
before that use, or it is background. Thoughts count for nothing, neither in the history nor after
it, since no later request need be sent them.

The *evidence* of a demanded entity: the span of the history that holds it and shares the most words
(weighted by idf) with the span of its use; ties go to the latest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints, integers, kept_mask
from workbench.engine.extraction.entities import KINDS, Entity
from workbench.evaluation.metrics.evidence import Evidence
from workbench.evaluation.metrics.indexes.arrays import flags
from workbench.evaluation.metrics.indexes.inverted_index import pairs_of
from workbench.evaluation.metrics.indexes.text_index import TextIndex
from workbench.evaluation.metrics.need import Need
from workbench.evaluation.metrics.regaining import Holders, Regaining
from workbench.evaluation.metrics.sources import WAYS

Level: TypeAlias = Literal["presence", "bound", "coverage"]

HORIZON = 80
"""Messages after a boundary in which a use counts."""


class _SlotsInTexts(NamedTuple):
    """Each slot with each span of some texts that holds its entity.

    Attributes:
        slot: (rows,) the demanded entity.
        text: (rows,) the place of the span's text among the texts.
        bound, coverage: (rows,) as in `Retention`, in that span.
    """

    slot: Ints
    text: Ints
    bound: Flags
    coverage: Floats


@dataclass(frozen=True, eq=False)
class Retention:
    """How much of a demand one context holds, entity by entity in the demand's order.

    Attributes:
        presence: whether the context holds the entity at all.
        bound: whether one of its spans holds it together with at least two of its evidence's other
            content words.
        coverage: the largest share, weighted by idf, of the evidence's other words in one span that
            holds the entity; in [0, 1], and 1 where there are no other words.
    """

    demand: Demand
    presence: Flags
    bound: Flags
    coverage: Floats

    def level(self, level: Level) -> Floats:
        """One value in [0, 1] for each demanded entity."""
        values: Floats = np.asarray(getattr(self, level), dtype=np.float64)
        return values

    def mean(self, level: Level = "bound") -> float:
        """The mean over the demanded entities: a share in [0, 1], higher is better.

        Raises:
            ValueError: nothing is demanded, so that there is nothing to average.
        """
        if not len(self.demand):
            raise ValueError("nothing is demanded; ask for the demand's length first")
        return float(self.level(level).mean())

    def groups(self) -> Iterator[dict[str, str | float]]:
        """The sums by kind and by whether they can be fetched again, in order."""
        demand = self.demand
        kinds = set(demand.kinds.tolist())
        kinds_in_order = sorted(kinds, key=KINDS.__getitem__)
        for kind in kinds_in_order:
            is_of_kind = demand.kinds == kind
            is_irrecoverable = is_of_kind & ~demand.reacquirable
            if is_irrecoverable.any():
                yield self._group(kind, "irrecoverable", is_irrecoverable)
            is_recoverable = is_of_kind & demand.reacquirable
            if is_recoverable.any():
                yield self._group(kind, "reacquirable", is_recoverable)

    def _group(self, kind: int, recoverable: str, is_of_group: Flags) -> dict[str, str | float]:
        """The sums over some of the demanded entities."""
        group: dict[str, str | float] = {
            "kind": KINDS[kind],
            "recoverable": recoverable,
            "demanded": int(is_of_group.sum()),
        }
        for level in get_args(Level):
            values = self.level(level)
            group[level] = float(values[is_of_group].sum())
        return group

    def lost(self) -> list[Need]:
        """The needed entities that are not bound, in order of use."""
        is_lost = ~self.bound
        lost_needs = compress(self.demand.needs, is_lost)
        return list(lost_needs)

    def sources_to_fetch(self) -> tuple[int, ...]:
        """The results and files that would have to be fetched again, as message indices, each once.

        Taken for each re-acquirable entity that the context does not hold at all, those with fewest
        sources first: a result that is fetched anyway if there is one, else the latest that holds
        it. Fails to see that a file may have changed since, or that a narrower call would do.
        """
        is_lost = self.demand.reacquirable & ~self.presence
        lost_slots = np.flatnonzero(is_lost)
        repeatable_sources = self.demand.repeatable_sources
        sources_by_entity: list[tuple[int, ...]] = []
        for slot in lost_slots.tolist():
            if slot in repeatable_sources:
                sources_of_slot = repeatable_sources[slot]
                sources_by_entity.append(sources_of_slot)
        sources_by_entity.sort(key=len)
        to_fetch: set[int] = set()
        for sources in sources_by_entity:
            if to_fetch.isdisjoint(sources):
                latest_source = sources[-1]
                to_fetch.add(latest_source)
        return tuple(sorted(to_fetch))


class Demand:
    """What the recorded future needed at one boundary. Built once; any number of contexts is held
    against it.

    A demanded entity is a *slot*, in order of use. A *pair* is a slot with a span of the history
    that holds its entity.

    Attributes:
        at: the boundary: the history is `messages[:at]`.
        entities: (slots,) the number of each one's entity in the session's inverted index.
        kinds: (slots,) the place of each one's kind in `KINDS`.
        reacquirable: (slots,) whether a call that only looks would fetch it again.
    """

    def __init__(
        self,
        texts: TextIndex,
        boundary: int,
        countable: Flags,
        *,
        said_again: bool = False,
    ) -> None:
        """Find what was needed; `countable` says of each entity whether a use of it counts."""
        index = texts.inverted_index
        self._texts = texts
        self._index = index
        self.at = boundary
        self.entities, self._use_place = self._uses(countable, said_again)
        self.kinds: Ints = index.kind[self.entities]
        entity_count = len(index.names)
        self._slot_of: Ints = np.full(entity_count, -1)
        self._slot_of[self.entities] = np.arange(len(self))
        self._evidence = Evidence(
            index,
            boundary,
            self.entities,
            self._use_place,
        )
        self._hold()
        self._regaining = self._ways_back()
        self.reacquirable: Flags = self._regaining.way == WAYS.index("call")

    def __len__(self) -> int:
        return len(self.entities)

    def _uses(self, countable: Flags, said_again: bool) -> tuple[Ints, Ints]:
        """The demanded entities in order of use, with their places: first said after the boundary,
        by an assistant.

        With `said_again` it does not matter who said them between the boundary and that place.
        """
        index = self._index
        horizon = min(index.n, self.at + HORIZON)
        start = index.message_start[self.at]
        stop = index.message_start[horizon]
        places = np.arange(start, stop)
        is_thought = index.thought[places]
        places = places[~is_thought]
        is_answer = flags(message.role == "assistant" for message in index.messages)
        if said_again:
            messages = index.place_message[places]
            places = places[is_answer[messages]]
        spans = index.place_span[places]
        row, entities = pairs_of(index.span_entities, spans)
        first_seen = index.first_seen[entities]
        is_in_history = first_seen < self.at
        is_demanded = countable[entities] & is_in_history
        demanded_rows = row[is_demanded]
        use_places = places[demanded_rows]
        demanded = entities[is_demanded]
        entities, first_use = np.unique(demanded, return_index=True)
        use_places = use_places[first_use]
        use_messages = index.place_message[use_places]
        is_by_assistant = is_answer[use_messages]
        entities = entities[is_by_assistant]
        use_places = use_places[is_by_assistant]
        order = np.argsort(use_places, kind="stable")
        return entities[order], use_places[order]

    def _hold(self) -> None:
        """Find the messages of the history that hold each pair."""
        index = self._index
        evidence = self._evidence
        pair_words = index.span_words[evidence.pair_span]
        bound, coverage = evidence.grade(evidence.pair_slot, pair_words)
        pair, message = pairs_of(index.span_messages, evidence.pair_span)
        is_past = message < self.at
        pair = pair[is_past]
        self._held_message = message[is_past]
        self._held_span = evidence.pair_span[pair]
        self._held_slot = evidence.pair_slot[pair]
        self._held_bound = bound[pair]
        self._held_coverage = coverage[pair]

    def _ways_back(self) -> Regaining:
        """How each one could be had again."""
        holders = Holders(
            slot=self._held_slot,
            span=self._held_span,
            message=self._held_message,
            bound=self._held_bound,
        )
        return Regaining(self._index, self._evidence, holders)

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """The demanded entities with their evidence and their use, in order of use."""
        slots = range(len(self))
        return tuple(map(self._need, slots))

    @cached_property
    def _slots(self) -> Mapping[Entity, int]:
        """The slots by what is needed."""
        slots: dict[Entity, int] = {}
        for slot, need in enumerate(self.needs):
            slots[need.entity] = slot
        return slots

    def _need(self, slot: int) -> Need:
        index = self._index
        entity = int(self.entities[slot])
        first_message = int(index.first_seen[entity])
        evidence_place = int(self._evidence.place[slot])
        evidence_span = int(self._evidence.span[slot])
        use_place = int(self._use_place[slot])
        use_span = int(index.place_span[use_place])
        way_back = int(self._regaining.way[slot])
        return Need(
            entity=index.names[entity],
            said=first_message,
            said_by=index.messages[first_message].role,
            evidence=int(index.place_message[evidence_place]),
            evidence_text=index.texts[evidence_span],
            use=int(index.place_message[use_place]),
            use_text=index.texts[use_span],
            reacquirable=bool(self.reacquirable[slot]),
            way_back=WAYS[way_back],
            sources=self.repeatable_sources.get(slot, ()),
        )

    @cached_property
    def repeatable_sources(self) -> Mapping[int, tuple[int, ...]]:
        """By slot, the messages that show its entity and whose calls or files would show it again,
        in order.
        """
        at_hand = self._regaining.at_hand
        slots = self._held_slot[at_hand]
        messages = self._held_message[at_hand]
        pairs = zip(slots.tolist(), messages.tolist(), strict=True)
        sources: dict[int, set[int]] = defaultdict(set)
        for slot, message in pairs:
            sources[slot].add(message)
        ordered: dict[int, tuple[int, ...]] = {}
        for slot, of_slot in sources.items():
            in_order = sorted(of_slot)
            ordered[slot] = tuple(in_order)
        return ordered

    def _look_up(self, texts: Iterable[str]) -> _SlotsInTexts:
        """Each slot with each span of some texts that holds its entity."""
        indexed_texts = self._texts.read(texts)
        slots = self._slot_of[indexed_texts.entities]
        is_demanded = slots >= 0
        slots = slots[is_demanded]
        rows = indexed_texts.entity_row[is_demanded]
        spans = indexed_texts.spans[rows]
        span_words = self._texts.words(spans)
        bound, coverage = self._evidence.grade(slots, span_words)
        return _SlotsInTexts(
            slot=slots,
            text=indexed_texts.text[rows],
            bound=bound,
            coverage=coverage,
        )

    def last_bound(self, of_message: Ints, of_text: Mapping[str, int]) -> Ints:
        """(slots,) the largest number of all messages and texts that bind each one; -1 where
        nothing does.

        `of_message` is (n,), with -1 for a message that does not count.
        """
        largest: Ints = np.full(len(self), -1)
        slots = self._held_slot[self._held_bound]
        messages = self._held_message[self._held_bound]
        np.maximum.at(largest, slots, of_message[messages])
        in_texts = self._look_up(of_text)
        slots = in_texts.slot[in_texts.bound]
        texts = in_texts.text[in_texts.bound]
        number_of_text = integers(of_text.values())
        numbers = number_of_text[texts]
        np.maximum.at(largest, slots, numbers)
        return largest

    def retained(self, kept: Collection[int] | Flags, texts: Iterable[str] = ()) -> Retention:
        """What a context of these messages (indices, or a flag each) and these new texts retains
        of this demand.
        """
        slot_count = len(self)
        message_is_kept = kept_mask(kept, self._index.n)
        is_held = message_is_kept[self._held_message]
        held_slots = self._held_slot[is_held]
        is_bound = is_held & self._held_bound
        bound_slots = self._held_slot[is_bound]
        presence = kept_mask(held_slots, slot_count)
        bound = kept_mask(bound_slots, slot_count)
        coverage = np.zeros(slot_count)
        held_coverage = self._held_coverage[is_held]
        np.maximum.at(coverage, held_slots, held_coverage)
        distinct_texts = dict.fromkeys(texts)
        in_texts = self._look_up(distinct_texts)
        presence[in_texts.slot] = True
        bound_in_texts = in_texts.slot[in_texts.bound]
        bound[bound_in_texts] = True
        np.maximum.at(coverage, in_texts.slot, in_texts.coverage)
        return Retention(self, presence, bound, coverage)

    def lines_that_name(
        self,
        need: Need,
        kept: Collection[int] | Flags,
        texts: Iterable[str],
    ) -> Iterator[str]:
        """The lines of a context that name a needed entity, in whatever spelling; arguments as of
        `retained`.
        """
        message_is_kept = kept_mask(kept, self._index.n)
        is_held = message_is_kept[self._held_message]
        slot = self._slots[need.entity]
        is_needed = self._held_slot == slot
        spans = self._held_span[is_held & is_needed]
        distinct_spans = np.unique(spans)
        for span in distinct_spans.tolist():
            yield self._index.texts[span]
        name = need.entity.text.lower()
        for text in texts:
            for line in text.split("\n"):
                if name in line.lower():
                    yield line

    @property
    def messages(self) -> int:
        """How many messages the session has."""
        return self._index.n
