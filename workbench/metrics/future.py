"""Future-reference recall: of what the recorded future needed from the history, how much a context still holds.

The *demand* at a boundary: each lexical entity of the history that a later recorded assistant text or argument value
uses within the horizon, unless somebody said it again after the boundary and before that use, or it is background.
Thoughts count for nothing, neither in the history nor after it, since no later request need be sent them.

The *evidence* of a demanded entity: the span of the history that holds it and shares the most words (weighted by idf)
with the span of its use; ties go to the latest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.extraction.entities import KINDS, Entity, Kind
from workbench.extraction.statements import is_decision
from workbench.metrics.inverted_index import InvertedIndex
from workbench.metrics.reading import Reader
from workbench.ragged import (
    Flags,
    Floats,
    Ints,
    flag_table,
    found_at,
    gather,
    hits,
    kept_mask,
)

Level: TypeAlias = Literal["presence", "bound", "coverage"]

HORIZON = 80
"""Messages after a boundary in which a use counts."""

ENOUGH = 2
"""How many of the evidence's other words must stand beside an entity for it to be bound; all where there are fewer."""


@dataclass(frozen=True, slots=True)
class Need:
    """One demanded entity.

    Attributes:
        entity: what was needed.
        said: index of the first message that held it; `said_by` is that message's role.
        evidence: index of the latest message that holds the evidence, `evidence_text` the span itself.
        use: index of the message that used it, `use_text` the span of the use.
        reacquirable: whether a call that only looks would fetch it again, and no person said it, no decision names
            it, and it stands in no result that cannot be had again.
    """

    entity: Entity
    said: int
    said_by: str
    evidence: int
    evidence_text: str
    use: int
    use_text: str
    reacquirable: bool

    @property
    def irrecoverable(self) -> bool:
        """Whether nothing but the history holds it."""
        return not self.reacquirable


@dataclass(frozen=True, slots=True)
class Group:
    """Demanded entities of one kind and one fate: how many, and how many of them each level retains."""

    kind: Kind
    recoverable: bool
    demanded: int
    presence: float
    bound: float
    coverage: float


@dataclass(frozen=True, eq=False)
class Retention:
    """How much of a demand one context holds, entity by entity in the demand's order.

    Attributes:
        demand: what was needed.
        presence: whether the entity stands in the context at all.
        bound: whether it stands in a span together with at least two of its evidence's other content words.
        coverage: the largest share, weighted by idf, of the evidence's other words in one span that holds the entity;
            in [0, 1], and 1 where there are no other words.
    """

    demand: Demand
    presence: Flags
    bound: Flags
    coverage: Floats

    @property
    def size(self) -> int:
        """How many entities were needed."""
        return len(self.demand)

    def level(self, level: Level) -> Floats:
        """One value in [0, 1] for each demanded entity."""
        values: Floats = np.asarray(getattr(self, level), dtype=np.float64)
        return values

    def count(self, recoverable: bool | None = None, kind: Kind | None = None) -> int:
        """How many demanded entities are of that fate and kind; None takes all."""
        return int(self._chosen(recoverable, kind).sum())

    def mean(self, level: Level = "bound", recoverable: bool | None = None, kind: Kind | None = None) -> float:
        """The mean over the demanded entities of that fate and kind: a share in [0, 1], higher is better.

        Raises:
            ValueError: no such entity is demanded, so that there is nothing to average.
        """
        chosen = self._chosen(recoverable, kind)
        if not chosen.any():
            raise ValueError("no such entity is demanded; ask `count` first")
        return float(self.level(level)[chosen].mean())

    def groups(self) -> Iterator[Group]:
        """The sums by kind and fate, in order; together they are the whole demand."""
        for kind in sorted({KINDS[number] for number in self.demand.kinds.tolist()}):
            for recoverable in (False, True):
                chosen = self._chosen(recoverable, kind)
                if chosen.any():
                    sums = [float(np.sum(one[chosen])) for one in (self.presence, self.bound, self.coverage)]
                    yield Group(kind, recoverable, int(chosen.sum()), *sums)

    def lost(self, level: Level = "bound") -> list[Need]:
        """The needed entities that are not retained at that level (coverage: not at all), in order of use."""
        values = self.level(level)
        return [need for need, value in zip(self.demand.needs, values, strict=True) if not value]

    def _chosen(self, recoverable: bool | None, kind: Kind | None) -> Flags:
        chosen = np.ones(self.size, dtype=bool)
        if recoverable is not None:
            chosen &= self.demand.reacquirable == recoverable
        if kind is not None:
            chosen &= self.demand.kinds == KINDS.index(kind)
        return chosen


