"""When docker-agent compacts: when the running tally, and what was said since, pass a share of the window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation

THRESHOLD = 0.9


def should_compact(
    input_tokens: int, output_tokens: int, added_tokens: int, limit: int, threshold: float = THRESHOLD
) -> bool:
    """Due above the share of the window, rounded down; never at it, and never where the window is not known.

    Args:
        input_tokens: of the prompt that was last reported.
        output_tokens: of the answer to it.
        added_tokens: estimate of what came after it.
        limit: tokens of the window.
        threshold: in (0, 1]; anything else means 0.9.
    """
    return limit > 0 and input_tokens + output_tokens + added_tokens > due_at(limit, threshold)


def due_at(limit: int, threshold: float = THRESHOLD) -> int:
    """Tokens above which a context is due."""
    return int(limit * (threshold if 0 < threshold <= 1 else THRESHOLD))


@dataclass(frozen=True, slots=True)
class DockerTrigger:
    """Asked before each request, for the tally with all that came after it.

    Attributes:
        threshold: share of the window.
        enabled: whether anything starts by itself.
        summarizer_window: tokens that a dedicated model for summaries takes; the smaller window counts.
    """

    threshold: float = THRESHOLD
    enabled: bool = True
    summarizer_window: int | None = None
    name: ClassVar[str] = "docker_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due above the threshold, which is the target too. Without a report all is estimated."""
        limit = smaller(situation.window, self.summarizer_window)
        reported = situation.reported
        tokens = situation.tokens
        if reported is not None and reported.prompt > 0:
            tokens = reported.prompt + max(reported.output, situation.since)
        if not situation.requested and not (self.enabled and should_compact(tokens, 0, 0, limit, self.threshold)):
            return None
        due = int(due_at(limit, self.threshold) * situation.tokens / max(tokens, 1))
        return Budget(
            target=min(due, max(situation.tokens - 1, 0)),
            window=limit,
            reason="requested" if situation.requested else "threshold",
        )


def smaller(window: int, other: int | None) -> int:
    """The smaller window of two, of which the other may not be there."""
    return window if other is None or other <= 0 else min(window, other)
