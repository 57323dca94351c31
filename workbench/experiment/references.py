"""The references that the harness makes beside every comparison: no agent could run them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from workbench.experiment.prepared import Prepared
from workbench.experiment.spec import Scope
from workbench.metrics.exam.exams import Exams
from workbench.metrics.metric import MetricInput
from workbench.metrics.reference_contexts import Oracle, random_context
from workbench.replay.matched import RecordedContexts, SizedHistory
from workbench.replay.step import Mode, Replay, Snapshot
from workbench.transcript.context import Context


def reference_inputs(
    ready: Prepared, spec: Scope, sized: Sequence[SizedHistory], really: Mapping[int, RecordedContexts]
) -> Iterator[tuple[str, list[MetricInput]]]:
    """By reference, its inputs: `random` and `oracle` at every size, `recorded` where it was.

    `sized` has the histories that fit their sizes, `really` the recorded compactions by boundary; the seed of `spec`
    draws the random messages.
    """
    whole = {one.at: ready.sizing.history(ready.session.messages, one.at) for one in sized}
    exams = Exams.of(ready.index)
    oracles = {at: Oracle(history, exams.at(at)) for at, history in whole.items()}

    def made(reference: str, one: SizedHistory) -> Context:
        if reference == "oracle":
            return oracles[one.at].context(one.target)
        return random_context(whole[one.at], one.target, f"{spec.seed}:{ready.session.id}:{one.at}:{one.target}")

    def replay(reference: str, mode: Mode, shots: Iterable[Snapshot]) -> Replay:
        return Replay(ready.session, reference, mode, ready.window, ready.sizing, (), (), tuple(shots))

    shares = tuple(dict.fromkeys(one.share for one in sized if one.share is not None))
    recorded = [one for one in sized if one.share is None]
    for reference in ("random", "oracle"):
        shots = [Snapshot(one.at, made(reference, one), one.share) for one in sized]
        inputs = [MetricInput(replay(reference, "matched", shots), ready.index, share) for share in shares]
        if recorded:
            inputs.append(MetricInput(replay(reference, "recorded", shots), ready.index))
        yield reference, inputs
    if recorded:
        shots = [Snapshot(one.at, really[one.at].after) for one in recorded]
        yield "recorded", [MetricInput(replay("recorded", "recorded", shots), ready.index)]
