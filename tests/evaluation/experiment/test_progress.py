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


TWICE = """
from workbench.evaluation.experiment.progress import progress
with progress(3, "replaying", quiet=False) as bar:
    for figures in ("names: 61 %", "names: 61 %", "names: 64 %"):
        bar.n += 1
        bar.set_postfix_str(figures, refresh=False)
        bar.refresh()
"""


def test_in_a_pipe_figures_stand_in_a_line_only_where_they_changed() -> None:
    run = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, check=True)
    shown = [line for line in run.stderr.splitlines() if "of 3 files" in line]
    assert ["names" in line for line in shown] == [False, True, False, True]
    assert "2 of 3 files, 00:0" in shown[2] and "64 %" in shown[3]


NOTEBOOK = """
import sys
from types import ModuleType
import tqdm.std

class InNotebook(tqdm.std.tqdm):
    __module__ = "tqdm.notebook"

class Auto(InNotebook):
    __module__ = "tqdm.auto"

auto = ModuleType("tqdm.auto")
auto.tqdm = Auto
sys.modules["tqdm.auto"] = auto
import IPython.display

def shown(page, display_id=None):
    print("shown", page.data)
    return Output()

class Output:
    def update(self, page):
        print("changed to", page.data)

IPython.display.display = shown
from workbench.evaluation.experiment.progress import LinesBelow, progress
with progress(2, "replaying", quiet=False) as bar:
    below = LinesBelow(bar)
    below.show(["truncate: <names> 61 %", "1 session"])
    below.show(["truncate: names 64 %"])
    below.close()
"""


def test_in_a_notebook_lines_stand_below_the_bar_and_go_with_it() -> None:
    run = subprocess.run(
        [sys.executable, "-c", NOTEBOOK], capture_output=True, text=True, check=True
    )
    no_formulas = '<div class="mathjax_ignore tex2jax_ignore">'
    assert run.stdout.splitlines() == [
        f"shown {no_formulas}truncate: &lt;names&gt; 61 %<br>1 session</div>",
        f"changed to {no_formulas}truncate: names 64 %</div>",
        f"changed to {no_formulas}</div>",
    ]
    assert "replaying:   0%|" in run.stderr
