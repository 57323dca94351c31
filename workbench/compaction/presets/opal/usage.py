"""What Opal remembers of the provider's reports: the size of the context now, and the bill so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from workbench.errors import WorkbenchError

FALLBACK_WINDOW = 128_000


@dataclass(frozen=True, slots=True)
class UsageTally:
    """Sums over an agent's requests, in tokens.

    Attributes:
        current_context_tokens: the last reported prompt: how full the window is.
        prompt_tokens, completion_tokens, total_tokens: of all requests together: what is paid for. Each request reads
            the whole history again, so `total_tokens` says nothing about the context's size.
        last_prompt_tokens: the base of the estimate; 0 where the estimate has to stand alone.
        last_usage_messages: how many messages the history had when that was reported, the answer not among them.
    """

    current_context_tokens: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    last_prompt_tokens: int = 0
    last_usage_messages: int = 0

    def reported(self, usage: Mapping[str, object], messages: int) -> UsageTally:
        """With one more report.

        Args:
            usage: the provider's own words for it.
            messages: in the history before the answer is appended.
        """
        prompt = _first(usage, "prompt_tokens", "input_tokens")
        completion = _first(usage, "completion_tokens", "output_tokens")
        total = _first(usage, "total_tokens") or prompt + completion
        return UsageTally(
            current_context_tokens=prompt,
            prompt_tokens=self.prompt_tokens + prompt,
            completion_tokens=self.completion_tokens + completion,
            total_tokens=self.total_tokens + total,
            last_prompt_tokens=prompt,
            last_usage_messages=messages,
        )

    def compacted(self) -> UsageTally:
        """After a compaction the last report speaks of a context that is gone."""
        return replace(self, last_prompt_tokens=0, last_usage_messages=0)

    def fill(self, window: int) -> float:
        """The share of the window that the context takes: the bar that users see."""
        return self.current_context_tokens / window if window > 0 else 0.0


def _first(usage: Mapping[str, object], *names: str) -> int:
    found = (usage.get(name) for name in names)
    return next((value for value in found if isinstance(value, int) and value > 0), 0)


def context_window(model: str, known: Callable[[str], int | None]) -> int:
    """The model's window in tokens; 128,000 where the catalogue does not know it or fails.

    Args:
        model: with its provider before a slash where it is not the model's own.
        known: looks a name up in a catalogue of windows.
    """
    try:
        window = known(model)
    except (WorkbenchError, LookupError, OSError, ValueError):
        return FALLBACK_WINDOW
    return window if isinstance(window, int) and window > 0 else FALLBACK_WINDOW
