"""The DDx agent's settings, and when they make a compaction due."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation


@dataclass(frozen=True, slots=True)
class Config:
    """What a user may set.

    Attributes:
        context_window: tokens, where nobody says how large the window is.
        max_tool_result_chars: bytes of a result that the summariser sees; 0 or less for all.
        effective_percent: the part of the window that is used at all, in 0..100.
        user_message_tail_tokens: how much of what the user said is sent again beside the summary; 0 for nothing.
        stuck_threshold: attempts without result after which the run ends; 0 means five.
    """

    enabled: bool = True
    context_window: int = 131_072
    reserve_tokens: int = 8_192
    keep_recent_tokens: int = 8_192
    max_tool_result_chars: int = 2_000
    effective_percent: int = 95
    summarization_model: str = ""
    summarization_provider: str = ""
    summarization_focus: str = ""
    user_message_tail_tokens: int = 20_000
    stuck_threshold: int = 5

    def at(self, window: int) -> Config:
        """The same for a window of that many tokens: a reserve that fills it is given up, a tail is halved to it."""
        window = window if window > 0 else self.context_window
        return replace(
            self,
            context_window=window,
            reserve_tokens=0 if self.reserve_tokens >= window else self.reserve_tokens,
            keep_recent_tokens=window // 2 if self.keep_recent_tokens > window else self.keep_recent_tokens,
        )

    @property
    def threshold(self) -> int:
        """Tokens above which a context is due."""
        return self.context_window * self.effective_percent // 100 - self.reserve_tokens

    def due(self, tokens: int) -> bool:
        """Due above the threshold, never at it; never where window, percent or threshold are not positive."""
        return self.context_window > 0 and self.effective_percent > 0 and 0 < self.threshold < tokens

    @property
    def most_summary_tokens(self) -> int:
        """What a summary may have at most: four fifths of the reserve, at least 512."""
        return max(512, self.reserve_tokens * 4 // 5)

    @property
    def summarizer(self) -> str:
        """The name of the model that summarises; empty for the one at hand."""
        return "/".join(part for part in (self.summarization_provider, self.summarization_model) if part)


@dataclass(frozen=True, slots=True)
class DdxTrigger:
    """Asked before each request and after each batch of tool results; by estimate, system prompt included."""

    config: Config = Config()  # frozen
    name: ClassVar[str] = "ddx_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due above the effective window less the reserve, which is the target too."""
        config = self.config.at(situation.window)
        if not config.enabled or not (situation.requested or config.due(situation.tokens)):
            return None
        return Budget(
            target=min(max(config.threshold, 0), max(situation.tokens - 1, 0)),
            window=config.context_window,
            reason="requested" if situation.requested else "threshold",
        )
