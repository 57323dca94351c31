"""The DDx agent's settings, and when they make a compaction due."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation

DEFAULT_CONTEXT_WINDOW = 131_072
DEFAULT_EFFECTIVE_PERCENT = 95
DEFAULT_KEEP_RECENT_TOKENS = 8_192
DEFAULT_MAX_TOOL_RESULT_CHARS = 2_000
DEFAULT_RESERVE_TOKENS = 8_192
DEFAULT_STUCK_THRESHOLD = 5
DEFAULT_USER_MESSAGE_TAIL_TOKENS = 20_000


@dataclass(frozen=True, slots=True)
class Config:
    """What a user may set.

    Attributes:
        context_window: tokens, where nobody says how large the window is.
        reserve_tokens: room for the model's answer.
        keep_recent_tokens: newest messages that stay as they are.
        max_tool_result_chars: bytes of a result that the summariser sees; 0 or less for all.
        effective_percent: the part of the window that is used at all, in 0..100.
        summarization_model, summarization_provider: who summarises; empty for the agent's own.
        summarization_focus: what a summary should dwell on.
        user_message_tail_tokens: how much of what the user said is sent again beside the summary; 0 for nothing.
        stuck_threshold: attempts without result after which the run ends; 0 means five.
    """

    enabled: bool = True
    context_window: int = DEFAULT_CONTEXT_WINDOW
    reserve_tokens: int = DEFAULT_RESERVE_TOKENS
    keep_recent_tokens: int = DEFAULT_KEEP_RECENT_TOKENS
    max_tool_result_chars: int = DEFAULT_MAX_TOOL_RESULT_CHARS
    effective_percent: int = DEFAULT_EFFECTIVE_PERCENT
    summarization_model: str = ""
    summarization_provider: str = ""
    summarization_focus: str = ""
    user_message_tail_tokens: int = DEFAULT_USER_MESSAGE_TAIL_TOKENS
    stuck_threshold: int = DEFAULT_STUCK_THRESHOLD

    def at(self, window: int) -> Config:
        """The same for a window of that many tokens: a reserve that fills it is given up, a tail is halved to it."""
        return _at(self, window if window > 0 else self.context_window)

    @property
    def threshold(self) -> int:
        """Tokens above which a context is due."""
        return self.context_window * self.effective_percent // 100 - self.reserve_tokens

    @property
    def most_summary_tokens(self) -> int:
        """What a summary may have at most: four fifths of the reserve, at least 512."""
        return max(512, self.reserve_tokens * 4 // 5)

    @property
    def summarizer(self) -> str:
        """The name of the model that summarises; empty for the one at hand."""
        return "/".join(part for part in (self.summarization_provider, self.summarization_model) if part)


@lru_cache(maxsize=64)
def _at(config: Config, window: int) -> Config:
    """A trigger asks for the same window at each request."""
    return replace(
        config,
        context_window=window,
        reserve_tokens=0 if config.reserve_tokens >= window else config.reserve_tokens,
        keep_recent_tokens=window // 2 if config.keep_recent_tokens > window else config.keep_recent_tokens,
    )


def should_compact(tokens: int, window: int, percent: int, reserve: int) -> bool:
    """Due above the threshold, never at it; never where window, percent or threshold are not positive."""
    if window <= 0 or percent <= 0:
        return False
    threshold = window * percent // 100 - reserve
    return threshold > 0 and tokens > threshold


@dataclass(frozen=True, slots=True)
class DdxTrigger:
    """Asked before each request and after each batch of tool results; by estimate, system prompt included."""

    config: Config = Config()  # frozen
    name: ClassVar[str] = "ddx_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due above the effective window less the reserve, which is the target too."""
        config = self.config.at(situation.window)
        window, percent, reserve = config.context_window, config.effective_percent, config.reserve_tokens
        if not config.enabled:
            return None
        if not situation.requested and not should_compact(situation.tokens, window, percent, reserve):
            return None
        return Budget(
            target=min(max(config.threshold, 0), max(situation.tokens - 1, 0)),
            window=window,
            reason="requested" if situation.requested else "threshold",
        )
