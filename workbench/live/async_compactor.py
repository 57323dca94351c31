"""The compactor for agents that run on asyncio: the same engine, in a thread, so that the event loop goes on."""

import asyncio
from collections.abc import Callable, Sequence
from threading import Event as Flag
from typing import TypeVar

from workbench.compaction.engine import Compaction
from workbench.errors import SettingError
from workbench.live.compactor import Compactor
from workbench.live.events import Retry
from workbench.live.hooks import CANCELLED
from workbench.models.provider_errors import ProviderError
from workbench.transcript.message import Json

Result = TypeVar("Result")


class AsyncCompactor:
    """Awaitable methods of a compactor; what returns at once is asked of `compactor` itself.

    The event loop is not blocked while a model writes. Calls take turns, in the order in which they came. A call that
    is cancelled leaves the history as it was: what its model still writes is discarded, with an event
    `compaction_discarded`. Hooks, `on_event` and the model are called in another thread.

    Attributes:
        compactor: for its properties, events, `report_usage` and `request_compaction`.
    """

    def __init__(self, compactor: Compactor) -> None:
        if not isinstance(compactor, Compactor):
            raise SettingError(f"compactor is {compactor!r:.80}; a wb.Compactor would be accepted")
        self.compactor = compactor
        self._turn = asyncio.Lock()

    async def before_request(
        self, messages: Sequence[Json], *, system: Json = None, tools: Json = None, model: str = ""
    ) -> list[Json]:
        """What to send, see `Compactor.before_request`."""
        return await self._run(lambda: self.compactor.before_request(messages, system=system, tools=tools, model=model))

    async def after_tools(self, messages: Sequence[Json] | None = None) -> None:
        """Tools have answered, see `Compactor.after_tools`."""
        await self._run(lambda: self.compactor.after_tools(messages))

    async def after_turn(self, messages: Sequence[Json] | None = None) -> None:
        """A turn is over, see `Compactor.after_turn`."""
        await self._run(lambda: self.compactor.after_turn(messages))

    async def on_error(
        self, error: ProviderError, messages: Sequence[Json] | None = None, *, model: str = ""
    ) -> Retry | None:
        """What to send after a request failed, see `Compactor.on_error`; waiting is the caller's."""
        return await self._run(lambda: self.compactor.on_error(error, messages, model=model))

    async def compact(
        self, instructions: str = "", keep_recent: int | None = None, messages: Sequence[Json] | None = None
    ) -> Compaction | None:
        """Compact now, see `Compactor.compact`."""
        return await self._run(lambda: self.compactor.compact(instructions, keep_recent, messages))

    async def _run(self, call: Callable[[], Result]) -> Result:
        async with self._turn:
            cancelled = Flag()

            def work() -> Result:
                CANCELLED.set(cancelled)  # in the thread's own context
                return call()

            try:
                return await asyncio.to_thread(work)
            except asyncio.CancelledError:
                cancelled.set()
                self.compactor.abandon()
                raise
