"""The words and entities of one session as sparse matrices: which message holds which span,
which span holds what.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.base.ragged import Flags, Floats, Ints, integers, ranges
from workbench.engine.extraction.entities import KINDS, Entity, is_file_name
from workbench.engine.extraction.extractor import Extractor
from workbench.engine.extraction.paths import SameFile, endings
from workbench.engine.extraction.words import words
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.indexes.arrays import flags
from workbench.evaluation.metrics.sources import (
    WAYS,
    commands_of,
    results_of_git,
    sources,
    texts_in_files,
    ways_back,
)


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
        self.messages = messages
        self.extractor = extractor
        self.n = len(messages)
        self._set_places()
        self.spans = len(extractor.spans)
        self.words = len(extractor.words)
        self._name_files()
        all_spans = range(self.spans)
        self.span_words = self.words_in(all_spans)
        self.span_entities = self.entities_in(all_spans)
        self._count()

    def _set_places(self) -> None:
        """Note each occurrence of a span."""
        spans: list[int] = []
        messages: list[int] = []
        thoughts: list[bool] = []
        passages_by_message = self.extractor.read_messages(self.messages)
        for index, passages in enumerate(passages_by_message):
            for passage_spans, is_thought in passages:
                span_count = len(passage_spans)
                spans += passage_spans
                messages += [index] * span_count
                thoughts += [is_thought] * span_count
        span = integers(spans)
        message = integers(messages)
        thought = np.array(thoughts, dtype=bool)
        order = np.lexsort((thought, message))  # stable: what was said before what was thought
        self.place_message = message[order]
        self.place_span = span[order]
        self.thought: Flags = thought[order]
        bounds = np.arange(self.n + 1)
        self.message_start: Ints = np.searchsorted(self.place_message, bounds)

    def _name_files(self) -> None:
        """Find out which paths are one file, and give each file one name."""
        self.names = self.extractor.names
        self.paths: dict[str, int] = {}
        for number, entity in enumerate(self.names):
            if entity.kind == "path":
                self.paths[entity.text] = number
        self.files = SameFile(self.paths)
        entity_count = len(self.names)
        kinds = [KINDS.index(entity.kind) for entity in self.names]
        self.kind: Ints = integers(kinds)
        self.stands_for = np.arange(entity_count)
        self.folder: Flags = np.zeros(entity_count, dtype=bool)
        folders = self.files.folders()
        for text, number in self.paths.items():
            file = self.files.of(text) or text
            representative = self.paths[file]
            self.stands_for[number] = representative
            self.folder[representative] |= text in folders
            if representative == number:
                name = self._short_path(text)
                self.names[number] = Entity("path", name)
        is_folder = self.folder[self.stands_for]
        self._same: Ints = np.where(is_folder, -1, self.stands_for)

    def _short_path(self, path: str) -> str:
        """The shortest ending of a file's path that no other file of the session has."""
        file_name = path.rpartition("/")[2]
        if is_file_name(file_name):
            return self.files.short(path, 1)
        return self.files.short(path, 3)

    def words_in(self, spans: Sequence[int]) -> sparse.csr_array:
        """(rows, words) of the session, 1 where a span holds one.

        Args:
            spans: one a row, by number; also of texts that were read after the session.
        """
        row, feature = self._features_in(spans)
        is_of_session = feature < self.words
        is_word = (feature >= 0) & is_of_session
        return incidence(
            row[is_word],
            feature[is_word],
            (len(spans), self.words),
        )

    def entities_in(self, spans: Sequence[int]) -> sparse.csr_array:
        """(rows, entities) of the session, the same for entities."""
        row, feature = self._features_in(spans)
        is_entity = feature < 0
        entity_feature = feature[is_entity]
        entity = self.standing_for(~entity_feature)
        entity_row = row[is_entity]
        is_known_entity = entity >= 0
        return incidence(
            entity_row[is_known_entity],
            entity[is_known_entity],
            (len(spans), len(self.names)),
        )

    def _features_in(self, spans: Sequence[int]) -> tuple[Ints, Ints]:
        """Each row of some spans with each feature of its span, as the extractor numbers it."""
        extractor = self.extractor
        features = [extractor.features[span] + extractor.more.get(span, ()) for span in spans]
        feature_counts = list(map(len, features))
        rows = np.arange(len(spans))
        row = np.repeat(rows, feature_counts)
        all_features = chain.from_iterable(features)
        return row, integers(all_features)

    def standing_for(self, entities: Ints) -> Ints:
        """The session's entity that each of the extractor's entities is the same as; -1 where
        the session has none.
        """
        looked_up = len(self._same)
        entity_count = len(self.extractor.entities)
        if looked_up < entity_count:
            later_names = self.extractor.names[looked_up:]
            numbers = map(self._same_of_later, later_names)
            same_as_later = integers(numbers)
            self._same = np.concatenate((self._same, same_as_later))
        return self._same[entities]

    def _same_of_later(self, name: Entity) -> int:
        """The session's entity for one that a later text brought; -1 for none."""
        if name.kind != "path":
            return -1
        path = self.files.of(name.text)
        if path is None:
            return -1
        number = self.paths[path]
        return int(self._same[number])

    def _count(self) -> None:
        """Count which message says what, and when each thing was first said."""
        is_said = ~self.thought
        said_span = self.place_span[is_said]
        said_message = self.place_message[is_said]
        span_shape = (self.n, self.spans)
        message_spans = incidence(
            said_message,
            said_span,
            span_shape,
        )
        self.span_messages = message_spans.T.tocsr()
        self.message_entities = message_spans @ self.span_entities
        self.message_entities.sort_indices()
        self.pair_message, self.pair_entity = pairs_of(self.message_entities)
        entity_shape = (self.n, len(self.names))
        self.first_seen = first_row(
            self.pair_message,
            self.pair_entity,
            entity_shape,
        )
        said_or_thought = incidence(
            self.place_message,
            self.place_span,
            span_shape,
        )
        message_entities = said_or_thought @ self.span_entities
        message, entity = pairs_of(message_entities)
        self.first_known = first_row(message, entity, entity_shape)
        message_words = message_spans @ self.span_words
        message_counts = np.bincount(
            message_words.indices,
            minlength=self.words,
        )
        rarity = (self.n + 1) / (1 + message_counts)
        self.idf: Floats = np.log(rarity) + 0.1

    def word(self, text: str) -> int:
        """The number of a word; -1 for one that the session does not have."""
        number = self.extractor.words.get(text, -1)
        if number >= self.words:
            return -1
        return number

    def spans_with_word(self, text: str) -> Ints:
        """The spans that hold a word, in order."""
        number = self.word(text)
        if number < 0:
            return np.zeros(0, dtype=np.int64)
        return row_of(self._word_spans, number)

    def spans_with_entity(self, entity: int) -> Ints:
        """The spans that hold an entity, in order."""
        return row_of(self._entity_spans, entity)

    def messages_of(self, span: int) -> list[int]:
        """The messages that say a span, in order."""
        row = row_of(self.span_messages, span)
        messages: list[int] = row.tolist()
        return messages

    @cached_property
    def sources(self) -> NDArray[np.str_]:
        """(n,) for each message what kind of source it is."""
        kinds = sources(self.messages)
        return np.array(kinds, dtype=np.str_)

    @cached_property
    def ways_back(self) -> Ints:
        """(n,) what would bring back what only each message says, as a place in `WAYS`."""
        ways = ways_back(self.messages, self.sources.tolist())
        return integers(WAYS.index(way) for way in ways)

    @cached_property
    def is_result(self) -> Flags:
        """(n,) whether each message is a tool's result."""
        return flags(message.role == "tool" for message in self.messages)

    @cached_property
    def runs_command(self) -> Flags:
        """(n,) whether each message is an answer that runs something in a shell."""
        runs: list[bool] = []
        for message in self.messages:
            commands = commands_of(message)
            runs.append(any(commands))
        return flags(runs)

    @cached_property
    def shows_commits(self) -> Flags:
        """(n,) whether each message is the result of a command of git."""
        return np.array(results_of_git(self.messages), dtype=bool)

    @cached_property
    def spans_in_files(self) -> Ints:
        """Each span that an answer puts in a file, or by which it names one, as the number of its
        message times `spans` plus its own.
        """
        pairs: set[int] = set()
        for message, text in texts_in_files(self.messages):
            first_pair = message * self.spans
            for span in self.extractor.read(text):
                pair = first_pair + span
                pairs.add(pair)
        return integers(sorted(pairs))

    @cached_property
    def _entity_spans(self) -> sparse.csr_array:
        return self.span_entities.T.tocsr()

    @cached_property
    def _word_spans(self) -> sparse.csr_array:
        return self.span_words.T.tocsr()

    @cached_property
    def span_first(self) -> Ints:
        """(spans,) the first message of each span; n for one that is in no message."""
        shape = (self.n, self.spans)
        return first_row(self.place_message, self.place_span, shape)

    @cached_property
    def first_ending(self) -> dict[str, int]:
        """For each ending of a path, but the whole, the first message that knows such a path."""
        first_by_ending: dict[str, int] = {}
        for text, number in self.paths.items():
            file = self.stands_for[number]
            first_message = int(self.first_known[file])
            for ending in endings(text):
                if ending == text:
                    continue
                earliest = first_by_ending.get(ending, self.n)
                first_by_ending[ending] = min(earliest, first_message)
        return first_by_ending

    @property
    def texts(self) -> Sequence[str]:
        """The text of each span, also of one that only a later text holds."""
        return self.extractor.spans

    def word_numbers(self, text: str) -> list[int]:
        """The words of a text that the session has."""
        numbers: list[int] = []
        for word in words(text):
            number = self.word(word)
            if number >= 0:
                numbers.append(number)
        return numbers


