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

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints, kept_mask
from workbench.engine.extraction.entities import KINDS, Entity
from workbench.engine.extraction.statements import is_decision
from workbench.evaluation.metrics.evidence import Evidence
from workbench.evaluation.metrics.indexes.inverted_index import pairs_of
from workbench.evaluation.metrics.indexes.text_index import IndexedTexts, TextIndex

Level: TypeAlias = Literal["presence", "bound", "coverage"]

HORIZON = 80
"""Messages after a boundary in which a use counts."""


@dataclass(frozen=True, slots=True)
class Need:
    """One demanded entity.

    Attributes:
        entity: what was needed.
        said: index of the first message that held it; `said_by` is that message's role.
        evidence: index of the latest message that holds the evidence, `evidence_text` the span
            itself.
        use: index of the message that used it, `use_text` the span of the use.
        reacquirable: whether a call that only looks would fetch it again, and no person said it, no
            decision names it, and no result that cannot be had again holds it.
    """

    entity: Entity
    said: int
    said_by: str
    evidence: int
    evidence_text: str
    use: int
    use_text: str
    reacquirable: bool


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
        """The sums by kind and by whether they can be fetched again, in order; together they are
        the whole demand.
        """
        for number in sorted(set(self.demand.kinds.tolist()), key=KINDS.__getitem__):
            for again in (False, True):
                chosen = (self.demand.reacquirable == again) & (self.demand.kinds == number)
                if chosen.any():
                    yield {
                        "kind": KINDS[number],
                        "recoverable": "reacquirable" if again else "irrecoverable",
                        "demanded": int(chosen.sum()),
                        **{
                            level: float(self.level(level)[chosen].sum())
                            for level in get_args(Level)
                        },
                    }

    def lost(self) -> list[Need]:
        """The needed entities that are not bound, in order of use."""
        return [
            need
            for need, bound in zip(self.demand.needs, self.bound.tolist(), strict=True)
            if not bound
        ]

    def sources_to_fetch(self) -> tuple[int, ...]:
        """The tool results that would have to be fetched again, as message indices, each once.

        Taken for each re-acquirable entity that the context does not hold at all, those with fewest
        sources first: a result that is fetched anyway if there is one, else the latest that holds
        it. Fails to see that a file may have changed since, or that a narrower call would do.
        """
        lost = np.flatnonzero(self.demand.reacquirable & ~self.presence).tolist()
        chosen: set[int] = set()
        for holders in sorted((self.demand.repeatable_sources[slot] for slot in lost), key=len):
            if chosen.isdisjoint(holders):
                chosen.add(holders[-1])
        return tuple(sorted(chosen))


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
        self, texts: TextIndex, at: int, wanted: Flags, *, said_again: bool = False
    ) -> None:
        self._texts, self._index, self.at = texts, texts.inverted_index, at
        p = self._index
        self.entities, self._use_place = self._uses(wanted, said_again)
        self.kinds: Ints = p.kind[self.entities]
        self._slot_of: Ints = np.full(len(p.names), -1)
        self._slot_of[self.entities] = np.arange(len(self))
        self._evidence = Evidence(p, at, self.entities, self._use_place)
        self._hold()
        self.reacquirable = self._can_be_fetched()

    def __len__(self) -> int:
        return len(self.entities)

    def _uses(self, wanted: Flags, said_again: bool) -> tuple[Ints, Ints]:
        """The demanded entities in order of use, with their places: first said after the boundary,
        by an assistant.

        With `said_again` it does not matter who said them between the boundary and that place.
        """
        p = self._index
        end = min(p.n, self.at + HORIZON)
        places = np.arange(p.message_start[self.at], p.message_start[end])
        places = places[~p.thought[places]]
        answers = np.array([message.role == "assistant" for message in p.messages], dtype=bool)
        if said_again:
            places = places[answers[p.place_message[places]]]
        row, entities = pairs_of(p.span_entities, p.place_span[places])
        place = places[row]
        old = wanted[entities] & (p.first_seen[entities] < self.at)
        entities, first = np.unique(entities[old], return_index=True)
        place = place[old][first]
        spoken = answers[p.place_message[place]]
        order = np.argsort(place[spoken], kind="stable")
        return entities[spoken][order], place[spoken][order]

    def _hold(self) -> None:
        """Find the messages of the history that hold each pair."""
        found = self._evidence
        bound, coverage = found.grade(found.pair_slot, self._index.span_words[found.pair_span])
        pair, message = pairs_of(self._index.span_messages, found.pair_span)
        past = message < self.at
        pair, self._held_message = pair[past], message[past]
        self._held_span, self._held_slot = found.pair_span[pair], found.pair_slot[pair]
        self._held_bound, self._held_coverage = bound[pair], coverage[pair]

    def _can_be_fetched(self) -> Flags:
        source = self._index.sources[self._held_message]
        self._repeatable = source == "repeatable"
        mentions = set(self._held_span[source == "mention"].tolist())
        decided = np.isin(
            self._held_span, [span for span in mentions if is_decision(self._index.texts[span])]
        )
        never = (source == "passing") | ((source == "mention") & decided)
        again = np.zeros(len(self), dtype=bool)
        again[self._held_slot[self._repeatable]] = True
        again[self._held_slot[never]] = False
        return again

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """The demanded entities with where they come from and where they were used, in order of
        use.
        """
        p = self._index
        return tuple(
            Need(
                entity=p.names[entity],
                said=(said := int(p.first_seen[entity])),
                said_by=p.messages[said].role,
                evidence=int(p.place_message[place]),
                evidence_text=p.texts[evidence],
                use=int(p.place_message[use]),
                use_text=p.texts[int(p.place_span[use])],
                reacquirable=reacquirable,
            )
            for entity, evidence, place, use, reacquirable in zip(
                self.entities.tolist(),
                self._evidence.span.tolist(),
                self._evidence.place.tolist(),
                self._use_place.tolist(),
                self.reacquirable.tolist(),
                strict=True,
            )
        )

    @cached_property
    def repeatable_sources(self) -> Mapping[int, tuple[int, ...]]:
        """By slot, the results of calls that only look that hold its entity, as message indices
        in order.
        """
        slots, messages = self._held_slot[self._repeatable], self._held_message[self._repeatable]
        found: dict[int, set[int]] = {}
        for slot, message in zip(slots.tolist(), messages.tolist(), strict=True):
            found.setdefault(slot, set()).add(message)
        return {slot: tuple(sorted(held)) for slot, held in found.items()}

    def _look_up(self, texts: Iterable[str]) -> tuple[IndexedTexts, Ints, Ints, Flags, Floats]:
        """Texts; each slot with each of their rows that holds its entity; bound and coverage
        there.
        """
        found = self._texts.read(texts)
        slots = self._slot_of[found.entities]
        slots, rows = slots[slots >= 0], found.entity_row[slots >= 0]
        return (
            found,
            slots,
            rows,
            *self._evidence.grade(slots, self._texts.words(found.spans[rows])),
        )

    def last_bound(self, of_message: Ints, of_text: Mapping[str, int]) -> Ints:
        """(slots,) the largest number of all messages and texts that bind each one; -1 where
        nothing does.

        `of_message` is (n,), with -1 for a message that does not count.
        """
        last: Ints = np.full(len(self), -1)
        np.maximum.at(
            last,
            self._held_slot[self._held_bound],
            of_message[self._held_message[self._held_bound]],
        )
        found, slots, rows, bound, _ = self._look_up(of_text)
        numbers = np.array(list(of_text.values()), dtype=np.int64)
        np.maximum.at(last, slots[bound], numbers[found.text[rows[bound]]])
        return last

    def retained(self, kept: Collection[int] | Flags, texts: Iterable[str] = ()) -> Retention:
        """What a context of these messages (indices, or a flag each) and these new texts retains
        of this demand.
        """
        held = kept_mask(kept, self._index.n)[self._held_message]
        presence = kept_mask(self._held_slot[held], len(self))
        bound = kept_mask(self._held_slot[held & self._held_bound], len(self))
        coverage = np.zeros(len(self))
        np.maximum.at(coverage, self._held_slot[held], self._held_coverage[held])
        _, slots, _, is_bound, share = self._look_up(dict.fromkeys(texts))
        presence[slots] = True
        bound[slots[is_bound]] = True
        np.maximum.at(coverage, slots, share)
        return Retention(self, presence, bound, coverage)

    @property
    def messages(self) -> int:
        """How many messages the session has."""
        return self._index.n
