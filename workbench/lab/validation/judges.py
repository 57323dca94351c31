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
from workbench.evaluation.metrics.view import View, view

JUDGES = {
    "exam": "the exam",
    "edits": "lines to edit",
    "stale": "stale values (lower is better)",
    "request": "the request",
    "phrases": "phrases",
    "bound": "bound",
    "presence": "presence",
    "runs": "runs of five words",
    "rare": "rare words",
    "compressed": "compression",
}
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
    content = text.encode(errors="replace")
    filters = [{"id": lzma.FILTER_LZMA2}]
    return len(lzma.compress(content, lzma.FORMAT_RAW, filters=filters))


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
        context_view = view(self.ready.session, context)
        return {
            **self._by_exam(context_view),
            **self._by_changed_values(context_view),
            **self._by_later_use(context_view),
            **self._by_names(context_view),
            **self._by_text(text_of(context.messages)),
        }

    def _by_exam(self, context_view: View) -> dict[str, float]:
        exam = Exams.of(self.ready.index).at(self.at)
        if len(exam.items) < self.fewest:
            return {}
        return {"exam": exam.score(context_view)}

    def _by_changed_values(self, context_view: View) -> dict[str, float]:
        index = self.ready.index
        mask = kept_mask(context_view.kept, index.inverted_index.n)
        stale, values = index.changes.stale(self.at, mask, context_view.texts)
        if not values:
            return {}
        return {"stale": stale / values}

    def _by_later_use(self, context_view: View) -> dict[str, float]:
        """How much is told of the lines and phrases that are used again."""
        later_use = Exams.of(self.ready.index).later_use
        shares = later_use.shares(self.at, context_view)
        return {str(judge): share for judge, share in shares.items()}

    def _by_names(self, context_view: View) -> dict[str, float]:
        demand = self.ready.index.demand(self.at)
        if len(demand) < self.fewest:
            return {}
        retained = demand.retained(context_view.kept, context_view.texts)
        return {
            "bound": retained.mean("bound"),
            "presence": retained.mean("presence"),
        }

    def _by_text(self, text: str) -> dict[str, float]:
        """What the judges say that know neither names nor lines."""
        scores: dict[str, float] = {}
        if len(self._runs) >= self.fewest:
            runs_in_text = self._runs & _runs(text)
            scores["runs"] = len(runs_in_text) / len(self._runs)
        if len(self._rare) >= self.fewest:
            present = _distinct_words(text) & self._rare.keys()
            weight = sum(self._rare[word] for word in present)
            total_weight = sum(self._rare.values())
            scores["rare"] = weight / total_weight
        alone, behind_history = self._packed
        if behind_history < alone:
            saved_by_context = alone - _packed_behind(text, self._future)
            scores["compressed"] = saved_by_context / (alone - behind_history)
        return scores

    @cached_property
    def _past(self) -> Sequence[Message]:
        return self.ready.session.messages[: self.at]

    @cached_property
    def _future(self) -> str:
        end = self.at + HORIZON
        answers: list[Message] = []
        for message in self.ready.session.messages[self.at : end]:
            if isinstance(message, AssistantMessage):
                answers.append(message)
        return text_of(answers)

    @cached_property
    def _runs(self) -> set[tuple[str, ...]]:
        past = text_of(self._past)
        return _runs(self._future) & _runs(past)

    @cached_property
    def _rare(self) -> Mapping[str, float]:
        """The words of the future that are in at most a tenth of the history's messages, by
        rarity.
        """
        message_counts = Counter[str]()
        for message in self._past:
            message_counts.update(_distinct_words(said_text(message)))
        message_limit = max(len(self._past) / 10, 1)
        weights = {}
        for word in _distinct_words(self._future):
            count = message_counts[word]
            if 0 < count <= message_limit:
                weights[word] = log(len(self._past) / count)
        return weights

    @cached_property
    def _packed(self) -> tuple[int, int]:
        """Bytes of the future alone, and behind the whole history."""
        past = text_of(self._past)
        return packed(self._future), _packed_behind(past, self._future)


def _packed_behind(earlier: str, text: str) -> int:
    """The bytes that a text adds to an earlier one."""
    return packed(f"{earlier}\n{text}") - packed(earlier)


def _distinct_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _runs(text: str) -> set[tuple[str, ...]]:
    """All runs of `RUN` words in a text."""
    words = text.split()
    runs: set[tuple[str, ...]] = set()
    for start in range(len(words) - RUN + 1):
        run = words[start : start + RUN]
        runs.add(tuple(run))
    return runs
