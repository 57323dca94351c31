"""Judges of contexts that need no model: the exam, the panel, and three that know neither names nor
lines.

These three take the words of the answers to come as they stand, split at blanks or read by a
compressor.
"""

from __future__ import annotations

import lzma
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

from workbench.base.ragged import kept_mask
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import AssistantMessage, Message, said_text
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.view import view

JUDGES = {
    "exam": "the exam", "edits": "lines to edit", "stale": "stale values (lower is better)", "request": "the request",
    "phrases": "phrases", "bound": "bound", "presence": "presence", "runs": "runs of five words",
    "rare": "rare words", "compressed": "compression",
}  # fmt: skip
"""Each judge with what it looks at."""
FEWEST = 5
"""Questions, names or words that a judge needs at a boundary."""
RUN = 5
_WORD = re.compile(r"\w{3,}")


def text_of(messages: Iterable[Message]) -> str:
    """What messages say, as one text."""
    return "\n".join(map(said_text, messages))


def packed(text: str) -> int:
    """The bytes of a text behind a compressor that looks back over the whole of it."""
    return len(
        lzma.compress(
            text.encode(errors="replace"), lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2}]
        )
    )


@dataclass(frozen=True, eq=False)
class Judged:
    """One boundary of one session: what came then, and what each judge says of contexts.

    Attributes:
        fewest: questions, names or words that a judge needs.
    """

    ready: Prepared
    at: int
    fewest: int = FEWEST

    def scores(self, context: Context) -> dict[str, float]:
        """By judge; without those that have too little to go by here. In [0, 1] but the exam,
        whose 0 is guessing.
        """
        prepared_session, boundary, context_view = (
            self.ready,
            self.at,
            view(self.ready.session, context),
        )
        index, exams = prepared_session.index, Exams.of(prepared_session.index)
        scores: dict[str, float] = {}
        if len(exams.at(boundary).items) >= self.fewest:
            scores["exam"] = exams.at(boundary).score(context_view)
        stale, values = index.changes.stale(
            boundary, kept_mask(context_view.kept, index.inverted_index.n), context_view.texts
        )
        if values:
            scores["stale"] = stale / values
        scores |= {
            str(judge): share
            for judge, share in exams.later_use.shares(boundary, context_view).items()
        }
        if len(index.demand(boundary)) >= self.fewest:
            retained = index.demand(boundary).retained(context_view.kept, context_view.texts)
            scores |= {"bound": retained.mean("bound"), "presence": retained.mean("presence")}
        return scores | self._by_text(text_of(context.messages))

    def _by_text(self, text: str) -> dict[str, float]:
        scores: dict[str, float] = {}
        if len(self._runs) >= self.fewest:
            scores["runs"] = len(self._runs & _runs(text)) / len(self._runs)
        if len(self._rare) >= self.fewest:
            context_words = set(_WORD.findall(text.lower()))
            scores["rare"] = sum(
                self._rare[word] for word in context_words & self._rare.keys()
            ) / sum(self._rare.values())
        alone, behind_history = self._packed
        if behind_history < alone:
            scores["compressed"] = (alone - packed(f"{text}\n{self._future}") + packed(text)) / (
                alone - behind_history
            )
        return scores

    @cached_property
    def _past(self) -> Sequence[Message]:
        return self.ready.session.messages[: self.at]

    @cached_property
    def _future(self) -> str:
        later_messages = self.ready.session.messages[self.at : self.at + HORIZON]
        return text_of(
            message for message in later_messages if isinstance(message, AssistantMessage)
        )

    @cached_property
    def _runs(self) -> set[tuple[str, ...]]:
        return _runs(self._future) & _runs(text_of(self._past))

    @cached_property
    def _rare(self) -> Mapping[str, float]:
        """The words of the future that are in at most a tenth of the history's messages, by
        rarity.
        """
        message_counts = Counter(
            word for message in self._past for word in {*_WORD.findall(said_text(message).lower())}
        )
        message_limit = max(len(self._past) / 10, 1)
        return {
            word: log(len(self._past) / message_counts[word])
            for word in {*_WORD.findall(self._future.lower())}
            if 0 < message_counts[word] <= message_limit
        }

    @cached_property
    def _packed(self) -> tuple[int, int]:
        """Bytes of the future alone, and behind the whole history."""
        past = text_of(self._past)
        return packed(self._future), packed(f"{past}\n{self._future}") - packed(past)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return set(zip(*(words[start:] for start in range(RUN)), strict=False))
