"""What the restated agents do around a compaction, as plain values and functions for the live loop."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal, TypeAlias

Attempt: TypeAlias = Literal["not_due", "compacted", "nothing", "no_fit", "failed"]
"""What one check came to: no need, a shorter history, nothing to do, no cut with room, or a summariser's error."""


def _any(*texts: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, texts)), re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPolicy:
    """What an agent does around its compactions.

    Attributes:
        overflow: matches errors that say that the prompt was too long, as `statuses` of HTTP do. No source excludes
            anything: a rate limit that mentions a token limit counts as an overflow.
        recoveries: compactions in a row that answer an overflow, each with a retry; a good answer restores them.
        stuck_after: attempts in a row without effect after which the run ends; 0 for never.
        ends_run: outcomes of an attempt that end the run.
        endings: how the run ends, with a category, where an attempt fails after an overflow or else.
        by_hand_in_turn: whether a compaction by hand may run during a turn; if not it is refused with an error.
        hook_summary: whether a hook's summary stays unchanged, or gets the file lists.
        silent: whether a compaction that changes nothing makes no events.
        warning: shown to the user after a compaction.
    """

    overflow: re.Pattern[str] | None = None
    statuses: frozenset[int] = frozenset()
    recoveries: int = 1
    stuck_after: int = 0
    ends_run: frozenset[Attempt] = frozenset()
    endings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    by_hand_in_turn: bool = True
    hook_summary: Literal["as_is", "with_lists"] = "as_is"
    silent: bool = False
    warning: str = ""

    def overflowed(self, error: object, status: int | None = None) -> bool:
        """Whether an error, or one that it was raised from, says that the prompt was too long."""
        if status in self.statuses:
            return True
        while error is not None and self.overflow is not None:
            if self.overflow.search(str(error)):
                return True
            error = error.__cause__ if isinstance(error, BaseException) else None
        return False

    def stuck(self, attempts: Iterable[Attempt]) -> bool:
        """Whether the newest attempts, oldest first, came to nothing too often in a row. `no_fit` is not counted."""
        counted = [attempt for attempt in attempts if attempt != "no_fit"]
        vain = takewhile(lambda attempt: attempt in ("nothing", "failed"), reversed(counted))
        return 0 < self.stuck_after <= len(list(vain))


POLICIES: Mapping[str, HostPolicy] = {
    "opal": HostPolicy(
        overflow=_any(
            "context_length_exceeded", "maximum context length", "max_tokens", "max_prompt_tokens", "too many tokens",
            "prompt is too long", "prompt_tokens_exceeded", "request too large", "context window", "token limit",
            "exceeds the limit", "input too long", "exceeds the model's maximum", "reduce the length",
            "maximum number of tokens", "content_too_large", "string_above_max_length",
        ),
    ),
    "operator_use": HostPolicy(
        recoveries=0, ends_run=frozenset({"failed"}), by_hand_in_turn=False, hook_summary="with_lists"
    ),
    "ddx_agent": HostPolicy(
        overflow=re.compile(
            r"context.?length|token.?limit|maximum.?context|context.?window|too.?long|exceeds.*limit|reduce.*length"
            r"|reduce.*message",
            re.IGNORECASE,
        ),
        stuck_after=5,
        ends_run=frozenset({"no_fit"}),
        silent=True,
        warning="The history was summarised; each further compaction makes the model's view of it less exact.",
    ),
    "ex_athena": HostPolicy(
        overflow=_any(
            "context length", "context_length", "maximum context", "too many tokens", "exceeds the context",
            "prompt is too long", "context window",
        ),
        statuses=frozenset({413}),
        ends_run=frozenset({"failed"}),
        endings={
            "overflow": ("error_prompt_too_long", "capacity"),
            "threshold": ("error_compaction_failed", "fatal"),
        },
    ),
    "docker_agent": HostPolicy(
        overflow=_any(
            "prompt is too long", "maximum context length", "context length exceeded", "context_length_exceeded",
            "max_tokens must be greater than", "maximum number of tokens", "content length exceeds",
            "request too large", "payload too large", "input is too long", "exceeds the model's max token",
            "token limit", "reduce your prompt", "reduce the length",
        ),
    ),
}  # fmt: skip

RETRIES, FIRST_WAIT, LONGEST_WAIT = 3, 2.0, 60.0
_RETRIED = _any(
    "429", "500", "502", "503", "504", "529", "rate limit", "rate_limit", "too many requests", "overloaded",
    "unavailable", "timeout", "timed out", "econnreset", "econnrefused", "connection reset", "connection closed",
)  # fmt: skip
_PERMANENT = _any("unauthorized", "invalid_api_key", "authentication")


def opal_retries(error: object) -> bool:
    """Whether Opal sends the same request again after this error."""
    permanent = POLICIES["opal"].overflowed(error) or _PERMANENT.search(str(error))
    return not permanent and _RETRIED.search(str(error)) is not None


def opal_wait(attempt: int) -> float:
    """Seconds before Opal's retry 1, 2 or 3: doubled each time, without jitter."""
    return float(min(FIRST_WAIT * 2 ** max(attempt - 1, 0), LONGEST_WAIT))
