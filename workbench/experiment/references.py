"""The references that the harness makes beside every comparison: no agent could run them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.experiment.prepared import Prepared
from workbench.experiment.spec import Scope
from workbench.metrics.metric import MetricInput
from workbench.metrics.reference_contexts import Oracle, random_context
from workbench.replay.boundaries import at_boundaries
from workbench.replay.matched import budget
from workbench.replay.recorded import RecordedContexts
from workbench.replay.step import Mode, Replay, Snapshot
from workbench.transcript.context import Context


def reference_inputs(
    ready: Prepared, spec: Scope, really: Mapping[int, RecordedContexts]
) -> Iterator[tuple[str, list[MetricInput]]]:
    """By reference, its inputs: `random` and `oracle` at every matched boundary and size, `recorded` where it was.

    `really` has the recorded compactions by boundary; the seed of `spec` draws the random messages.
    """
    at = at_boundaries(ready.session, ready.sizing, ready.window, spec.boundaries) if spec.shares else ()
    history = {place: ready.sizing.history(ready.session.messages, place) for place in (*at, *really)}
    oracles = {place: Oracle(history[place], ready.index.demand(place)) for place in history}

    def made(reference: str, place: int, target: int) -> Context:
        if reference == "oracle":
            return oracles[place].context(target)
        return random_context(history[place], target, f"{spec.seed}:{ready.session.id}:{place}:{target}")

    def replay(reference: str, mode: Mode, shots: list[Snapshot]) -> Replay:
        return Replay(ready.session, reference, mode, ready.window, ready.sizing, (), (), tuple(shots))

    for reference in ("random", "oracle"):
        shots = [
            Snapshot(place, made(reference, place, budget(history[place], share)), share)
            for place in at
            for share in spec.shares
        ]
        matched = replay(reference, "matched", shots)
        inputs = [MetricInput(matched, ready.index, share) for share in spec.shares if at]
        if really:
            shots = [Snapshot(place, made(reference, place, one.after.tokens)) for place, one in really.items()]
            inputs.append(MetricInput(replay(reference, "recorded", shots), ready.index))
        yield reference, inputs
    if really:
        shots = [Snapshot(place, one.after) for place, one in really.items()]
        yield "recorded", [MetricInput(replay("recorded", "recorded", shots), ready.index)]
