"""The compactor for agents that run on asyncio: the same engine, in a thread, so that the event
loop goes on.
"""

import asyncio
from collections.abc import Callable, Sequence
from os import PathLike
from threading import Event as Flag
from threading import Lock
from typing import TypeVar
from weakref import WeakKeyDictionary

from workbench.base.errors import SettingError
from workbench.engine.compaction.engine import Compaction
from workbench.engine.models.error_evidence import ProviderError
from workbench.engine.transcript.message import Json
from workbench.live.compactor import Compactor
from workbench.live.events import Retry
from workbench.live.hooks import CANCELLED

Result = TypeVar("Result")


class AsyncCompactor:
    """Awaitable methods of a compactor; what returns at once is asked of `compactor` itself.

    The event loop is not blocked while a model writes. Calls take turns, in the order in which they
    came, also those of several event loops. A call that
    is cancelled leaves the history as it was: what its model still writes is discarded, with an
    event `compaction_discarded`. Hooks, `on_event` and the model are called in another thread.

    Attributes:
        compactor: for its properties, events, `report_usage` and `request_compaction`.
    """

    def __init__(self, compactor: Compactor) -> None:
        if not isinstance(compactor, Compactor):
            objection = f"compactor is {compactor!r:.80}; a wb.Compactor would be accepted"
            raise SettingError(objection)
        self.compactor = compactor
        self._turns = Lock()
        self._loops_lock = Lock()
        self._loop_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    async def before_request(
        self, messages: Sequence[Json], *, system: Json = None, tools: Json = None, model: str = ""
    ) -> list[Json]:
        """What to send, see `Compactor.before_request`."""

        def call() -> list[Json]:
            return self.compactor.before_request(
                messages,
                system=system,
                tools=tools,
                model=model,
            )

        return await self._run(call)

    async def after_tools(self, messages: Sequence[Json] | None = None) -> None:
        """Tools have answered, see `Compactor.after_tools`."""
        await self._run(lambda: self.compactor.after_tools(messages))

    async def after_turn(self, messages: Sequence[Json] | None = None) -> None:
        """A turn is over, see `Compactor.after_turn`."""
        await self._run(lambda: self.compactor.after_turn(messages))

    async def on_error(
        self, error: ProviderError, messages: Sequence[Json] | None = None, *, model: str = ""
    ) -> Retry | None:
        """What to send after a request failed, see `Compactor.on_error`; waiting is the
        caller's.
        """
        return await self._run(lambda: self.compactor.on_error(error, messages, model=model))

    async def compact(
        self,
        instructions: str = "",
        keep_recent: int | None = None,
        messages: Sequence[Json] | None = None,
    ) -> Compaction | None:
        """Compact now, see `Compactor.compact`."""
        return await self._run(lambda: self.compactor.compact(instructions, keep_recent, messages))

    async def save_to(self, path: PathLike[str] | str) -> None:
        """Save to a file, see `Compactor.save_to`."""
        await self._run(lambda: self.compactor.save_to(path))

    async def _run(self, call: Callable[[], Result]) -> Result:
        async with self._loop_turn():
            turn = _Turn(self._turns)

            def work() -> Result:
                CANCELLED.set(turn.cancelled)  # in the thread's own context
                return turn.taken_by(call)

            try:
                return await asyncio.to_thread(work)
            except asyncio.CancelledError:
                turn.give_up()
                self.compactor.abandon()
                raise

    def _loop_turn(self) -> asyncio.Lock:
        """The turns of the running event loop, in the order in which its calls come."""
        loop = asyncio.get_running_loop()
        with self._loops_lock:
            new_lock = asyncio.Lock()
            return self._loop_turns.setdefault(loop, new_lock)


class _Turn:
    """One call's turn among the calls of all event loops.

    Attributes:
        cancelled: up once its caller gave it up; then others need not wait for it.
    """

    def __init__(self, turns: Lock) -> None:
        self.cancelled = Flag()
        self._turns = turns
        self._guard = Lock()
        self._is_held = False

    def taken_by(self, call: Callable[[], Result]) -> Result:
        """What the call returns, once it is its turn."""
        self._turns.acquire()
        with self._guard:
            self._is_held = True
        try:
            if self.cancelled.is_set():
                raise asyncio.CancelledError
            return call()
        finally:
            self._release()

    def give_up(self) -> None:
        """Let the next call have its turn."""
        self.cancelled.set()
        self._release()

    def _release(self) -> None:
        with self._guard:
            if self._is_held:
                self._is_held = False
                self._turns.release()
