"""What a compactor tells its host, in order. Events hold numbers and reasons, and no text of the
conversation or of a summary.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.engine.compaction.engine import Outcome, StageRecord
from workbench.engine.models.provider_errors import Diagnosis
from workbench.engine.transcript.message import Json
from workbench.live.hooks import Cause


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """A compaction was decided. Tokens are those of the request, overhead included; `messages`
    those that are sent; `strategy` the name of what compacts.
    """

    number: int
    cause: Cause
    reason: str
    tokens: int
    target: int
    window: int
    messages: int = 0
    strategy: str = ""
    type: Literal["compaction_started"] = "compaction_started"


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """A compaction is in place, or found nothing to do.

    Attributes:
        stages: what each stage did, without the texts that it wrote.
        usd: what its summaries cost; None if unknown.
        supplied: whether the host supplied the summary.
        warning: what the preset's system tells its user afterwards, and that a note replaces the
            summary, since the model failed, or that the newest user message was cut.
        messages_before, messages_after: of the request, by our count of messages.
    """

    number: int
    outcome: Outcome
    why: str
    tokens_before: int
    tokens_after: int
    stages: tuple[StageRecord, ...]
    usd: float | None = 0.0
    supplied: bool = False
    warning: str = ""
    messages_before: int = 0
    messages_after: int = 0
    type: Literal["compaction_ended"] = "compaction_ended"


@dataclass(frozen=True, slots=True)
class CompactionDropped:
    """A compaction that changed nothing.

    The host cancelled it, an error interrupted it, or its result was discarded since the history
    changed while it ran. `usd` is what its summaries cost all the same, None if unknown.
    """

    number: int
    why: str
    type: Literal["compaction_cancelled", "compaction_failed", "compaction_discarded"]
    usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class AutomaticStopped:
    """So many compactions in a row failed or missed their target that none starts by itself for
    a while.
    """

    misses: int
    type: Literal["automatic_stopped"] = "automatic_stopped"


@dataclass(frozen=True, slots=True)
class AutomaticResumed:
    """Compactions start by themselves again after so many misses; after a pause one more miss
    stops them again.
    """

    misses: int
    why: str
    type: Literal["automatic_resumed"] = "automatic_resumed"


@dataclass(frozen=True, slots=True)
class CompactsOften:
    """So many compactions took place within so few requests: the window is too small for this
    preset or this work.
    """

    compactions: int
    requests: int
    window: int
    type: Literal["compacts_often"] = "compacts_often"


@dataclass(frozen=True, slots=True)
class PaidInVain:
    """The host undid each of the newest compactions, so that none starts by itself for a while.

    Attributes:
        undone: how many were undone so far, of all.
        usd: what these had cost; None if unknown.
    """

    undone: int
    usd: float | None
    type: Literal["paid_in_vain"] = "paid_in_vain"


@dataclass(frozen=True, slots=True)
class HistoryMended:
    """A provider refused the history, so each further request to that model is sent without these
    defects; see `workbench.engine.models.refused_request.Defect`.
    """

    defects: tuple[str, ...]
    type: Literal["history_mended"] = "history_mended"


@dataclass(frozen=True, slots=True)
class ImagesLeftOut:
    """So many of the oldest pictures were taken out of the request, for their number or for the
    bytes of its body.
    """

    images: int
    bytes_before: int
    bytes_after: int
    type: Literal["images_left_out"] = "images_left_out"


@dataclass(frozen=True, slots=True)
class LastResort:
    """A request would have been larger than the window, so the oldest messages were dropped.

    Tokens are those of the request by the larger of the preset's and the host's count. `window` is
    what a request may have, less than the model takes where a quota is smaller. Where `fits` is
    false, what must stay is larger; `dropped` is 0 where nothing could go.
    """

    tokens_before: int
    tokens_after: int
    window: int
    dropped: int
    fits: bool
    type: Literal["last_resort"] = "last_resort"


@dataclass(frozen=True, slots=True)
class WindowTooSmall:
    """The preset compacts nothing in this window, however full it is, so that only the last resort
    keeps requests in it; or system prompt and tools fill it alone.
    """

    window: int
    why: str
    type: Literal["window_too_small"] = "window_too_small"


@dataclass(frozen=True, slots=True)
class WindowAssumed:
    """Nobody said how many tokens the agent's model takes, so that this window is assumed; told
    once for each model.

    Attributes:
        model: as `before_request` was told; empty where it was not.
        window: tokens.
        reason: in words, with what would set it.
    """

    model: str
    window: int
    reason: str
    type: Literal["window_assumed"] = "window_assumed"


@dataclass(frozen=True, slots=True)
class CallbackFailed:
    """A function of the host failed and was passed over; `name` says which: `on_event`,
    `settings`, `pins`, ...
    """

    name: str
    why: str
    type: Literal["callback_failed"] = "callback_failed"


@dataclass(frozen=True, slots=True)
class RunEnds:
    """The system that the preset restates would end its run here, in its own words; the
    compactor goes on.
    """

    code: str
    category: str
    why: str
    type: Literal["run_ends"] = "run_ends"


@dataclass(frozen=True, slots=True)
class UsageIgnored:
    """A usage report was about another request or model than the present one, or far beyond what
    was sent.
    """

    why: str
    type: Literal["usage_ignored"] = "usage_ignored"


@dataclass(frozen=True, slots=True)
class ErrorJudged:
    """A provider's error, or an answer that hides one, was read; `learned` is the window that it
    stated, if new; a quota is none.
    """

    diagnosis: Diagnosis
    learned: int | None = None
    type: Literal["error_judged"] = "error_judged"


@dataclass(frozen=True, slots=True)
class Retry:
    """What to send in the place of the request that was refused.

    Attributes:
        max_tokens: the output to ask for; None leaves it as it was.
        wait: seconds to wait before it is sent.
    """

    messages: list[Json]
    diagnosis: Diagnosis
    max_tokens: int | None = None
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class Rewound:
    """The host went back in the conversation.

    Attributes:
        messages: how many of its messages are still the same.
        undone: how many compactions of later messages were taken back.
        usd: what these had cost; None if unknown.
    """

    messages: int
    undone: int
    usd: float | None = 0.0
    type: Literal["rewound"] = "rewound"


Event: TypeAlias = (
    CompactionStarted | CompactionEnded | CompactionDropped | AutomaticStopped | AutomaticResumed | LastResort
    | CompactsOften | PaidInVain | ImagesLeftOut | WindowTooSmall | WindowAssumed | CallbackFailed | RunEnds
    | UsageIgnored | ErrorJudged | Rewound | HistoryMended
)  # fmt: skip
