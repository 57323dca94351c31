"""The index of one session: extracted once, asked any number of times."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import compress

import numpy as np

from workbench.base.ragged import Flags, Ints, kept_mask
from workbench.engine.extraction.entities import Entity
from workbench.engine.extraction.extractor import Extractor
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.apparent_needs import ApparentNeeds
from workbench.evaluation.metrics.background import BACKGROUND
from workbench.evaluation.metrics.demand import Demand
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex, pairs_of
from workbench.evaluation.metrics.indexes.text_index import StatementIndex, TextIndex
from workbench.evaluation.metrics.state.superseded import Changes
from workbench.evaluation.metrics.state.work import Work
from workbench.evaluation.metrics.unsupported import Support


class Index(TextIndex):
    """The words, entities and statements of one session, for whatever contexts are held against it.

    Args:
        messages: the whole recording.
        cwd: the folder that relative paths start from; empty if unknown.
        background: entities that need no context.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        cwd: str = "",
        background: frozenset[Entity] = BACKGROUND,
    ) -> None:
        self.messages = tuple(messages)
        self.extractor = Extractor(cwd)
        inverted_index = InvertedIndex(self.messages, self.extractor)
        super().__init__(inverted_index)
        self.background = background
        self._demands: dict[int, Demand] = {}
        self.work_reading: object = None  # of `work_exam.reading`, which is made of an index
        self.code_reading: object = None  # of `code.reading`, likewise
        self.edited_lines: object = None  # of `code.edited_lines`, likewise
        self.needs: object = None  # of a simulation, likewise
        self.recorded_work: object = None  # of `work_exam.reading` too

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Every lexical entity of the session, each once: a file under one of its names."""
        index = self.inverted_index
        is_said = index.first_seen < index.n
        said_names = compress(index.names, is_said)
        return tuple(said_names)

    def demand(self, boundary: int) -> Demand:
        """What the recording after `messages[:boundary]` needed of it; worked out once."""
        if boundary not in self._demands:
            demand = Demand(self, boundary, self._countable)
            self._demands[boundary] = demand
        return self._demands[boundary]

    def used(self, boundary: int) -> Demand:
        """Like `demand`, with what somebody said again after the boundary and before its use.
        Not kept.
        """
        return Demand(
            self,
            boundary,
            self._countable,
            said_again=True,
        )

    @cached_property
    def everything(self) -> tuple[Ints, Ints]:
        """Lexical entities, then statements: the first message of each (n for background), and
        its place in `KINDS`.
        """
        index = self.inverted_index
        first_of_entities = np.where(self._countable, index.first_seen, index.n)
        first_message = np.concatenate((first_of_entities, self.statements.first))
        kind = np.concatenate((index.kind, self.statements.kinds))
        return first_message, kind

    def held(self, mask: Flags, texts: Iterable[str] = ()) -> Flags:
        """For each of `everything` whether a context of these messages and texts still holds it."""
        first_message, _ = self.everything
        messages = np.flatnonzero(mask)
        places = self.places_held(messages, texts)
        return kept_mask(places, len(first_message))

    def places_held(self, messages: Ints, texts: Iterable[str] = ()) -> Ints:
        """The places in `everything` of what a context of these messages and texts still holds;
        some of them several times.
        """
        index = self.inverted_index
        texts = tuple(texts)
        _, of_messages = pairs_of(index.message_entities, messages)
        of_texts = self.read(texts).entities
        statements = self.statements.held(messages, texts)
        return np.concatenate((of_messages, of_texts, len(index.names) + statements))

    @cached_property
    def statements(self) -> StatementIndex:
        """The statements of the session."""
        return StatementIndex(self)

    @cached_property
    def support(self) -> Support:
        """What the history supports of what summaries say."""
        return Support(self)

    @cached_property
    def apparent_needs(self) -> ApparentNeeds:
        """Which needs only look like needs."""
        return ApparentNeeds(self.inverted_index)

    @cached_property
    def work(self) -> Work:
        """The work that was announced."""
        return Work(self, self.statements)

    @cached_property
    def changes(self) -> Changes:
        """The values that were replaced."""
        return Changes(self)

    @cached_property
    def _countable(self) -> Flags:
        """For each entity whether a use of it would count: all but background, as it was said or
        as a file goes by.
        """
        index = self.inverted_index
        numbers = self.extractor.entities
        entity_count = len(index.names)
        is_countable = np.ones(entity_count, dtype=bool)
        for entity in self.background:
            number = numbers.get(entity)
            if number is not None and number < entity_count:
                is_countable[number] = False
        background_paths: set[str] = set()
        for entity in self.background:
            if entity.kind == "path":
                background_paths.add(entity.text)
        for number in index.paths.values():
            name = index.names[number]
            if name.text in background_paths:
                is_countable[number] = False
        return is_countable
