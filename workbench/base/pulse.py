"""A sign of life: a dot on standard error wherever nothing was said for a while."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic

SILENCE = 1.0
"""Seconds without a word after which a dot is written."""


class Pulse:
    """Writes dots while it beats; who says something tells it before, so that its words begin a
    line.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin anew, as in a process that was forked: a lock that was held stays held there."""
        self._lock = Lock()
        self._last_word = monotonic()
        self._has_dots = False
        self._pauses = 0

    def spoke(self) -> None:
        """Something is about to be said: end the line of dots."""
        with self._lock:
            if self._has_dots:
                sys.stderr.write("\n")
                sys.stderr.flush()
            self._has_dots = False
            self._last_word = monotonic()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inside something else shows that work goes on, such as a bar."""
        self.spoke()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            self.spoke()

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Inside no silence is longer than a few seconds."""
        ended = Event()
        self.spoke()
        beat = Thread(target=self._beat, args=(ended,), daemon=True)
        beat.start()
        try:
            yield
        finally:
            ended.set()
            beat.join()
            self.spoke()

    def _beat(self, ended: Event) -> None:
        while not ended.wait(max(self._last_word + SILENCE - monotonic(), 0.1)):
            with self._lock:
                is_silent = monotonic() - self._last_word >= SILENCE
                if is_silent and not self._pauses:
                    sys.stderr.write(".")
                    sys.stderr.flush()
                    self._has_dots = True
                    self._last_word = monotonic()


PULSE = Pulse()
"""That of this process."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=PULSE.restart)
