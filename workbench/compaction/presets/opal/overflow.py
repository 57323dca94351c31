"""Opal's way out when a prompt was too long: how it is noticed, and one emergency compaction before a retry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from workbench.compaction.presets.opal.trigger import THRESHOLD
from workbench.compaction.stage import Budget

PATTERNS = (
    "context_length_exceeded", "maximum context length", "max_tokens", "max_prompt_tokens", "too many tokens",
    "prompt is too long", "prompt_tokens_exceeded", "request too large", "context window", "token limit",
    "exceeds the limit", "input too long", "exceeds the model's maximum", "reduce the length",
    "maximum number of tokens", "content_too_large", "string_above_max_length",
)  # fmt: skip
"""The 17 texts by which an overflow is known. As documented, nothing is excluded: a rate limit may hold one too."""

NEVER_RETRIED = (*PATTERNS, "unauthorized", "invalid_api_key", "authentication")
"""Asked first: what will fail again."""
RETRIED = (
    "429", "500", "502", "503", "504", "529", "rate limit", "rate_limit", "too many requests", "overloaded",
    "unavailable", "timeout", "timed out", "econnreset", "econnrefused", "connection reset", "connection closed",
)  # fmt: skip
MOST_RETRIES = 3
FIRST_WAIT = 2.0
LONGEST_WAIT = 60.0


def context_overflow(error: object) -> bool:
    """Whether an error says that the prompt was too long. Anything that is not text is rendered as text."""
    text = str(error).lower()
    return any(pattern in text for pattern in PATTERNS)


def usage_overflow(prompt_tokens: int, window: int) -> bool:
    """Whether a provider took more than the window, and so must have cut the prompt silently."""
    return prompt_tokens > window


def retryable(error: object) -> bool:
    """Whether the same request may be tried again."""
    text = str(error).lower()
    return not any(word in text for word in NEVER_RETRIED) and any(word in text for word in RETRIED)


def wait(attempt: int) -> float:
    """Seconds before retry 1, 2, 3: doubled each time, without jitter."""
    return float(min(FIRST_WAIT * 2 ** max(attempt - 1, 0), LONGEST_WAIT))


def emergency(window: int) -> Budget:
    """The budget after an overflow: a fifth of the window is kept, by force; what is due no more is enough."""
    target = max(ceil(THRESHOLD * window) - 1, 0)
    return Budget(target=target, window=window, reason="overflow", force=True, keep_recent=window // 5)


@dataclass(frozen=True, slots=True)
class Recovery:
    """What is left to try after an overflow. Values; whoever runs the agent keeps the newest.

    Attributes:
        used: compactions since the last good answer.
        most: of them, how many are allowed; the original knows no end.
        retries: tries of the same request, which an emergency compaction does not count as.
        overflow_detected: a good answer's usage showed a silent overflow: compact before the next turn.
    """

    used: int = 0
    most: int = 1
    retries: int = 0
    overflow_detected: bool = False

    def overflowed(self, window: int, *, session: bool = True) -> tuple[Recovery, Budget | None]:
        """After a rejected prompt: compact to this budget and run the turn again at once; None gives the error on.

        Args:
            window: tokens.
            session: whether there is anything that can be compacted.
        """
        if not session or self.used >= self.most:
            return self, None
        return replace(self, used=self.used + 1, overflow_detected=False), emergency(window)

    def answered(self, prompt_tokens: int, window: int) -> Recovery:
        """After a good answer: the allowance is whole again, and a silent overflow is remembered."""
        return replace(self, used=0, retries=0, overflow_detected=usage_overflow(prompt_tokens, window))

    def before_turn(self, window: int) -> tuple[Recovery, Budget | None]:
        """What a remembered silent overflow asks for before the next turn."""
        return replace(self, overflow_detected=False), emergency(window) if self.overflow_detected else None
