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
            for metric, score in zip(
                METRICS, self._scored([self._at_size(event) for event in events]), strict=True
            ):
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
        _, compaction, size = self._at_size(event)
        return compaction.sent if _apart(compaction, size) <= ALLOWED - 1 else None

    def prepare(self) -> None:
        """Ask for all that does not depend on the sizes that others used.

        Raises:
            ModelError: as of `rows`.
        """
        _ = self._asked

    @cached_property
    def _asked(self) -> dict[int, list[Compaction]]:
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
        asked: dict[int, list[Compaction]] = {}
        for boundary in (*self.boundaries, *self.exam_at):
            asked[boundary] = []
        for event in replay.events:
            asked[event.at].append(event.compaction)
        return asked

    def _at_size(self, event: CompactionEvent) -> tuple[int, Compaction, int]:
        """The boundary, the baseline cut to the size that a compaction came to there, and that
        size.
        """
        size, boundary = event.compaction.sent.spoken, event.at
        nearest = min(self._asked[boundary], key=lambda compaction: _apart(compaction, size))
        if _apart(nearest, size) <= NEAR:
            return boundary, nearest, size
        if (boundary, size) not in self._cut:
            self._cut[boundary, size] = self._nearest(nearest, size)
        return boundary, self._cut[boundary, size], size

    def _nearest(self, first_cut: Compaction, size: int) -> Compaction:
        """Of a few targets the one that comes nearest to so many tokens of messages."""
        overhead, window = first_cut.before.overhead, self.prepared.window
        steady = not first_cut.completions or isinstance(self.model, Extractive)
        best, tried = first_cut, first_cut
        target = first_cut.budget.target - overhead
        for number in range(TRIES if steady else 1):
            plain = steady and not number  # what fills its size is there at once
            target = size if plain else round(target * size / max(tried.sent.spoken, 1))
            budget = Budget(target=overhead + target, window=window, reason="matched")
            tried = compact(first_cut.before, self.preset.strategy, budget, self.model)
            best = min(best, tried, key=lambda cut: _apart(cut, size))
            if best.sent.spoken == size:
                break
        return best

    def _scored(self, cuts: list[tuple[int, Compaction, int]]) -> tuple[Score, ...]:
        """A score for each of `METRICS`; without a value where the baseline cannot be cut to one
        of the sizes.
        """
        if any(_apart(cut, size) > ALLOWED - 1 for _, cut, size in cuts):
            return tuple(Score(None, "the baseline cannot be cut to that size") for _ in METRICS)
        key = tuple(map(id, (cut for _, cut, _ in cuts)))
        if key not in self._scores:
            shots = tuple(
                Snapshot(boundary, cut.sent, 0.0, exam_only=boundary in self.exam_at)
                for boundary, cut, _ in cuts
            )
            prepared = self.prepared
            replay = Replay(
                prepared.session,
                self.preset.name,
                "matched",
                prepared.window,
                prepared.sizing,
                (),
                (),
                shots,
            )
            data = MetricInput(replay, prepared.index, 0.0)
            self._scores[key] = tuple(metric.score(data) for metric in METRICS)
        return self._scores[key]


def _apart(cut: Compaction, size: int) -> float:
    """How far what is sent is from so many tokens of messages, as a share of them."""
    return abs(cut.sent.spoken - size) / max(size, 1)


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
    histories = {
        sized_history.at: prepared.sizing.history(prepared.session.messages, sized_history.at)
        for sized_history in sized
    }
    exams = Exams.of(prepared.index)
    oracles = {
        boundary: Oracle(history, exams.at(boundary)) for boundary, history in histories.items()
    }

    def made(reference: str, sized_history: SizedHistory) -> Context:
        if reference == "oracle":
            return oracles[sized_history.at].context(sized_history.target)
        return random_context(
            histories[sized_history.at],
            sized_history.target,
            f"{spec.seed}:{prepared.session.id}:{sized_history.at}:{sized_history.target}",
        )

    def replay(reference: str, mode: Mode, shots: Iterable[Snapshot]) -> Replay:
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

    shares = tuple(
        dict.fromkeys(
            sized_history.share for sized_history in sized if sized_history.share is not None
        )
    )
    recorded = [sized_history for sized_history in sized if sized_history.share is None]
    for reference in ("random", "oracle"):
        shots = []
        for history in sized:
            is_exam_only = history.share is not None and history.at in exam_only
            shots.append(
                Snapshot(
                    history.at, made(reference, history), history.share, exam_only=is_exam_only
                )
            )
        for share in shares:
            yield MetricInput(replay(reference, "matched", shots), prepared.index, share)
        if recorded:
            yield MetricInput(replay(reference, "recorded", shots), prepared.index)
    if recorded:
        shots = [
            Snapshot(sized_history.at, prepared.recorded[sized_history.at].after)
            for sized_history in recorded
        ]
        yield MetricInput(replay("recorded", "recorded", shots), prepared.index)