def incidence(rows: Ints, columns: Ints, shape: tuple[int, int]) -> sparse.csr_array:
    """A matrix with 1 where a row holds a column, however often it is named; the columns of each
    row are in order.
    """
    pair_count = len(rows)
    ones = np.ones(pair_count, dtype=np.int32)
    pairs = (rows, columns)
    matrix = sparse.csr_array((ones, pairs), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def row_of(matrix: sparse.csr_array, row: int) -> Ints:
    """The columns that a row holds, in order."""
    start = matrix.indptr[row]
    stop = matrix.indptr[row + 1]
    columns: Ints = matrix.indices[start:stop]
    return columns


def pairs_of(matrix: sparse.csr_array, rows: Ints | None = None) -> tuple[Ints, Ints]:
    """Each row, or each place of some rows, with each column that it holds, row after row."""
    if rows is None:
        column_counts = np.diff(matrix.indptr)
        row_count = matrix.shape[0]
        row = np.repeat(np.arange(row_count), column_counts)
        return row, matrix.indices
    start = matrix.indptr[rows]
    stop = matrix.indptr[rows + 1]
    row, place = ranges(start, stop - start)
    return row, matrix.indices[place]


def first_row(rows: Ints, columns: Ints, shape: tuple[int, int]) -> Ints:
    """For each column the first row that holds it, or the number of rows; rows grow."""
    row_count, column_count = shape
    first_rows: Ints = np.full(column_count, row_count)
    # backwards: the first one stays
    last_columns_first = columns[::-1]
    first_rows[last_columns_first] = rows[::-1]
    return first_rows
