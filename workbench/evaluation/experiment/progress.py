"""How far long work has come: a bar on a terminal and in a notebook, lines in a pipe or a log."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from html import escape
from shutil import get_terminal_size
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from workbench.base.markup import NO_FORMULAS
from workbench.base.pulse import PULSE

if TYPE_CHECKING:
    from IPython.display import DisplayHandle
    from tqdm import tqdm

BAR = (
    "{desc}: {percentage:3.0f}%|{bar}| {n:.3g} of {total_fmt} {unit}s"
    " [{elapsed}<{remaining}]{postfix}"
)
LINE = "{desc}: {n:.3g} of {total_fmt} {unit}s, {elapsed}{postfix}"
ONGOING = "{desc} ... {elapsed}"
AND = "; "
"""Between the lines below a bar where they stand behind it."""
SILENCE = {True: 1.5, False: 10.0}
"""Seconds after which it is shown again although nothing ended: as a bar, and as a line."""


@dataclass(slots=True)
class StandingLines:
    """Lines that stay below each bar that is shown after them.

    Attributes:
        lines: they.
        printed: the figures that were last written to a pipe.
    """

    lines: Sequence[str] = ()
    printed: str = ""

    def show(self, lines: Sequence[str]) -> None:
        """These lines in the place of those before, from the next bar on."""
        self.lines = tuple(lines)


_STANDING: ContextVar[StandingLines | None] = ContextVar("standing", default=None)


@contextmanager
def standing_lines(lines: Sequence[str] = ()) -> Iterator[StandingLines]:
    """Lines that stay below the bars of all jobs until the `with` ends, whatever these show
    themselves.

    Args:
        lines: those at first; a pipe has them already.
    """
    standing = StandingLines(lines, AND.join(lines))
    token = _STANDING.set(standing)
    try:
        yield standing
    finally:
        _STANDING.reset(token)


def has_standing_lines() -> bool:
    """Whether lines stand below each bar, so that a job shows none of its own."""
    return _STANDING.get() is not None


@contextmanager
def progress(total: int, word: str, unit: str = "file", *, quiet: bool) -> Iterator[tqdm[NoReturn]]:
    """What is being done and how far it is, on standard error, also while nothing ends; quiet
    shows nothing.
    """
    with _moving_bar(BAR if _is_bar() else LINE, total, word, unit, quiet=quiet) as bar:
        yield bar


@contextmanager
def ongoing(word: str, *, quiet: bool) -> Iterator[None]:
    """What is being done, of which nobody can say how far it is, until the `with` ends."""
    with _moving_bar(ONGOING, 1, word, "", quiet=quiet):
        yield


@contextmanager
def others_bar(word: str, unit: str, *, quiet: bool) -> Iterator[dict[str, Any] | bool]:
    """What papermill, which draws a bar of its own, is told of it, so that it looks like ours.

    Args:
        word: what is being done.
        unit: what is counted.
        quiet: no bar.
    """
    if quiet:
        yield False
        return
    style: dict[str, Any] = {"desc": word, "unit": unit, "bar_format": BAR, "leave": False}
    if _is_bar():
        with PULSE.paused():
            yield style
    else:
        stream = Lines(sys.stderr, StandingLines())
        yield style | {"bar_format": LINE, "file": stream, "mininterval": 0}


@contextmanager
def _moving_bar(
    bar_format: str, total: int, word: str, unit: str, *, quiet: bool
) -> Iterator[tqdm[NoReturn]]:
    """A bar that is shown again and again while nothing ends."""
    from tqdm.auto import tqdm

    standing = _STANDING.get() or StandingLines()
    style: dict[str, Any] = {"bar_format": bar_format}
    if not _is_bar():
        style |= {
            "file": Lines(sys.stderr, standing),
            "mininterval": 5.0,
            "postfix": AND.join(standing.lines),
        }
    ended = Event()
    shown_otherwise = PULSE.paused() if _is_bar() and not quiet else nullcontext()
    with (
        shown_otherwise,
        tqdm(total=total, desc=word, unit=unit, disable=quiet, leave=False, **style) as bar,
    ):

        def go_on() -> None:
            while not ended.wait(SILENCE[_is_bar()]):
                bar.refresh()

        ticking = Thread(target=go_on, daemon=True)
        ticking.start()
        try:
            with closing(LinesBelow(bar)) as lines_below:
                lines_below.show(standing.lines)
                yield bar
        finally:
            ended.set()
            ticking.join()


def _is_bar() -> bool:
    """Whether it is drawn over itself, as on a terminal and in a notebook."""
    from tqdm.auto import tqdm

    for parent in tqdm.__mro__:
        if parent.__module__ == "tqdm.notebook":
            return True
    return _is_terminal()


def _is_terminal() -> bool:
    """Whether standard error is a terminal on which a line can be drawn over: one that knows its
    width and is not dumb.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return False
    return os.get_terminal_size(sys.stderr.fileno()).columns > 0