@dataclass(frozen=True, eq=False)
class History:
    """A session as its demands see it.

    Attributes:
        inverted_index: its words and entities.
        reader: reads other texts with them.
        roles: the role of each message.
        sources: for each message what kind of source it is.
    """

    inverted_index: InvertedIndex
    reader: Reader
    roles: Sequence[str]
    sources: NDArray[np.str_]
    _decisions: dict[int, bool] = field(default_factory=dict)

    def decides(self, span: int) -> bool:
        """Whether a span says what was chosen; worked out once, since boundaries share most of their history."""
        found = self._decisions.get(span)
        if found is None:
            found = self._decisions[span] = is_decision(self.inverted_index.texts[span])
        return found


class Demand:
    """What the recorded future needed at one boundary. Built once; any number of contexts is held against it.

    Attributes:
        at: the boundary: the history is `messages[:at]`.
        horizon: messages after it that were looked at.
        kinds: for each demanded entity its kind's place in `KINDS`.
        reacquirable: for each demanded entity, whether a call that only looks would fetch it again.
    """

    def __init__(self, history: History, at: int, horizon: int, wanted: Flags) -> None:
        inverted_index, roles = history.inverted_index, history.roles
        self._reader = history.reader
        self.at = at
        self.horizon = horizon
        self._inverted_index = inverted_index
        self._roles = roles
        self._entities, self._use_place = self._uses(wanted)
        self.kinds: Ints = inverted_index.kind[self._entities]
        starts, spans = inverted_index.of_entity
        pair, at_pair = gather(starts, self._entities)
        last = self._last_places(spans[at_pair])
        held = last >= 0
        self._pair_slot, self._pair_span = pair[held], spans[at_pair][held]
        self._evidence, self._evidence_place = self._choose_evidence(last[held])
        self._rest, self._rest_words, self._rest_count, self._rest_weight = self._other_words()
        bound, coverage = self._grade(
            self._pair_slot, inverted_index.word_start, inverted_index.span_word, self._pair_span
        )
        self._hold(bound, coverage)
        self.reacquirable = self._fates(history)

    def __len__(self) -> int:
        return len(self._entities)

    def _uses(self, wanted: Flags) -> tuple[Ints, Ints]:
        """The demanded entities in order of use, with their places: first said after the boundary, by an assistant."""
        p = self._inverted_index
        end = min(p.n, self.at + self.horizon)
        places = np.arange(p.message_start[self.at], p.message_start[end])
        places = places[~p.thought[places]]
        owner, found = gather(p.entity_start, p.place_span[places])
        entities = p.span_entity[found]
        old = wanted[entities] & (p.first_seen[entities] < self.at)
        entities, first = np.unique(entities[old], return_index=True)
        place = places[owner[old][first]]
        spoken = np.array([self._roles[m] == "assistant" for m in p.place_message[place]], dtype=bool)
        order = np.argsort(place[spoken], kind="stable")
        return entities[spoken][order], place[spoken][order]

    def _slots(self, entities: Ints) -> Ints:
        """For each entity its place in the demand, -1 where it is not demanded."""
        return found_at(self._entities, entities, len(self._inverted_index.names))

    def _last_places(self, spans: Ints) -> Ints:
        """For each of these spans its last place in the history, -1 where it has none."""
        p = self._inverted_index
        starts, places = p.of_span
        row, found = gather(starts, spans)
        place = places[found]
        past = (place < p.message_start[self.at]) & ~p.thought[place]
        last = np.full(len(spans), -1)
        last[row[past]] = place[past]  # in order: the last one stays
        return last

    def _choose_evidence(self, last: Ints) -> tuple[Ints, Ints]:
        """For each entity the span that is its evidence, and where that stands last.

        Args:
            last: the last place of each pair's span.
        """
        p = self._inverted_index
        used_in = p.place_span[self._use_place]
        use_spans = np.unique(used_in)
        table, columns = flag_table(p.word_start, p.span_word, use_spans)
        row = found_at(use_spans, used_in, p.spans)[self._pair_slot]
        found, word = hits(table, columns, p.words, row, p.word_start, p.span_word, self._pair_span)
        overlap = np.bincount(found, p.idf[word], minlength=len(self._pair_slot)).round(9)
        starts = np.searchsorted(self._pair_slot, np.arange(len(self)))
        best = overlap == _largest(overlap, starts)[self._pair_slot]
        latest = np.where(best, last, -1)
        chosen = np.flatnonzero(latest == _largest(latest, starts)[self._pair_slot])
        return self._pair_span[chosen], last[chosen]

    def _other_words(self) -> tuple[Flags, Ints, Ints, Floats]:
        """For each entity the words of its evidence that are not its own, as a row of flags; and the columns' words."""
        p = self._inverted_index
        table, columns = flag_table(p.word_start, p.span_word, self._evidence)
        own = [(slot, word) for slot, entity in enumerate(self._entities.tolist()) for word in p.own_words(entity)]
        slots, words = np.array(own, dtype=np.int64).reshape(-1, 2).T
        column = found_at(columns, words, p.words)
        there = column >= 0
        table[slots[there], column[there]] = False
        return table, columns, table.sum(axis=1), table @ p.idf[columns]

    def _grade(self, slots: Ints, word_start: Ints, span_word: Ints, rows: Ints) -> tuple[Flags, Floats]:
        """Bound and coverage of each pair of a demanded entity and a span that holds it."""
        p = self._inverted_index
        found, word = hits(self._rest, self._rest_words, p.words, slots, word_start, span_word, rows)
        count = np.bincount(found, minlength=len(slots))
        weight = np.bincount(found, p.idf[word], minlength=len(slots))
        bound = count >= np.minimum(ENOUGH, self._rest_count[slots])
        whole = self._rest_weight[slots]
        share = np.divide(weight, whole, out=np.ones(len(slots)), where=whole > 0)
        return bound, np.minimum(share, 1.0)

    def _hold(self, bound: Flags, coverage: Floats) -> None:
        """Write down in which messages of the history each pair stands."""
        p = self._inverted_index
        starts, places = p.of_span
        pair, found = gather(starts, self._pair_span)
        message = p.place_message[places[found]]
        past = (message < self.at) & ~p.thought[places[found]]
        pair = pair[past]
        self._held_message = message[past]
        self._held_pair = pair
        self._held_slot = self._pair_slot[pair]
        self._held_bound = bound[pair]
        self._held_coverage = coverage[pair]
        self._held_starts = np.searchsorted(self._held_slot, np.arange(len(self)))

    def _fates(self, history: History) -> Flags:
        n = len(self)
        source = history.sources[self._held_message]
        self._repeatable = source == "repeatable"
        again = np.bincount(self._held_slot[self._repeatable], minlength=n) > 0
        never = np.bincount(self._held_slot[source == "passing"], minlength=n) > 0
        spoken = self._held_pair[source == "mention"]
        spans = np.unique(self._pair_span[spoken])
        decided = np.zeros(self._inverted_index.spans, dtype=bool)
        decided[[span for span in spans.tolist() if history.decides(span)]] = True
        slots = self._pair_slot[spoken][decided[self._pair_span[spoken]]]
        never |= np.bincount(slots, minlength=n) > 0
        return again & ~never

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """The demanded entities with where they come from and where they were used, in order of use."""
        p = self._inverted_index
        found = []
        for slot, entity in enumerate(self._entities.tolist()):
            said, use = int(p.first_seen[entity]), int(self._use_place[slot])
            span = int(self._evidence[slot])
            found.append(
                Need(
                    p.names[entity],
                    said,
                    self._roles[said],
                    int(p.place_message[self._evidence_place[slot]]),
                    p.texts[span],
                    int(p.place_message[use]),
                    p.texts[int(p.place_span[use])],
                    bool(self.reacquirable[slot]),
                )
            )
        return tuple(found)

    def repeatable_sources(self, slot: int) -> tuple[int, ...]:
        """The results of calls that only look that hold one demanded entity, as message indices in order."""
        first = int(self._held_starts[slot])
        end = int(self._held_starts[slot + 1]) if slot + 1 < len(self) else len(self._held_slot)
        found = self._held_message[first:end][self._repeatable[first:end]]
        return tuple(sorted(set(found.tolist())))

    def bound_by(self, texts: Iterable[str]) -> tuple[list[str], Flags]:
        """The spans of texts that hold demanded entities, and for each (rows) which entities it binds (columns)."""
        reading = self._reader.read_all(texts)
        slots = self._slots(reading.entities)
        needed = slots >= 0
        slots, rows = slots[needed], reading.entity_row[needed]
        bound, _ = self._grade(slots, reading.word_start, reading.words, rows)
        found = np.zeros((len(reading.spans), len(self)), dtype=bool)
        found[rows[bound], slots[bound]] = True
        return [self._reader.text(span) for span in reading.spans.tolist()], found

    @property
    def messages(self) -> int:
        """How many messages the session has."""
        return self._inverted_index.n

    def latest(self, of_message: Ints, texts: tuple[str, ...], of_text: Ints) -> Ints:
        """For each demanded entity the largest number of all that binds it; -1 where nothing does.

        Args:
            of_message: a number for each message of the session, -1 for one that does not count.
            texts: other texts.
            of_text: a number for each of them in the same way.
        """
        found = np.full(len(self), -1)
        bound = self._held_bound
        np.maximum.at(found, self._held_slot[bound], of_message[self._held_message[bound]])
        reading, text = self._reader.read_each(texts)
        slots, at = self._slots(reading.entities), of_text[text[reading.entity_row]]
        counted = (slots >= 0) & (at >= 0)
        slots, rows = slots[counted], reading.entity_row[counted]
        is_bound, _ = self._grade(slots, reading.word_start, reading.words, rows)
        np.maximum.at(found, slots[is_bound], at[counted][is_bound])
        return found

    def retained(self, kept: Collection[int] | Flags, texts: Iterable[str] = ()) -> Retention:
        """What a context retains of this demand.

        Args:
            kept: the messages that the context holds whole: their indices, or a flag for each message.
            texts: the new texts of the context: summaries, and messages that were rewritten.
        """
        mask = kept_mask(kept, self._inverted_index.n)
        held = mask[self._held_message]
        presence = np.zeros(len(self), dtype=bool)
        bound, coverage = presence.copy(), np.zeros(len(self))
        presence[self._held_slot[held]] = True
        bound[self._held_slot[held & self._held_bound]] = True
        if len(held):
            coverage = _largest(np.where(held, self._held_coverage, 0.0), self._held_starts)
        reading = self._reader.read_all(texts)
        slots = self._slots(reading.entities)
        needed = slots >= 0
        if needed.any():
            slots, rows = slots[needed], reading.entity_row[needed]
            is_bound, share = self._grade(slots, reading.word_start, reading.words, rows)
            presence[slots] = True
            bound[slots[is_bound]] = True
            np.maximum.at(coverage, slots, share)
        return Retention(self, presence, bound, coverage)


def _largest(values: Floats, starts: Ints) -> Floats:
    """The largest value of each group, given where each begins."""
    return np.maximum.reduceat(values, starts) if len(starts) else values[:0]
