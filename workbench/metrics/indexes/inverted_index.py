"""The words and entities of one session as sparse matrices: which message holds which span, which span holds what."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from scipy import sparse

from workbench.extraction.entities import KINDS, Entity, is_file_name
from workbench.extraction.extractor import Extractor, Passage
from workbench.extraction.paths import SameFile, endings
from workbench.extraction.words import words
from workbench.ragged import Flags, Floats, Ints
from workbench.transcript.message import Message

KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}


class InvertedIndex:
    """One session's spans, words and entities, numbered as its extractor numbers them.

    A *place* is one occurrence of a span: places count on through the session, message by message; inside a message
    what was said comes before what was thought. One file under several paths is one entity: `stands_for` names it.

    Attributes:
        n: number of messages.
        spans, words: numbers of spans and of words.
        message_start: (n + 1,) where each message's places begin.
        place_span, place_message: (places,) the span and the message of each place.
        thought: (places,) whether a place is thinking.
        span_words: (spans, words) 1 where a span holds a word; `span_entities` is the same for entities.
        span_messages: (spans, n) 1 where a message says a span.
        names: the entities; a file goes by the shortest ending of its path that no other file of the session has.
        stands_for: (entities,) the entity that stands for each.
        folder: (entities,) whether an entity is the folder of a path that is known as well, and so says nothing of its
            own: no span holds it.
        pair_message, pair_entity: each message with each entity that it says, in order.
        first_seen: (entities,) the first message that says each; n for one that another stands for or that was left
            out. `first_known` counts thoughts as well.
        kind: (entities,) the kind of each, as its place in `KINDS`.
        idf: (words,) how rare each word is: log((n + 1) / (1 + messages that say it)) + 0.1.
    """

    def __init__(self, messages: Sequence[Message], extractor: Extractor) -> None:
        self.extractor = extractor
        self.n = len(messages)
        self._lay_out(extractor.read_messages(messages))
        self.spans, self.words = len(extractor.spans), len(extractor.words)
        span, feature = self._features()
        self._name_files()
        is_word = feature >= 0
        self.span_words = _incidence(span[is_word], feature[is_word], (self.spans, self.words))
        entity = self.stands_for[~feature[~is_word]]
        known = ~self.folder[entity]
        self.span_entities = _incidence(span[~is_word][known], entity[known], (self.spans, len(self.names)))
        self._count()

    def _lay_out(self, said: Sequence[Sequence[Passage]]) -> None:
        passages = [(at, passage) for at, passages in enumerate(said) for passage in passages]
        sizes = [len(passage.spans) for _, passage in passages]
        message = np.repeat(np.array([at for at, _ in passages], dtype=np.int64), sizes)
        thought = np.repeat(np.array([passage.thought for _, passage in passages], dtype=np.bool_), sizes)
        span = np.array([span for _, passage in passages for span in passage.spans], dtype=np.int64)
        order = np.lexsort((thought, message))  # stable: what was said before what was thought
        self.thought: Flags = thought[order]
        self.place_span, self.place_message = span[order], message[order]
        self.message_start: Ints = np.searchsorted(self.place_message, np.arange(self.n + 1))

    def _features(self) -> tuple[Ints, Ints]:
        """Each span with each of its features: n for word n, ~n for entity n."""
        features = self.extractor.features
        beside = [(span, feature) for span, found in self.extractor.more.items() for feature in found]
        more = np.array(beside, dtype=np.int64).reshape(-1, 2)
        span = np.repeat(np.arange(len(features)), list(map(len, features)))
        feature = np.fromiter(chain.from_iterable(features), dtype=np.int64, count=len(span))
        return np.concatenate((span, more[:, 0])), np.concatenate((feature, more[:, 1]))

    def _name_files(self) -> None:
        self.names = self.extractor.names
        self.paths = {entity.text: number for number, entity in enumerate(self.names) if entity.kind == "path"}
        self.files = SameFile(self.paths)
        self.stands_for = np.arange(len(self.names))
        self.kind: Ints = np.array([KIND_NUMBER[entity.kind] for entity in self.names], dtype=np.int64)
        self.folder: Flags = np.zeros(len(self.names), dtype=bool)
        folders = self.files.folders()
        for text, number in self.paths.items():
            stands = self.paths[self.files.of(text) or text]
            self.stands_for[number] = stands
            self.folder[stands] |= text in folders
            if stands == number:
                parts = 1 if is_file_name(text.rpartition("/")[2]) else 3
                self.names[number] = Entity("path", self.files.short(text, parts))

    def _count(self) -> None:
        shape = (self.n, self.spans)
        said = _incidence(self.place_message[~self.thought], self.place_span[~self.thought], shape)
        known = _incidence(self.place_message, self.place_span, shape)
        self.span_messages = said.T.tocsr()
        message_entities = _flags(said @ self.span_entities)
        self.pair_message: Ints = np.repeat(np.arange(self.n), np.diff(message_entities.indptr))
        self.pair_entity: Ints = message_entities.indices
        self.first_seen = _first_rows(message_entities)
        self.first_known = _first_rows(_flags(known @ self.span_entities))
        counts = np.bincount((said @ self.span_words).indices, minlength=self.words)
        self.idf: Floats = np.log((self.n + 1) / (1 + counts)) + 0.1

    def word(self, text: str) -> int:
        """The number of a word; -1 for one that the session does not have."""
        number = self.extractor.words.get(text, self.words)
        return number if number < self.words else -1

    def spans_with_word(self, text: str) -> Ints:
        """The spans that hold a word, in order."""
        number, (starts, spans) = self.word(text), self._of_word
        return spans[starts[number] : starts[number + 1]] if number >= 0 else spans[:0]

    def spans_with_entity(self, entity: int) -> Ints:
        """The spans that hold an entity, in order."""
        starts, spans = self.of_entity
        return spans[starts[entity] : starts[entity + 1]]

    def places_of(self, span: int) -> Ints:
        """Where a span occurs, in order."""
        starts, places = self.of_span
        return places[starts[span] : starts[span + 1]]

    @cached_property
    def of_entity(self) -> tuple[Ints, Ints]:
        """The spans that hold each entity: where each entity's begin (entities + 1,), and the spans."""
        columns = self.span_entities.tocsc()
        return columns.indptr, columns.indices

    @cached_property
    def _of_word(self) -> tuple[Ints, Ints]:
        columns = self.span_words.tocsc()
        return columns.indptr, columns.indices

    @cached_property
    def of_span(self) -> tuple[Ints, Ints]:
        """The places of each span: where each span's begin (spans + 1,), and the places in order."""
        counts = np.bincount(self.place_span, minlength=self.spans)
        return np.concatenate(([0], np.cumsum(counts))), np.argsort(self.place_span, kind="stable")

    @cached_property
    def span_first(self) -> Ints:
        """(spans,) the first message of each span; n for one that stands in no message."""
        return self._first_messages(np.arange(len(self.place_span)))

    @cached_property
    def span_said(self) -> Ints:
        """(spans,) the first message that says each span, not only thinks it; n for one that nobody says."""
        return self._first_messages(np.flatnonzero(~self.thought))

    def _first_messages(self, places: Ints) -> Ints:
        first: Ints = np.full(self.spans, self.n)
        first[self.place_span[places[::-1]]] = self.place_message[places[::-1]]  # backwards: the first one stays
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

    @property
    def texts(self) -> Sequence[str]:
        """The text of each span."""
        return self.extractor.spans

    def own_words(self, entity: int) -> list[int]:
        """The words of an entity itself: they prove nothing about what stands beside it."""
        return [number for word in words(self.names[entity].text) if (number := self.word(word)) >= 0]


