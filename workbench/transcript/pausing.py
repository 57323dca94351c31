"""Work on millions of small values that hold no cycle, without Python searching them for cycles again and again."""

from __future__ import annotations

import gc
from contextlib import ContextDecorator
from typing import Self


class collector_paused(ContextDecorator):
    """Python's cyclic garbage collector is off inside, and afterwards as it was before."""

    def __enter__(self) -> Self:
        self._was = gc.isenabled()
        gc.disable()
        return self

    def __exit__(self, *error: object) -> None:
        if self._was:
            gc.enable()

    def _recreate_cm(self) -> Self:
        """Another one for each call of a function that it decorates: calls may stand inside each other."""
        return type(self)()
