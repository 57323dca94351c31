"""What an agent's loop remembers of its attempts to compact, by one set of rules for replays and
living agents: when the trigger is asked again, and which attempts came to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.engine.compaction.engine import Compaction
from workbench.engine.compaction.host_policy import Ending, Failure, HostPolicy

HYSTERESIS = 0.02
"""Share of the window by which a context must grow before the trigger is asked again."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """The attempts of one agent so far. It never changes: each method returns what follows.

    Attributes:
        patience: tokens below which the trigger is not asked.
        vain: attempts in a row that came to nothing while one was due.
    """

    patience: int = 0
    vain: int = 0

    def let_ask(self, tokens: int) -> bool:
        """Whether the trigger is asked about a context of so many tokens."""
        return tokens >= self.patience

    def until_grown(self, tokens: int, window: int, share: float = HYSTERESIS) -> Attempts:
        """The trigger waits until the context has grown by a share of the window."""
        return replace(self, patience=tokens + int(share * window) + 1)

    def none_in_vain(self) -> Attempts:
        """Nothing was due, or a compaction had an effect: a row of vain attempts is over."""
        return replace(self, vain=0)

    def failed(self, failure: Failure) -> Attempts:
        """An attempt failed. Where no cut leaves room, or an overflow remains, none is in vain."""
        if failure in ("nothing", "failed"):
            return replace(self, vain=self.vain + 1)
        return self

    def ending(self, failure: Failure, host: HostPolicy) -> Ending | None:
        """How the preset's system ends its run by the newest failure; None where it goes on."""
        return host.ending(failure, self.vain)


def failure_of(compaction: Compaction) -> Failure:
    """What a compaction came to that changed nothing."""
    if compaction.refusal:
        return "no_room"
    return "nothing"
