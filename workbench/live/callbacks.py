"""Calls of functions that the host supplied: an error in one becomes an event, and the agent
goes on.
"""

from asyncio import CancelledError
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, Generic, TypeVar

from workbench.base.errors import error_text
from workbench.engine.transcript.message import Json, TokenCounter, chars_per_token
from workbench.live.events import CallbackFailed, Event

Answer = TypeVar("Answer")
FAILURES = (Exception, CancelledError)
"""What a part of the host's may raise so that the agent goes on. No task of ours runs in such a part,
so that one that was cancelled in it is its own. What ends the process (Ctrl-C, `sys.exit`) passes.
"""
MOST_TOLD = 10
"""Reasons of one function that are told: some name the value at which it failed."""


class Callback(Generic[Answer]):
    """A host's function, with another in its place where it raises an error or answers something
    unusable.

    It equals the function that it calls. Each reason of a failure is told once.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Answer],
        instead: Callable[..., Answer],
        usable: Callable[[Any], bool],
        tell: Callable[[Event], None],
    ) -> None:
        self.name = name
        self.function = function
        self.instead = instead
        self.usable = usable
        self.tell = tell
        self._told_failures: set[str] = set()

    def __call__(self, *arguments: object) -> Answer:
        """The function's answer, or that of the one in its place."""
        try:
            answer = self.function(*arguments)
            if self.usable(answer):
                return answer
            failure = f"it returned {answer!r:.80}"
        except FAILURES as error:
            failure = error_text(error)
        if failure not in self._told_failures and len(self._told_failures) < MOST_TOLD:
            self._told_failures.add(failure)
            self.tell(CallbackFailed(self.name, failure))
        return self.instead(*arguments)

    def __eq__(self, other: object) -> bool:
        return other is self or bool(other == self.function)

    def __hash__(self) -> int:
        return hash(self.function)


class Host:
    """The functions that a host supplied, each safe to call, and the events that it is told.

    Attributes:
        events: everything that happened, in order.
    """

    def __init__(self, on_event: Callable[[Event], None] | None) -> None:
        self.events: list[Event] = []
        self._on_event = on_event

    def tell(self, event: Event) -> None:
        """Add an event and pass it on; an error in the host's function is an event that is not
        passed on.
        """
        self.events.append(event)
        if self._on_event is not None:
            try:
                self._on_event(event)
            except FAILURES as error:
                self.events.append(CallbackFailed("on_event", error_text(error)))

    def guarded(
        self,
        name: str,
        function: Callable[..., Answer],
        instead: Callable[..., Answer],
        usable: Callable[[Any], bool],
    ) -> Callback[Answer]:
        """The function, safe to call."""
        return Callback(name, function, instead, usable, self.tell)

    def counter(self, count: TokenCounter) -> TokenCounter:
        """The counter, with a count of characters in its place where it fails."""
        return self.guarded(
            "count", count, chars_per_token, lambda n: isinstance(n, Integral) and int(n) >= 0
        )

    def pins(
        self, pins: Callable[[Mapping[str, Json]], bool] | None
    ) -> Callable[[Mapping[str, Json]], bool] | None:
        """The function that says what must stay; where it fails the message may go."""
        return None if pins is None else self.guarded("pins", pins, lambda _: False, lambda _: True)

    def clock(self, clock: Callable[[], float]) -> Callable[[], float]:
        """The clock; where it fails no time passes."""
        return self.guarded(
            "clock", clock, lambda: 0.0, lambda seconds: isinstance(seconds, int | float)
        )
