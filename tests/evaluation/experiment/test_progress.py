"""How far a run has come is shown on every terminal, also on one that cannot draw over a line."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

SCRIPT = """
from workbench.evaluation.experiment.progress import LinesBelow, progress
with progress(2, "replaying", quiet=False) as bar:
    below = LinesBelow(bar)
    bar.update(1)
    below.show(["truncate: names 61 %"])
    below.close()
"""


def shown_on_terminal(columns: int, term: str) -> str:
    """What the script writes to a terminal of that kind."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "TERM": term}
    subprocess.run([sys.executable, "-c", SCRIPT], stderr=theirs, env=environment, check=True)
    os.close(theirs)
    text = os.read(ours, 65536).decode()
    os.close(ours)
    return text


def test_a_terminal_has_a_bar_that_is_drawn_over_itself() -> None:
    text = shown_on_terminal(columns=100, term="xterm")
    assert "replaying:   0%|" in text
    assert "\x1b[A" in text
    assert "truncate: names 61 %" in text


@pytest.mark.parametrize(("columns", "term"), [(0, "xterm"), (100, "dumb")])
def test_one_without_a_width_and_a_dumb_one_have_lines(columns: int, term: str) -> None:
    text = shown_on_terminal(columns, term)
    assert "replaying: 0 of 2 files" in text
    assert "truncate: names 61 %" in text
    assert "\x1b" not in text