class LinesBelow:
    """Lines that belong to a bar: below it, and drawn over themselves, on a terminal and in a
    notebook; behind it in a pipe.
    """

    def __init__(self, bar: tqdm[NoReturn]) -> None:
        self._bar = bar
        self._lines: list[tqdm[NoReturn]] = []
        self._output: DisplayHandle | None = None
        self._is_first = True

    def show(self, lines: Sequence[str]) -> None:
        """These lines in the place of those before."""
        if self._bar.disable:
            return
        if _is_terminal():
            self._draw(lines)
        elif _is_bar():
            self._show_in_notebook(lines)
        else:
            self._bar.set_postfix_str(AND.join(lines), refresh=self._is_first and bool(lines))
        self._is_first = self._is_first and not lines

    def _draw(self, lines: Sequence[str]) -> None:
        from tqdm.auto import tqdm

        while len(self._lines) < len(lines):
            line = tqdm(total=0, bar_format="{desc}", leave=False, position=len(self._lines) + 1)
            self._lines.append(line)
        width = get_terminal_size().columns - 1
        for number, line in enumerate(self._lines):
            text = ""
            if number < len(lines):
                text = lines[number][:width]
            line.set_description_str(text)

    def _show_in_notebook(self, lines: Sequence[str]) -> None:
        from IPython.display import HTML, display

        text = "<br>".join(map(escape, lines))
        page = HTML(f'<div class="{NO_FORMULAS}">{text}</div>')
        if self._output is not None:
            self._output.update(page)
        elif lines:
            self._output = display(page, display_id=True)

    def close(self) -> None:
        """Take them away."""
        if self._output is not None:
            self._show_in_notebook([])
        for line in reversed(self._lines):
            line.close()
        self._lines = []


FIGURES = re.compile(r"(.*?, [\d:]+), (.*)", re.DOTALL)
"""A line of progress: up to its time, and the figures behind it."""


class Lines:
    """A stream that takes what is drawn over itself, and writes each new state as a line; figures
    that the line before had too are left out.
    """

    def __init__(self, stream: TextIO, standing: StandingLines) -> None:
        self._stream, self._last, self._news = stream, "", ""
        self._standing = standing

    def write(self, text: str) -> None:
        """A state; what only erases the one before is left out."""
        line = text.strip()
        if not line or line == self._last:
            return
        self._last = line
        news = self._without_known_figures(line)
        if news != self._news:
            self._news = news
            PULSE.spoke()
            self._stream.write(news + "\n")

    def _without_known_figures(self, line: str) -> str:
        match = FIGURES.fullmatch(line)
        if match is None:
            return line
        state, figures = match.groups()
        if figures == self._standing.printed:
            return state
        self._standing.printed = figures
        parts = figures.split(AND)
        if len(parts) == 1:
            return line
        return "\n  ".join([state, *parts])

    def flush(self) -> None:
        """Pass it on."""
        self._stream.flush()
