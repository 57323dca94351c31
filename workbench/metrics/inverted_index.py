"""The words and entities of one session as arrays: which message holds which span, which span holds what."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from workbench.extraction.entities import KINDS, Entity, is_file_name
from workbench.extraction.extractor import END, Extractor, Layout
from workbench.extraction.paths import SameFile, endings
from workbench.extraction.spans import Spans
from workbench.extraction.words import words
from workbench.ragged import Flags, Floats, Ints, gather, narrow, row_starts, table_of
from workbench.transcript.message import Message

CHUNK = 1 << 17
"""Features that are sorted at once; bounds the memory that it takes."""

KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}


class InvertedIndex:
    """One session's spans, words and entities, numbered as its extractor numbers them.

    A *place* is one occurrence of a span: places count on through the session, message by message; inside a message
    what was said comes before what was thought. One file under several paths is one entity: `stands_for` names it.

    Attributes:
        n: number of messages.
        message_start: where each message's places begin, n + 1 entries.
        place_span: the span at each place.
        place_message: the message of each place.
        thought: whether a place is thinking.
        word_start, span_word: the words of each span.
        entity_start, span_entity: the entities of each span.
        names: the entities; a file goes by the shortest ending of its path that no other file of the session has.
        stands_for: for each entity the one that stands for it.
        folder: whether an entity is the folder of a path that is known as well, and so says nothing of its own: it
            stands in no span.
        pair_message, pair_entity: each message with each entity that it says, in order; `pair_start` says where those
            of each message begin.
        first_seen: for each entity the first message that says it; n for one that another stands for or that was left
            out. `first_known` counts thoughts as well.
        kind: the kind of each entity, as its place in `KINDS`.
        idf: how rare each word is: log((n + 1) / (1 + messages that say it)) + 0.1.
    """

    def __init__(self, messages: Sequence[Message], extractor: Extractor) -> None:
        self.extractor = extractor
        self.n = len(messages)
        self._place(extractor.mine_all(messages))
        extractor.forget_tokens()
        self._open_spans()
        self._name_files()
        self._count()

    def _place(self, extracted: Layout) -> None:
        text = np.repeat(narrow(np.arange(len(extracted.sizes))), extracted.sizes)
        thought = np.frombuffer(bytes(extracted.thoughts), dtype=np.bool_)[text]
        message = np.repeat(narrow(np.arange(self.n)), extracted.texts)[text]
        span = narrow(np.frombuffer(extracted.spans, dtype=np.int32))
        if thought.any():
            order = np.lexsort((thought, message))  # stable: what was said before what was thought
            thought, span = thought[order], span[order]
        self.message_start = row_starts(message, self.n)
        self.place_span, self.place_message = span, message
        self.thought: Flags = thought

    def _open_spans(self) -> None:
        extractor = self.extractor
        self.spans, self.words, self._known = len(extractor.spans), len(extractor.words), len(extractor.entities)
        beside = np.array([(at, one) for at, found in extractor.more.items() for one in found], dtype=np.int64)
        beside = beside.reshape(-1, 2)[np.argsort(beside.reshape(-1, 2)[:, 0], kind="stable")]
        of_entities, of_words = _Rows(), _Rows()
        begin = first = 0
        while begin < len(extractor.flat):
            flat = np.array(extractor.flat[begin : begin + CHUNK], dtype=np.int64)
            ends = np.flatnonzero(flat == END)
            if not len(ends):
                flat = np.array(extractor.flat[begin : extractor.flat.index(END, begin) + 1], dtype=np.int64)
                ends = np.flatnonzero(flat == END)
            flat = flat[: ends[-1] + 1]
            lo, hi = np.searchsorted(beside[:, 0], (first, first + len(ends)))
            self._open(flat, beside[lo:hi] - (first, 0), of_words, of_entities, len(ends))
            begin, first = begin + len(flat), first + len(ends)
        self.word_start, self.span_word = of_words.table()
        self.entity_start, self._raw_entity = of_entities.table()

    def _open(self, flat: Ints, beside: Ints, of_words: _Rows, of_entities: _Rows, spans: int) -> None:
        """The words and entities of some spans in a row, each once a span."""
        is_end = flat == END
        span = np.concatenate((np.cumsum(is_end)[~is_end], beside[:, 0]))
        features = np.concatenate((flat[~is_end], beside[:, 1]))
        keys = np.unique(span * (self._known + self.words) + features + self._known)
        span, features = np.divmod(keys, self._known + self.words)
        is_entity = features < self._known
        of_entities.add(span[is_entity], ~(features[is_entity] - self._known), spans)
        of_words.add(span[~is_entity], features[~is_entity] - self._known, spans)

    def _name_files(self) -> None:
        known = self.extractor.entities
        self.names = [Entity(kind, text) for kind, text in known]
        self.paths = {entity.text: number for number, entity in enumerate(self.names) if entity.kind == "path"}
        self.files = SameFile(self.paths)
        self.stands_for = np.arange(len(known))
        self.kind = np.array([KIND_NUMBER[entity.kind] for entity in self.names], dtype=np.int64)
        self.folder: Flags = np.zeros(len(known), dtype=bool)
        folders = self.files.folders()
        for text, number in self.paths.items():
            stands = self.paths[self.files.of(text) or text]
            self.stands_for[number] = stands
            self.folder[stands] |= text in folders
            if stands == number:
                parts = 1 if is_file_name(text.rpartition("/")[2]) else 3
                self.names[number] = Entity("path", self.files.short(text, parts))
        self._leave_out(self.folder)

    def _leave_out(self, entities: Flags) -> None:
        """Put the entities that stand for others in their places, and take folders out: some spans at a time."""
        table, step = _Rows(), CHUNK // 4
        for first in range(0, self.spans, step):
            starts = self.entity_start[first : first + step + 1]
            found = self.stands_for[self._raw_entity[starts[0] : starts[-1]]]
            good = ~entities[found]
            span = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[good]
            pairs = np.unique(span * max(1, len(self.names)) + found[good])  # one file may stand there by two paths
            span, held = np.divmod(pairs, max(1, len(self.names)))
            table.add(span, held, len(starts) - 1)
        self.entity_start, self.span_entity = table.table()
        del self._raw_entity

    def _count(self) -> None:
        self.first_known = self._first_known()
        pairs = _Rows()
        counts = np.zeros(self.words, dtype=np.int64)
        for first, last in self._stretches():
            message, span = self._said(first, last)
            pairs.add(
                *_pairs(message - first, span, self.entity_start, self.span_entity, len(self.names)), last - first
            )
            _, word = _pairs(message, span, self.word_start, self.span_word, self.words)
            counts += np.bincount(word, minlength=self.words)
        self.pair_start, self.pair_entity = pairs.table()
        self.pair_message = np.repeat(narrow(np.arange(self.n)), np.diff(self.pair_start))
        self.first_seen = self._firsts(self.pair_message, self.pair_entity)
        self.idf: Floats = np.log((self.n + 1) / (1 + counts)) + 0.1

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """The messages, some at a time: the first and the one behind the last."""
        first = 0
        while first < self.n:
            last = int(np.searchsorted(self.message_start, self.message_start[first] + CHUNK // 4))
            last = min(self.n, max(first + 1, last))
            yield first, last
            first = last

    def _said(self, first: int, last: int) -> tuple[Ints, Ints]:
        """The message and the span of each place in these messages that is no thought."""
        places = slice(self.message_start[first], self.message_start[last])
        said = ~self.thought[places]
        return self.place_message[places][said], self.place_span[places][said]

    def _first_known(self) -> Ints:
        first = np.full(len(self.names), self.n)
        for begin, end in reversed(list(self._stretches())):
            places = slice(self.message_start[begin], self.message_start[end])
            owner, at = gather(self.entity_start, self.place_span[places])
            first[self.span_entity[at][::-1]] = self.place_message[places][owner][::-1]
        return first

    def _firsts(self, message: Ints, entity: Ints) -> Ints:
        first = np.full(len(self.names), self.n)
        first[entity[::-1]] = message[::-1]
        return first

    @cached_property
    def of_entity(self) -> tuple[Ints, Ints]:
        """For each entity the spans that hold it."""
        starts, order = table_of(self.span_entity, len(self.names))
        spans = np.repeat(narrow(np.arange(self.spans)), np.diff(self.entity_start))
        return starts, spans[order]

    @cached_property
    def of_word(self) -> tuple[Ints, Ints]:
        """For each word the spans that hold it."""
        starts, order = table_of(self.span_word, self.words)
        spans = np.repeat(narrow(np.arange(self.spans)), np.diff(self.word_start))
        return starts, spans[order]

    @cached_property
    def span_first(self) -> Ints:
        """The first message of each span; n for one that stands in no message."""
        first = np.full(self.spans, self.n)
        first[self.place_span[::-1]] = self.place_message[::-1]
        return first

    @cached_property
    def span_said(self) -> Ints:
        """The first message that says each span, not only thinks it; n for one that nobody says."""
        first = np.full(self.spans, self.n)
        said = np.flatnonzero(~self.thought)[::-1]
        first[self.place_span[said]] = self.place_message[said]
        return first

    @cached_property
    def first_ending(self) -> dict[str, int]:
        """For each ending of a path, but the whole, the first message that knows such a path."""
        found: dict[str, int] = {}
        for text, number in self.paths.items():
            first = int(self.first_known[self.stands_for[number]])
            for ending in endings(text):
                if ending != text:
                    found[ending] = min(found.get(ending, self.n), first)
        return found

    @cached_property
    def standing(self) -> dict[Entity, int]:
        """What was found out of names that are no entities of the session: the first message that holds them."""
        return {}

    @cached_property
    def of_span(self) -> tuple[Ints, Ints]:
        """For each span its places."""
        starts, places = table_of(self.place_span, self.spans)
        return starts, narrow(places)

    @property
    def texts(self) -> Spans:
        """The text of each span."""
        return self.extractor.spans

    def own_words(self, entity: int) -> list[int]:
        """The words of an entity itself: they prove nothing about what stands beside it."""
        numbers = self.extractor.words
        found = words(self.names[entity].text)
        return [number for word in found if (number := numbers.get(word, self.words)) < self.words]


class _Rows:
    """A ragged table that is filled some rows at a time."""

    def __init__(self) -> None:
        self._counts = array("i")
        self._items = array("i")

    def add(self, row: Ints, items: Ints, rows: int) -> None:
        """That many more rows, with the items of each."""
        self._counts.frombytes(np.bincount(row, minlength=rows).astype(np.int32).tobytes())
        self._items.frombytes(items.astype(np.int32).tobytes())

    def table(self) -> tuple[Ints, Ints]:
        """Where each row begins, and the items."""
        starts = np.concatenate(([0], np.cumsum(np.frombuffer(self._counts, dtype=np.int32))))
        return narrow(starts), narrow(np.frombuffer(self._items, dtype=np.int32))


def _pairs(row: Ints, span: Ints, starts: Ints, items: Ints, size: int) -> tuple[Ints, Ints]:
    """Each row with each item of its spans, once, in order: the rows, and the items."""
    owner, at = gather(starts, span)
    keys = np.unique(row[owner].astype(np.int64) * max(1, size) + items[at])
    rows, found = np.divmod(keys, max(1, size))
    return rows, found
