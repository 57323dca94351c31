"""Observation mask: tool results older than the last hundred messages become a mask, at every
request.

Restates OpenHands V0's `ObservationMaskingCondenser` (All-Hands-AI/OpenHands,
`openhands/memory/condenser/impl/ observation_masking_condenser.py`, read at 2025-11-28), whose
attention window is 100 events by configuration and 5 by the default of its class. No model is
asked.

Besides the general differences (`presets`):

- A message is an event here. The original's events are finer where a model calls several tools at
  once: each call is an event there.
- The original masks anew at each request and keeps its events. Here the masked history is what is
  kept, which comes to the same requests, since what left the window never comes back into it.
- A result is masked only where the mask is smaller, and pinned results stay.
- It has no threshold and does not stop at a target: what is older than the window is masked,
  however small.
"""

from dataclasses import dataclass
from typing import ClassVar

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.clip import NewResult, rewritten
from workbench.engine.compaction.plan import Budget, Plan
from workbench.engine.compaction.strategy import Preset, Situation, Strategy
from workbench.engine.transcript.context import Context

ATTENTION_WINDOW = 100
MASK = "<MASKED>"


@dataclass(frozen=True, slots=True)
class AfterMessages:
    """Due at each request of a conversation that is longer than a number of messages."""

    messages: int = ATTENTION_WINDOW

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `messages > 100`; the target is one token less than there is."""
        if situation.requested or situation.messages > self.messages:
            return situation.granted(situation.tokens - 1)
        return None


@dataclass(frozen=True, slots=True)
class ObservationMask:
    """Replaces each tool result before the last `attention_window` messages by a mask."""

    attention_window: int = ATTENTION_WINDOW
    name: ClassVar[str] = "observation_mask"

    def __post_init__(self) -> None:
        check_whole_number("attention_window", self.attention_window, least=0)

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The masks that are not there yet."""
        old = range(len(context.messages) - self.attention_window)
        return rewritten(context, [NewResult(i, MASK) for i in old])


OBSERVATION_MASK = Preset(
    "observation_mask",
    Strategy("observation_mask", (ObservationMask(),)),
    AfterMessages(),
    source=(
        "All-Hands-AI/OpenHands 2025-11-28"
        " openhands/memory/condenser/impl/observation_masking_condenser.py"
    ),
)
