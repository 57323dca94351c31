"""How long a request waits for a summariser that never answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event

from live.talk import openai

from workbench import Compactor, Completion, Settings, SummaryRequest

AT_ONCE = 5
"""So many presets wait side by side, since the work beside the waiting is counted too."""


class Dead:
    """A model that never answers.

    Attributes:
        asked_at: when it was asked first, in seconds of the clock; None where it was not.
    """

    name = "dead"

    def __init__(self) -> None:
        self.asked_at: float | None = None
        self.released = Event()

    def complete(self, request: SummaryRequest, /) -> Completion:
        """Nothing, until it is released."""
        if self.asked_at is None:
            self.asked_at = time.monotonic()
        self.released.wait()
        raise TimeoutError("it was released")


def blocked_seconds(preset: str, settings: Settings) -> float:
    """Seconds from the moment at which a request asks the dead model until it is handed out; 0
    where the preset asks none.
    """
    model = Dead()
    live = Compactor(preset, model=model, window=20_000, settings=settings)
    live.before_request(openai(100))
    returned_at = time.monotonic()
    model.released.set()
    return 0.0 if model.asked_at is None else returned_at - model.asked_at


def worst_block(presets: Sequence[str], settings: Settings) -> float:
    """Seconds of the preset that waits longest."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return max(pool.map(partial(blocked_seconds, settings=settings), presets))
