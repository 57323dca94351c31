"""How far long work has come: a bar on a terminal and in a notebook, lines in a pipe or a log."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Event, Thread
from typing import TYPE_CHECKING, NoReturn, TextIO

from workbench.base.pulse import PULSE

if TYPE_CHECKING:
    from tqdm import tqdm

BAR = (
    "{desc}: {percentage:3.0f}%|{bar}| {n:.3g} of {total_fmt} {unit}s"
    " [{elapsed}<{remaining}]{postfix}"
)
LINE = "{desc}: {n:.3g} of {total_fmt} {unit}s, {elapsed}{postfix}"
SILENCE = {True: 1.5, False: 15.0}
"""Seconds after which it is shown again although nothing ended: as a bar, and as a line."""


@contextmanager
def progress(total: int, word: str, unit: str = "file", *, quiet: bool) -> Iterator[tqdm[NoReturn]]:
    """What is being done and how far it is, on standard error, also while nothing ends; quiet
    shows nothing.
    """
    from tqdm.auto import tqdm

    is_bar = sys.stderr.isatty() or "notebook" in tqdm.__module__
    style = (
        {"bar_format": BAR}
        if is_bar
        else {"bar_format": LINE, "file": Lines(sys.stderr), "mininterval": 5.0}
    )
    ended = Event()
    shown_otherwise = PULSE.paused() if is_bar and not quiet else nullcontext()
    with (
        shown_otherwise,
        tqdm(total=total, desc=word, unit=unit, disable=quiet, leave=False, **style) as bar,
    ):

        def go_on() -> None:
            while not ended.wait(SILENCE[is_bar]):
                bar.refresh()

        ticking = Thread(target=go_on, daemon=True)
        ticking.start()
        try:
            yield bar
        finally:
            ended.set()
            ticking.join()


class Lines:
    """A stream that takes what is drawn over itself, and writes each new state as a line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._last = stream, ""

    def write(self, text: str) -> None:
        """A state; what only erases the one before is left out."""
        line = text.strip()
        if line and line != self._last:
            self._last = line
            PULSE.spoke()
            self._stream.write(line + "\n")

    def flush(self) -> None:
        """Pass it on."""
        self._stream.flush()
