"""What strategies are compared with: the baseline at the sizes that they used, and references
that no agent makes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from workbench.engine.compaction.engine import Compaction, compact
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.model import Model
from workbench.engine.transcript.context import Context
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.experiment.spec import Scope
from workbench.evaluation.metrics import PANEL
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.metric import Metric, MetricInput, Score
from workbench.evaluation.metrics.reference_contexts import Oracle, random_context
from workbench.evaluation.replays.matched import (
    ALLOWED,
    SizedHistory,
    matched,
    stays_larger,
)
from workbench.evaluation.replays.step import CompactionEvent, Mode, Replay, Snapshot

METRICS: tuple[Metric, ...] = tuple(
    BUILTIN[name] for name in (*PANEL, "recall_bound", "tokens_kept")
)
"""What is read of the baseline at a strategy's size."""
NEAR = 0.02
"""Sizes of the messages that differ by no more than this share are equal."""
TRIES = 5
"""Targets that are tried for one size; a model that is asked for summaries is asked once."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """The baseline cut to the size that a compaction came to.

    Attributes:
        boundary: where.
        compaction: of the baseline.
        size: tokens of messages, to which it is cut.
    """

    boundary: int
    compaction: Compaction
    size: int

    @property
    def is_near_enough(self) -> bool:
        """Whether it comes to that size."""
        return _apart(self.compaction, self.size) <= ALLOWED - 1


@dataclass(frozen=True)
class BaselineAtSizes:
    """Cuts one session under the baseline of a run to the sizes that other strategies used, and
    scores it there.

    Contexts and scores are kept, so that strategies of about one size share them; they do not
    depend on the order. At `exam_at`, boundaries beside these, only the exam of the work is asked.
    """

    prepared: Prepared
    preset: Preset
    model: Model
    boundaries: tuple[int, ...]
    shares: tuple[float, ...]
    exam_at: tuple[int, ...] = ()
    _cut: dict[tuple[int, int], Compaction] = field(default_factory=dict, init=False)
    _scores: dict[tuple[int, ...], tuple[Score, ...]] = field(default_factory=dict, init=False)

    def rows(self, replay: Replay) -> Iterator[dict[str, str | int | float | None]]:
        """A row a size and metric of a matched replay: the baseline's value at the sizes that the
        replay used.

        Raises:
            ModelError: the model failed and the baseline has nothing to use otherwise.
        """
        for share in self.shares:
            events = [event for event in replay.events if event.share == share]
            if not events or stays_larger(replay, share):
                continue
            cuts = [self._at_size(event) for event in events]
            scores = self._scored(cuts)
            for metric, score in zip(METRICS, scores, strict=True):
                yield {
                    "strategy": replay.preset,
                    "mode": "matched",
                    "share": share,
                    "baseline": self.preset.name,
                    "metric": metric.name,
                    "value": score.value,
                    "n": score.n,
                    "why": score.why,
                }

    def context(self, event: CompactionEvent) -> Context | None:
        """What the baseline sends at the size that a compaction came to; None where it cannot be
        cut to that size.

        Raises:
            ModelError: as of `rows`.
        """
        cut = self._at_size(event)
        if not cut.is_near_enough:
            return None
        return cut.compaction.sent

    def prepare(self) -> None:
        """Ask for all that does not depend on the sizes that others used.

        Raises:
            ModelError: as of `rows`.
        """
        _ = self._compactions

    @cached_property
    def _compactions(self) -> dict[int, list[Compaction]]:
        """The baseline at the sizes asked for, by boundary."""
        replay = matched(
            self.prepared.session,
            self.preset,
            self.model,
            self.prepared.sizing,
            window=self.prepared.window,
            boundaries=self.boundaries,
            shares=self.shares,
            exam_at=self.exam_at,
        )
        by_boundary: dict[int, list[Compaction]] = {}
        for boundary in (*self.boundaries, *self.exam_at):
            by_boundary[boundary] = []
        for event in replay.events:
            by_boundary[event.at].append(event.compaction)
        return by_boundary

    def _at_size(self, event: CompactionEvent) -> _Cut:
        """The baseline cut to the size that a compaction came to."""
        size = event.compaction.sent.spoken
        boundary = event.at
        compactions = self._compactions[boundary]
        nearest = min(compactions, key=lambda compaction: _apart(compaction, size))
        if _apart(nearest, size) <= NEAR:
            return _Cut(boundary, nearest, size)
        place = (boundary, size)
        if place not in self._cut:
            self._cut[place] = self._nearest(nearest, size)
        return _Cut(boundary, self._cut[place], size)

    def _nearest(self, first_cut: Compaction, size: int) -> Compaction:
        """Of a few targets the one that comes nearest to so many tokens of messages."""
        overhead = first_cut.before.overhead
        window = self.prepared.window
        is_steady = not first_cut.completions or isinstance(self.model, Extractive)
        tries = TRIES if is_steady else 1
        best = first_cut
        cut = first_cut
        target = first_cut.budget.target - overhead
        for number in range(tries):
            sent_tokens = max(cut.sent.spoken, 1)
            target = round(target * size / sent_tokens)
            if is_steady and number == 0:
                target = size  # what fills its size is there at once
            budget = Budget(target=overhead + target, window=window, reason="matched")
            cut = compact(first_cut.before, self.preset.strategy, budget, self.model)
            if _apart(cut, size) < _apart(best, size):
                best = cut
            if best.sent.spoken == size:
                break
        return best

    def _scored(self, cuts: list[_Cut]) -> tuple[Score, ...]:
        """A score for each of `METRICS`; without a value where the baseline cannot be cut to one
        of the sizes.
        """
        if not all(cut.is_near_enough for cut in cuts):
            no_score = Score(None, "the baseline cannot be cut to that size")
            return (no_score,) * len(METRICS)
        key = tuple(id(cut.compaction) for cut in cuts)
        if key not in self._scores:
            self._scores[key] = self._scores_of(cuts)
        return self._scores[key]

    def _scores_of(self, cuts: list[_Cut]) -> tuple[Score, ...]:
        """A score for each of `METRICS`, whatever the sizes."""
        shots: list[Snapshot] = []
        for cut in cuts:
            is_exam_only = cut.boundary in self.exam_at
            shot = Snapshot(cut.boundary, cut.compaction.sent, 0.0, exam_only=is_exam_only)
            shots.append(shot)
        replay = _replay_of(shots, self.preset.name, "matched", self.prepared)
        data = MetricInput(replay, self.prepared.index, 0.0)
        return tuple(metric.score(data) for metric in METRICS)


def _apart(cut: Compaction, size: int) -> float:
    """How far what is sent is from so many tokens of messages, as a share of them."""
    distance = abs(cut.sent.spoken - size)
    return distance / max(size, 1)


def reference_inputs(
    prepared: Prepared,
    spec: Scope,
    sized: Sequence[SizedHistory],
    exam_only: frozenset[int],
) -> Iterator[MetricInput]:
    """What the references are scored by: `random` and `oracle` at every size, `recorded` where it
    was.

    `sized` has the histories that fit their sizes; the seed of `spec` draws the random messages. At
    the boundaries `exam_only` only the exam of the work is asked.
    """
    contexts = ReferenceContexts(prepared, spec.seed)
    shares: list[float] = []
    recorded: list[SizedHistory] = []
    for history in sized:
        if history.share is None:
            recorded.append(history)
        elif history.share not in shares:
            shares.append(history.share)
    for reference in ("random", "oracle"):
        shots: list[Snapshot] = []
        for history in sized:
            context = contexts.of(reference, history)
            is_exam_only = history.share is not None and history.at in exam_only
            shot = Snapshot(history.at, context, history.share, exam_only=is_exam_only)
            shots.append(shot)
        at_shares = _replay_of(shots, reference, "matched", prepared)
        for share in shares:
            yield MetricInput(at_shares, prepared.index, share)
        if recorded:
            at_recorded = _replay_of(shots, reference, "recorded", prepared)
            yield MetricInput(at_recorded, prepared.index)
    if recorded:
        recorded_shots: list[Snapshot] = []
        for history in recorded:
            contexts_there = prepared.recorded[history.at]
            recorded_shots.append(Snapshot(history.at, contexts_there.after))
        sent = _replay_of(recorded_shots, "recorded", "recorded", prepared)
        yield MetricInput(sent, prepared.index)


@dataclass(frozen=True, slots=True)
class ReferenceContexts:
    """The contexts of `random` and `oracle` in one session; `seed` draws the random messages."""

    prepared: Prepared
    seed: int
    histories: dict[int, Context] = field(default_factory=dict)
    oracles: dict[int, Oracle] = field(default_factory=dict)

    def of(self, reference: str, sized_history: SizedHistory) -> Context:
        """The context of a reference at a size."""
        boundary = sized_history.at
        target = sized_history.target
        if reference == "oracle":
            oracle = self._oracle_at(boundary)
            return oracle.context(target)
        session_id = self.prepared.session.id
        draw = f"{self.seed}:{session_id}:{boundary}:{target}"
        history = self._history_at(boundary)
        return random_context(history, target, draw)

    def _history_at(self, boundary: int) -> Context:
        if boundary not in self.histories:
            messages = self.prepared.session.messages
            self.histories[boundary] = self.prepared.sizing.history(messages, boundary)
        return self.histories[boundary]

    def _oracle_at(self, boundary: int) -> Oracle:
        if boundary not in self.oracles:
            exams = Exams.of(self.prepared.index)
            history = self._history_at(boundary)
            self.oracles[boundary] = Oracle(history, exams.at(boundary))
        return self.oracles[boundary]


def _replay_of(shots: Iterable[Snapshot], reference: str, mode: Mode, prepared: Prepared) -> Replay:
    """A replay that has nothing but these contexts."""
    return Replay(
        prepared.session,
        reference,
        mode,
        prepared.window,
        prepared.sizing,
        (),
        (),
        tuple(shots),
    )
