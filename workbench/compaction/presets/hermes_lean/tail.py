"""When Hermes compacts, and how much of the newest messages it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.presets.due import reached
from workbench.compaction.presets.loose import Loose
from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation

SHARE = 0.5
SMALL_SHARE = 0.75
LARGE_WINDOW = 512_000
TAIL_SHARE = 0.025
LEAST_TAIL, MOST_TAIL = 10_000, 25_000


@dataclass(frozen=True, slots=True)
class HermesTrigger:
    """Due at half of a large window, and at three quarters of one of less than 512,000 tokens."""

    name: ClassVar[str] = "hermes_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `tokens >= share * window`."""
        share = SHARE if situation.window >= LARGE_WINDOW else SMALL_SHARE
        return reached(situation, int(share * situation.window))


def tail_tokens(window: int) -> int:
    """A fortieth of the window, at least 10,000 and at most 25,000 tokens."""
    return min(max(int(TAIL_SHARE * window), LEAST_TAIL), MOST_TAIL)


def tail_start(loose: Loose, window: int) -> int:
    """The first of the loose messages that belongs to the tail; behind pairs that it would part."""
    return loose.after(loose.fitting(loose.kept(tail_tokens(window))))
