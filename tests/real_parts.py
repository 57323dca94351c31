"""The parts of a real replay, to put other figures in: `replace(STEP, tokens_sent=100)`."""

from __future__ import annotations

from dataclasses import replace

from builders import remembering, rules
from workbench import Replay, Session, prepared, replay

_SESSION = Session.of([rules("be brief"), *remembering(20)])
_REPLAY = replay(prepared(_SESSION, 2_000), "summarize")
STEP = replace(_REPLAY.steps[0], compaction=None)
"""A request."""
SNAPSHOT = replace(_REPLAY.snapshots[0], share=None)
"""A context that is to be scored."""
STAGE = replace(
    _REPLAY.events[0].compaction.stages[0],
    name="summarize",
    completions=(),
    violations=(),
    dropped=(),
    rewritten=(),
    wrote=(),
    conversation=(),
)
"""What a stage did: nothing yet."""


def with_steps(made: Replay, *sizes: tuple[int, int, int]) -> Replay:
    """The replay with a request for every second message, from the second on.

    Args:
        made: its session has two messages for each request.
        sizes: of each request the tokens that were recorded, that were sent, and that are the same
            as in the request before.
    """
    steps = []
    for number, (recorded, sent, reused) in enumerate(sizes):
        step = replace(
            STEP,
            request=number,
            index=2 * number + 1,
            tokens_recorded=recorded,
            tokens_sent=sent,
            prefix_reused=reused,
        )
        steps.append(step)
    return replace(made, steps=tuple(steps))
