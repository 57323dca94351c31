"""The index of one session: extracted once, asked any number of times."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from functools import cached_property

import numpy as np

from workbench.extraction.entities import KINDS, Entity, Kind
from workbench.extraction.extractor import Extractor
from workbench.metrics.artifacts import Artifacts
from workbench.metrics.background import BUILTIN_BACKGROUND
from workbench.metrics.fabricated import fabricated
from workbench.metrics.future import HORIZON, Demand, History
from workbench.metrics.inverted_index import InvertedIndex
from workbench.metrics.message_lifetimes import Lifetimes
from workbench.metrics.reading import Reader, Reading
from workbench.metrics.sources import sources
from workbench.metrics.stated import Stated
from workbench.metrics.superseded import Changes
from workbench.metrics.work import Work
from workbench.ragged import Flags, Ints, gather, kept_mask, narrow, table_of
from workbench.transcript.message import Message


class Index:
    """The words, entities and statements of one session, for whatever contexts are held against it.

    Building it reads each message once; everything else works on integers.

    Args:
        messages: the whole recording.
        cwd: the folder that relative paths start from; empty if unknown.
        background: entities that nobody needs a context for.
        extractor: one to go on with, for a conversation of the same folder; by default a new one.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        cwd: str = "",
        background: frozenset[Entity] = BUILTIN_BACKGROUND,
        extractor: Extractor | None = None,
    ) -> None:
        self.messages = tuple(messages)
        self.extractor = extractor or Extractor(cwd)
        self.inverted_index = InvertedIndex(self.messages, self.extractor)
        self.background = background
        self._reader = Reader(self.inverted_index)
        self._demands: dict[tuple[int, int], Demand] = {}
        self._flat: Ints = np.full(len(self.inverted_index.names), -1)

    def with_background(self, more: frozenset[Entity]) -> Index:
        """The same index, that takes these entities for background as well. Cheap: nothing is extracted again."""
        other = copy(self)
        other.background = self.background | more
        for name in ("_wanted", "everything"):
            other.__dict__.pop(name, None)
        other._demands = {}
        return other

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Every lexical entity of the session, each once: a file under one of its names."""
        p = self.inverted_index
        return tuple(p.names[number] for number in np.flatnonzero(p.first_seen < p.n).tolist())

    def demand(self, at: int, horizon: int = HORIZON) -> Demand:
        """What the recording after `messages[:at]` needed of it; worked out once a boundary.

        Args:
            at: the boundary, 0..n; at both ends nothing is demanded.
            horizon: messages after it in which a use counts.
        """
        found = self._demands.get((at, horizon))
        if found is None:
            found = self._demands[at, horizon] = Demand(self._history, at, horizon, self._wanted)
        return found

    def recall(self, at: int, kept: Collection[int] | Flags, texts: Iterable[str] = ()) -> dict[Kind, tuple[int, int]]:
        """By kind: how many entities of `messages[:at]` a context still holds, and how many there are.

        Kinds that the history has none of are left out. A statement is held by its message, or by a text that still
        says it (`stated.py`).
        """
        p = self.inverted_index
        texts = tuple(texts)
        mask = kept_mask(kept, p.n)
        past = p.first_seen < at
        here = self._lexical(mask, texts)
        whole = np.bincount(p.kind[past], minlength=len(KINDS))
        held = np.bincount(p.kind[past & here], minlength=len(KINDS))
        lexical = {kind: (int(held[i]), int(whole[i])) for i, kind in enumerate(KINDS) if whole[i]}
        return lexical | self.stated.recall(at, mask, texts)

    def _lexical(self, mask: Flags, texts: Sequence[str]) -> Flags:
        """For each lexical entity whether a context of these messages and texts holds it."""
        p = self.inverted_index
        here = np.zeros(len(p.names), dtype=bool)
        here[p.pair_entity[mask[p.pair_message]]] = True
        here[self._reader.read_all(texts).entities] = True
        return here

    @cached_property
    def everything(self) -> tuple[Ints, Ints]:
        """Lexical entities, then statements: the first message of each (n for background), and its place in `KINDS`."""
        p = self.inverted_index
        first = np.where(self._wanted, p.first_seen, p.n)
        return np.concatenate((first, self.stated.first)), np.concatenate((p.kind, self.stated.kinds))

    def held(self, mask: Flags, texts: Iterable[str] = ()) -> Flags:
        """For each of `everything` whether a context of these messages and texts still holds it."""
        texts = tuple(texts)
        return np.concatenate((self._lexical(mask, texts), self.stated.held(mask, texts)))

    def holders(self, lifetimes: Lifetimes) -> tuple[Ints, Ints, Ints]:
        """What holds each of `everything`, and from when to when: its number, begin and end of the stay, row by row."""
        p = self.inverted_index
        of_entity, pair = gather(p.pair_start, lifetimes.message)
        of_statement, statement = self.stated.of_messages(lifetimes.message)
        stay = np.concatenate((of_entity, of_statement))
        starts, items = self._items(lifetimes)
        of_text, at = gather(starts, lifetimes.text)
        item = np.concatenate((p.pair_entity[pair], len(p.names) + statement, items[at]))
        begin = np.concatenate((lifetimes.begin[stay], lifetimes.text_begin[of_text]))
        return item, begin, np.concatenate((lifetimes.end[stay], lifetimes.text_end[of_text]))

    def _items(self, lifetimes: Lifetimes) -> tuple[Ints, Ints]:
        """What each text holds of `everything`, as a ragged table; nothing for texts that stay at no time."""
        n, there = len(self.inverted_index.names), np.zeros(len(lifetimes.texts), dtype=bool)
        there[lifetimes.text] = True
        reading, text_of_row = self._reader.read_each(lifetimes.texts)
        of_entity, held = text_of_row[reading.entity_row], there[text_of_row[reading.entity_row]]
        of_text, at = np.divmod(np.unique(of_entity[held] * max(1, n) + reading.entities[held]), max(1, n))
        of_statement, statement = self.stated.of_texts(lifetimes.texts, there)
        row = np.concatenate((of_text, of_statement))
        starts, order = table_of(row, len(lifetimes.texts))
        return starts, np.concatenate((at, n + statement))[order]

    def fabricated(self, at: int, texts: Iterable[str]) -> tuple[Entity, ...]:
        """The entities in texts that occur nowhere in `messages[:at]`, each once, in order (`fabricated.py`)."""
        return fabricated(self.inverted_index, self._reader, at, texts)

    def entities_in(self, texts: Iterable[str]) -> int:
        """How many different lexical entities stand in texts."""
        return len(np.unique(self._reader.read_all(texts).every))

    def first_flat(self, entities: Ints, unsure: Callable[[str], bool]) -> Ints:
        """The first message that says each entity in a line that is not unsure; n if none does.

        Args:
            entities: their numbers, each once.
            unsure: whether a line hedges or denies what it says.
        """
        known = self._flat
        for entity in entities[known[entities] < 0].tolist():
            known[entity] = self._first_flat(entity, unsure)
        return known[entities]

    def _first_flat(self, entity: int, unsure: Callable[[str], bool]) -> int:
        starts, spans, firsts = self._said_of_entity
        texts, n = self.inverted_index.texts, self.inverted_index.n
        for i in range(int(starts[entity]), int(starts[entity + 1])):
            first = int(firsts[i])
            if first >= n:
                break
            if not unsure(texts[int(spans[i])]):
                return first
        return n

    @cached_property
    def _said_of_entity(self) -> tuple[Ints, Ints, Ints]:
        """For each entity the spans that hold it, in the order in which they were first said, with when that was."""
        p = self.inverted_index
        starts, spans = p.of_entity
        firsts = p.span_said[spans]
        order = np.lexsort((firsts, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))
        return starts, narrow(spans[order]), narrow(firsts[order])

    def span_text(self, span: int) -> str:
        """The text of a span, also of one that only a read text holds."""
        return self._reader.text(span)

    def read(self, texts: Iterable[str]) -> Reading:
        """What texts say, with the words and entities of this session; each text is read once."""
        return self._reader.read_all(texts)

    @cached_property
    def stated(self) -> Stated:
        """The statements of the session."""
        return Stated(self.messages, self.inverted_index, self._reader)

    @cached_property
    def artifacts(self) -> Artifacts:
        """The files that the session worked on."""
        return Artifacts(self.messages, self.inverted_index)

    @cached_property
    def work(self) -> Work:
        """The work that was announced."""
        return Work(self.messages, self.inverted_index, self.stated)

    @cached_property
    def changes(self) -> Changes:
        """The values that were replaced."""
        return Changes(self.messages, self.inverted_index, self._reader)

    @cached_property
    def _history(self) -> History:
        roles = tuple(message.role for message in self.messages)
        return History(self.inverted_index, self._reader, roles, np.array(sources(self.messages), dtype=np.str_))

    @cached_property
    def _wanted(self) -> Flags:
        """For each entity whether a use of it would count: all but background, as it was said or as a file goes by."""
        p, numbers = self.inverted_index, self.extractor.entities
        wanted = np.ones(len(p.names), dtype=bool)
        paths = {entity.text for entity in self.background if entity.kind == "path"}
        found = [numbers.get((entity.kind, entity.text), len(wanted)) for entity in self.background]
        found += [number for number in p.paths.values() if p.names[number].text in paths]
        wanted[[number for number in found if number < len(wanted)]] = False
        return wanted