def row_of(matrix: sparse.csr_array, row: int) -> Ints:
    """The columns that a row holds, in order."""
    columns: Ints = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
    return columns


def rows_of(matrix: sparse.csr_array, rows: Ints) -> tuple[Ints, Ints]:
    """The columns that some rows hold, row after row, and how many each of them holds."""
    starts = matrix.indptr[rows]
    sizes = matrix.indptr[rows + 1] - starts
    ends = np.cumsum(sizes)
    at = np.arange(sizes.sum()) + np.repeat(starts - ends + sizes, sizes)
    return matrix.indices[at], sizes


def _incidence(rows: Ints, columns: Ints, shape: tuple[int, int]) -> sparse.csr_array:
    """A matrix with 1 where a row holds a column, however often it is named."""
    return _flags(sparse.csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=shape))


def _flags(matrix: sparse.csr_array) -> sparse.csr_array:
    """The matrix with 1 for whatever it counts, the columns of each row in order."""
    matrix.sum_duplicates()
    matrix.sort_indices()
    matrix.data[:] = 1
    return matrix


def _first_rows(matrix: sparse.csr_array) -> Ints:
    """For each column the first row that holds it; the number of rows where none does."""
    n, columns = matrix.shape
    first: Ints = np.full(columns, n)
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    first[matrix.indices[::-1]] = rows[::-1]  # backwards: the first one stays
    return first
