"""What a compactor tells its host, in order. Events hold numbers and reasons, never whole contexts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.compaction.engine import Outcome, StageRecord
from workbench.live.hooks import Cause
from workbench.models.provider_errors import Verdict
from workbench.transcript.message import Json


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """A compaction was decided. Tokens are those of the request, overhead included."""

    number: int
    cause: Cause
    reason: str
    tokens: int
    target: int
    window: int
    type: Literal["compaction_started"] = "compaction_started"


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """It is in place, or found nothing to do.

    Attributes:
        usd: what the summaries cost; None if unknown.
        supplied: whether the host's summary was used.
    """

    number: int
    outcome: Outcome
    why: str
    tokens_before: int
    tokens_after: int
    stages: tuple[StageRecord, ...]
    usd: float | None = 0.0
    supplied: bool = False
    type: Literal["compaction_ended"] = "compaction_ended"


@dataclass(frozen=True, slots=True)
class _CompactionLost:
    """A compaction that changed nothing."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class CompactionCancelled(_CompactionLost):
    """The host cancelled it; nothing changed."""

    type: Literal["compaction_cancelled"] = "compaction_cancelled"


@dataclass(frozen=True, slots=True)
class CompactionFailed(_CompactionLost):
    """An error interrupted it; nothing changed."""

    type: Literal["compaction_failed"] = "compaction_failed"


@dataclass(frozen=True, slots=True)
class CompactionDiscarded(_CompactionLost):
    """The history changed while it ran, so its result was not used."""

    type: Literal["compaction_discarded"] = "compaction_discarded"


@dataclass(frozen=True, slots=True)
class AutomaticStopped:
    """So many compactions in a row had no effect that none will start by itself until one by hand has."""

    ineffective: int
    type: Literal["automatic_stopped"] = "automatic_stopped"


@dataclass(frozen=True, slots=True)
class UsageIgnored:
    """A report was about another request or another model than the one at hand."""

    why: str
    type: Literal["usage_ignored"] = "usage_ignored"


@dataclass(frozen=True, slots=True)
class ErrorJudged:
    """A provider's error, or an answer that hides one, was read; `learned` is the window it taught, if any."""

    verdict: Verdict
    learned: int | None = None
    type: Literal["error_judged"] = "error_judged"


@dataclass(frozen=True, slots=True)
class Retry:
    """What to send in the place of the request that was refused.

    Attributes:
        max_tokens: the output to ask for; None leaves it as it was.
    """

    messages: list[Json]
    verdict: Verdict
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Rewound:
    """The host went back: so many of its messages are still the same, and what was compacted since is whole again."""

    messages: int
    undone: int
    type: Literal["rewound"] = "rewound"


Event: TypeAlias = (
    CompactionStarted
    | CompactionEnded
    | CompactionCancelled
    | CompactionFailed
    | CompactionDiscarded
    | AutomaticStopped
    | UsageIgnored
    | ErrorJudged
    | Rewound
)
