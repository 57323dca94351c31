"""When automatic compactions stop, and when one is tried again."""

import math
from collections.abc import Callable

from workbench.live.events import AutomaticResumed, AutomaticStopped, Event
from workbench.live.settings import Settings


class Breaker:
    """Stops automatic compactions after so many misses in a row, for a while.

    A miss is a compaction that failed, or that neither reached its target nor what its trigger
    leaves alone. Once the messages have grown by `Settings.cooldown`, or
    `Settings.cooldown_seconds` have passed, one is tried again; if it misses too, the next pause
    begins.

    Attributes:
        misses: how many there were in a row.
    """

    def __init__(self, tell: Callable[[Event], None], clock: Callable[[], float]) -> None:
        self.tell = tell
        self.clock = clock
        self.misses = 0
        # tokens of messages, and seconds, from which on one is tried
        self.resumes_at = math.inf
        self.resumes_after = math.inf
        self.paused = False

    def stopped(self, message_tokens: int) -> bool:
        """Whether none starts by itself now, with so many tokens of messages."""
        if not self.paused or message_tokens >= self.resumes_at:
            return False
        return self.clock() < self.resumes_after

    def allows(self, message_tokens: int) -> bool:
        """Whether one may start by itself now; the first after a pause is told."""
        if self.stopped(message_tokens):
            return False
        if self.paused:
            self.paused = False
            reason = "the pause is over"
            if message_tokens >= self.resumes_at:
                reason = "the messages have grown"
            resumed = AutomaticResumed(self.misses, reason)
            self.tell(resumed)
        return True

    def miss(self, message_tokens: int, window: int, settings: Settings) -> None:
        """One more; after too many in a row the pause begins."""
        self.misses += 1
        if self.misses >= settings.breaker:
            self.pause(message_tokens, window, settings)
            self.tell(AutomaticStopped(self.misses))

    def pause(self, message_tokens: int, window: int, settings: Settings) -> None:
        """None starts by itself until the messages have grown, or for some time."""
        self.paused = True
        self.resumes_after = self.clock() + settings.cooldown_seconds
        self.rest(message_tokens, window, settings)

    def rest(self, message_tokens: int, window: int, settings: Settings) -> None:
        """Count the growth of the messages from now on."""
        cooldown_tokens = settings.cooldown * window
        self.resumes_at = message_tokens + cooldown_tokens

    def reset(self, reason: str) -> None:
        """Forget all misses."""
        if self.paused:
            resumed = AutomaticResumed(self.misses, reason)
            self.tell(resumed)
        self.misses = 0
        self.paused = False
