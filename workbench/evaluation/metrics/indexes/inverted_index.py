"""The words and entities of one session as sparse matrices: which message holds which span,
which span holds what.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.base.ragged import Flags, Floats, Ints, ranges
from workbench.engine.extraction.entities import KINDS, Entity, is_file_name
from workbench.engine.extraction.extractor import Extractor
from workbench.engine.extraction.paths import SameFile, endings
from workbench.engine.extraction.words import words
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.sources import sources


class InvertedIndex:
    """One session's spans, words and entities, numbered as its extractor numbers them.

    A *place* is one occurrence of a span: places count on through the session, message by message;
    inside a message what was said comes before what was thought. One file under several paths is
    one entity: `stands_for` names it.

    Attributes:
        messages: the session's; `n`, `spans`, `words` count messages, spans and words.
        message_start: (n + 1,) where each message's places begin.
        place_span, place_message, thought: (places,) the span and the message of each, and whether
            it is thinking.
        span_words, span_entities, span_messages: (spans, ...) 1 where a span holds a word or an
            entity, and where a message says it.
        names: the entities; a file goes by the shortest ending of its path that no other file of
            the session has.
        kind, stands_for: (entities,) the place of each one's kind in `KINDS`, and the entity that
            represents it.
        folder: (entities,) whether an entity is no more than the folder of a known path: no span
            holds it.
        message_entities: (n, entities) 1 where a message says an entity.
        pair_message, pair_entity: each message with each entity that it says, in order.
        first_seen: (entities,) the first message that says each; n where there is none.
            `first_known` counts thoughts.
        idf: (words,) how rare each word is: log((n + 1) / (1 + messages that say it)) + 0.1.
        exams: what `Exams.of` made of it, which goes when it goes.
    """

    exams: object = None

    def __init__(self, messages: Sequence[Message], extractor: Extractor) -> None:
        self.messages, self.extractor, self.n = messages, extractor, len(messages)
        passages = [
            (at, *passage)
            for at, read in enumerate(extractor.read_messages(messages))
            for passage in read
        ]
        span = np.fromiter(chain.from_iterable(spans for _, spans, _ in passages), dtype=np.int64)
        sizes = [len(spans) for _, spans, _ in passages]
        message = np.repeat(np.array([at for at, _, _ in passages], dtype=np.int64), sizes)
        is_thought = np.repeat(np.array([thought for _, _, thought in passages], dtype=bool), sizes)
        order = np.lexsort((is_thought, message))  # stable: what was said before what was thought
        self.place_message, self.place_span = message[order], span[order]
        self.thought: Flags = is_thought[order]
        self.message_start: Ints = np.searchsorted(self.place_message, np.arange(self.n + 1))
        self.spans, self.words = len(extractor.spans), len(extractor.words)
        self._name_files()
        self.span_words, self.span_entities = self.holdings(range(self.spans))
        self._count()

    def _name_files(self) -> None:
        self.names = self.extractor.names
        self.paths = {
            entity.text: number for number, entity in enumerate(self.names) if entity.kind == "path"
        }
        self.files = SameFile(self.paths)
        self.stands_for = np.arange(len(self.names))
        self.kind: Ints = np.array(
            [KINDS.index(entity.kind) for entity in self.names], dtype=np.int64
        )
        self.folder: Flags = np.zeros(len(self.names), dtype=bool)
        folders = self.files.folders()
        for text, number in self.paths.items():
            stands = self.paths[self.files.of(text) or text]
            self.stands_for[number] = stands
            self.folder[stands] |= text in folders
            if stands == number:
                parts = 1 if is_file_name(text.rpartition("/")[2]) else 3
                self.names[number] = Entity("path", self.files.short(text, parts))
        self._same: Ints = np.where(self.folder[self.stands_for], -1, self.stands_for)

    def holdings(self, spans: Sequence[int]) -> tuple[sparse.csr_array, sparse.csr_array]:
        """(rows, words) and (rows, entities) of the session, 1 where a span holds one.

        Args:
            spans: one a row, by number; also of texts that were read after the session.
        """
        read = [self.extractor.features[span] + self.extractor.more.get(span, ()) for span in spans]
        row = np.repeat(np.arange(len(read)), list(map(len, read)))
        feature = np.fromiter(chain.from_iterable(read), dtype=np.int64, count=len(row))
        is_word = (feature >= 0) & (feature < self.words)
        entity = self.standing_for(~feature[feature < 0])
        return (
            incidence(row[is_word], feature[is_word], (len(read), self.words)),
            incidence(
                row[feature < 0][entity >= 0], entity[entity >= 0], (len(read), len(self.names))
            ),
        )

    def standing_for(self, entities: Ints) -> Ints:
        """The session's entity that each of the extractor's entities is the same as; -1 where
        the session has none.
        """
        if len(self._same) < len(self.extractor.entities):
            later = self.extractor.names[len(self._same) :]
            known = [self.files.of(text) if kind == "path" else None for kind, text in later]
            same = [-1 if path is None else int(self._same[self.paths[path]]) for path in known]
            self._same = np.concatenate((self._same, np.array(same, dtype=np.int64)))
        return self._same[entities]

    def _count(self) -> None:
        shape = (self.n, self.spans)
        said = incidence(self.place_message[~self.thought], self.place_span[~self.thought], shape)
        known = incidence(self.place_message, self.place_span, shape)
        self.span_messages = said.T.tocsr()
        self.message_entities = said @ self.span_entities
        self.message_entities.sort_indices()
        self.pair_message, self.pair_entity = pairs_of(self.message_entities)
        self.first_seen = first_row(self.pair_message, self.pair_entity, (self.n, len(self.names)))
        self.first_known = first_row(
            *pairs_of(known @ self.span_entities), (self.n, len(self.names))
        )
        counts = np.bincount((said @ self.span_words).indices, minlength=self.words)
        self.idf: Floats = np.log((self.n + 1) / (1 + counts)) + 0.1

    def word(self, text: str) -> int:
        """The number of a word; -1 for one that the session does not have."""
        number = self.extractor.words.get(text, self.words)
        return number if number < self.words else -1

    def spans_with_word(self, text: str) -> Ints:
        """The spans that hold a word, in order."""
        number = self.word(text)
        return row_of(self._word_spans, number) if number >= 0 else np.zeros(0, dtype=np.int64)

    def spans_with_entity(self, entity: int) -> Ints:
        """The spans that hold an entity, in order."""
        return row_of(self._entity_spans, entity)

    def messages_of(self, span: int) -> list[int]:
        """The messages that say a span, in order."""
        return list(map(int, row_of(self.span_messages, span)))

    @cached_property
    def sources(self) -> NDArray[np.str_]:
        """(n,) for each message what kind of source it is."""
        return np.array(sources(self.messages), dtype=np.str_)

    @cached_property
    def _entity_spans(self) -> sparse.csr_array:
        return self.span_entities.T.tocsr()

    @cached_property
    def _word_spans(self) -> sparse.csr_array:
        return self.span_words.T.tocsr()

    @cached_property
    def span_first(self) -> Ints:
        """(spans,) the first message of each span; n for one that is in no message."""
        return first_row(self.place_message, self.place_span, (self.n, self.spans))

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
        """The text of each span, also of one that only a later text holds."""
        return self.extractor.spans

    def word_numbers(self, text: str) -> list[int]:
        """The words of a text that the session has."""
        return [number for word in words(text) if (number := self.word(word)) >= 0]


def incidence(rows: Ints, columns: Ints, shape: tuple[int, int]) -> sparse.csr_array:
    """A matrix with 1 where a row holds a column, however often it is named; the columns of each
    row are in order.
    """
    matrix = sparse.csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def row_of(matrix: sparse.csr_array, row: int) -> Ints:
    """The columns that a row holds, in order."""
    columns: Ints = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
    return columns


def pairs_of(matrix: sparse.csr_array, rows: Ints | None = None) -> tuple[Ints, Ints]:
    """Each row, or each place of some rows, with each column that it holds, row after row."""
    if rows is None:
        return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices
    place, at = ranges(matrix.indptr[rows], matrix.indptr[rows + 1] - matrix.indptr[rows])
    return place, matrix.indices[at]


def first_row(rows: Ints, columns: Ints, shape: tuple[int, int]) -> Ints:
    """For each column the first row that holds it; the number of rows where none does. Rows are
    in growing order.
    """
    first: Ints = np.full(shape[1], shape[0])
    first[columns[::-1]] = rows[::-1]  # backwards: the first one stays
    return first
