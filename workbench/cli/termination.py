"""What SIGTERM does to a command: it closes what is open, as after Ctrl-C, and says one
sentence.
"""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

CODE = 128 + signal.SIGTERM
"""The exit code of a command that SIGTERM ended, as shells have it."""


SENTENCE = (
    "workbench: ended by SIGTERM; finished work is kept, and the same command continues from there"
)


class Terminated(BaseException):
    """SIGTERM came. No `except Exception` takes it for an error of its own."""


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM raises `Terminated` inside, so that workers are ended and their libraries have
    nothing to complain of.

    A second one ends the process at once. Nothing changes in a thread, or where somebody handles
    the signal already.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except Terminated:
        _silence_libraries()  # again: a library may have restored its own filters on the way here
        raise
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def ended_at_once() -> Iterator[None]:
    """SIGTERM ends the process inside without a wait for its threads: one that reads the standard
    input waits as long as a client keeps it open.

    For commands that leave nothing half written. Nothing changes outside of `terminable`.
    """
    if signal.getsignal(signal.SIGTERM) is not _terminate:
        yield
        return
    signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, _terminate)


def _end(_number: int, _frame: FrameType | None) -> None:
    os.write(sys.stderr.fileno(), f"{SENTENCE}\n".encode())
    os._exit(CODE)


def _terminate(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    _silence_libraries()
    raise Terminated


def _silence_libraries() -> None:
    """No word of work that was started and not ended: a coroutine that nobody awaited, a loop
    that is half made.
    """
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _unraisable: None
