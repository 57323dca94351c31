"""The index of one session: extracted once, asked any number of times."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from workbench.base.ragged import Flags, Ints, kept_mask
from workbench.engine.extraction.entities import Entity
from workbench.engine.extraction.extractor import Extractor
from workbench.engine.transcript.message import Message
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
        self, messages: Sequence[Message], cwd: str = "", background: frozenset[Entity] = BACKGROUND
    ) -> None:
        self.messages = tuple(messages)
        self.extractor = Extractor(cwd)
        super().__init__(InvertedIndex(self.messages, self.extractor))
        self.background = background
        self._demands: dict[int, Demand] = {}
        self.work_reading: object = None  # of `work_exam.reading`, which is made of an index
        self.code_reading: object = None  # of `code.reading`, likewise
        self.statement_readings: dict[tuple[int, ...], object] = {}  # the same, by boundaries

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Every lexical entity of the session, each once: a file under one of its names."""
        p = self.inverted_index
        return tuple(p.names[number] for number in np.flatnonzero(p.first_seen < p.n).tolist())

    def demand(self, at: int) -> Demand:
        """What the recording after `messages[:at]` needed of it; worked out once a boundary."""
        if at not in self._demands:
            self._demands[at] = Demand(self, at, self._wanted)
        return self._demands[at]

    def used(self, at: int) -> Demand:
        """Like `demand`, with what somebody said again after the boundary and before its use.
        Not kept.
        """
        return Demand(self, at, self._wanted, said_again=True)

    @cached_property
    def everything(self) -> tuple[Ints, Ints]:
        """Lexical entities, then statements: the first message of each (n for background), and
        its place in `KINDS`.
        """
        p = self.inverted_index
        first = np.where(self._wanted, p.first_seen, p.n)
        return np.concatenate((first, self.statements.first)), np.concatenate(
            (p.kind, self.statements.kinds)
        )

    def held(self, mask: Flags, texts: Iterable[str] = ()) -> Flags:
        """For each of `everything` whether a context of these messages and texts still holds it."""
        p, texts = self.inverted_index, tuple(texts)
        held = kept_mask(pairs_of(p.message_entities, np.flatnonzero(mask))[1], len(p.names))
        if texts:
            held[self.read(texts).entities] = True
        return np.concatenate((held, self.statements.held(mask, texts)))

    @cached_property
    def statements(self) -> StatementIndex:
        """The statements of the session."""
        return StatementIndex(self)

    @cached_property
    def support(self) -> Support:
        """What the history supports of what summaries say."""
        return Support(self)

    @cached_property
    def work(self) -> Work:
        """The work that was announced."""
        return Work(self, self.statements)

    @cached_property
    def changes(self) -> Changes:
        """The values that were replaced."""
        return Changes(self)

    @cached_property
    def _wanted(self) -> Flags:
        """For each entity whether a use of it would count: all but background, as it was said or
        as a file goes by.
        """
        p, numbers = self.inverted_index, self.extractor.entities
        wanted = np.ones(len(p.names), dtype=bool)
        paths = {entity.text for entity in self.background if entity.kind == "path"}
        found = [numbers.get(entity, len(wanted)) for entity in self.background]
        found += [number for number in p.paths.values() if p.names[number].text in paths]
        wanted[[number for number in found if number < len(wanted)]] = False
        return wanted
