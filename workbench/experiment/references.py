"""The references that the harness makes beside every comparison: no agent could run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from workbench.experiment.prepared import Prepared
from workbench.experiment.spec import Scope
from workbench.metrics.metric import MetricInput
from workbench.metrics.reference_contexts import Oracle, random_context
from workbench.replay.boundaries import at_boundaries
from workbench.replay.matched import budget
from workbench.replay.recorded import Really
from workbench.replay.step import Mode, Replay, Snapshot
from workbench.transcript.context import Context


def reference_inputs(
    ready: Prepared, spec: Scope, really: Mapping[int, Really]
) -> Iterator[tuple[str, list[MetricInput]]]:
    """By reference, its inputs: `random` and `oracle` at every matched boundary and size, `recorded` where it was.

    Args:
        ready: the session.
        spec: the seed draws the random messages.
        really: the recorded compactions, by boundary.
    """
    at = at_boundaries(ready.session, ready.sizing, ready.window, spec.boundaries) if spec.shares else ()
    seed = f"{spec.seed}:{ready.session.id}"
    drawn: dict[str, Callable[[int], Callable[[int], Context]]] = {
        "random": lambda place: (
            lambda target: random_context(_history(ready, place), target, f"{seed}:{place}:{target}")
        ),
        "oracle": lambda place: Oracle(_history(ready, place), ready.index.demand(place)).context,
    }
    for reference, at_place in drawn.items():
        made = {place: at_place(place) for place in (*at, *really)}
        shots = [
            Snapshot(place, made[place](budget(_history(ready, place), share)), share)
            for place in at
            for share in spec.shares
        ]
        matched = _replay(ready, reference, "matched", shots)
        inputs = [MetricInput(matched, ready.index, share) for share in spec.shares if at]
        if really:
            shots = [Snapshot(place, made[place](one.after.tokens)) for place, one in really.items()]
            inputs.append(MetricInput(_replay(ready, reference, "recorded", shots), ready.index))
        yield reference, inputs
    if really:
        shots = [Snapshot(place, one.after) for place, one in really.items()]
        yield "recorded", [MetricInput(_replay(ready, "recorded", "recorded", shots), ready.index)]


def _history(ready: Prepared, at: int) -> Context:
    return ready.sizing.history(ready.session.messages, at)


def _replay(ready: Prepared, reference: str, mode: Mode, shots: list[Snapshot]) -> Replay:
    final = shots[-1].context if shots else ready.sizing.empty()
    return Replay(ready.session, reference, mode, ready.window, ready.sizing, (), (), tuple(shots), final)
