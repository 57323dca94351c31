"""How long the explorer lets a reader wait in JupyterLab and in Notebook 7, in a real browser:
milliseconds by the clock from an act until what it asks for can be seen.

Usage: python tests/benchmarks/bench_lab.py [--rounds 5]

Starts a server with the course, opens the lesson on the explorer in headless Chromium and does
what a reader does. Beside it stands a bare button of ipywidgets that does nothing but count: what
the way from browser to kernel and back takes by itself.

- opened: the first run of all cells, until the picture of the session is drawn
- compaction, message: a click on one, until its text stands there
- tab: another tab of the explorer
- window: the slider by one place, with a replay of the session
- again: the slider back to where it was
- bare button: as above

Each figure is the median of the rounds, with the worst behind it. Needs Chromium and the packages
for tests.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import nbformat

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser.chromium import find_chromium, launched
from browser.jupyter import (
    LAB,
    NOTEBOOK_7,
    Jupyter,
    open_notebook,
    run_all,
    started_jupyter,
)

EXPLORER = "03_explore_session"
BARE = "bare_button"
BARE_BUTTON = """
import ipywidgets as w
clicks = [0]
button, label = w.Button(description="Click"), w.Label("0 clicks")
def count(_):
    clicks[0] += 1
    label.value = f"{clicks[0]} clicks"
button.on_click(count)
w.VBox([button, label])
"""
SLIDER = ".jp-OutputArea .noUi-handle"
Waits = dict[str, list[float]]
"""Milliseconds, by what was done."""


class Stopwatch:
    """Notes how long each act takes until something can be seen."""

    def __init__(self) -> None:
        self.waits: Waits = defaultdict(list)

    def time(self, name: str, act: Callable[[], object], result: Any) -> None:
        """`result` is a locator of what the act makes appear."""
        start = perf_counter()
        act()
        result.wait_for()
        self.waits[name].append(1000 * (perf_counter() - start))


def time_explorer(page: Any, rounds: int) -> Waits:
    """What a reader of the lesson waits for."""
    watch = Stopwatch()
    watch.time("opened", lambda: run_all(page), page.get_by_text("window, 24,000").first)
    page.get_by_text("under truncate").wait_for()
    for _ in range(rounds):
        time_round(page, watch)
    return watch.waits


def time_round(page: Any, watch: Stopwatch) -> None:
    """Each act once; ends as it began."""
    explorer = page.locator(".wb-x")
    page.get_by_role("tab", name="Messages").first.click()
    watch.time(
        "compaction",
        page.locator('[data-go="boundary:1"]').first.click,
        page.get_by_text("needed later, the context holds").first,
    )
    watch.time(
        "message",
        page.locator('.wb-x td [data-go^="message:"]:visible').first.click,
        page.locator(".story:visible").first,
    )
    watch.time(
        "tab",
        page.get_by_role("tab", name="Before and after").first.click,
        explorer.locator("p:visible", has_text="Before message").first,
    )
    slider = page.locator(SLIDER).first
    watch.time(
        "window",
        lambda: slider.press("ArrowRight"),
        page.get_by_text("window, 32,000").first,
    )
    watch.time(
        "again",
        lambda: slider.press("ArrowLeft"),
        page.get_by_text("window, 24,000").first,
    )


def time_bare_button(page: Any, rounds: int) -> Waits:
    """The way to the kernel and back."""
    watch = Stopwatch()
    run_all(page)
    output = page.locator(".jp-OutputArea-output")
    button = output.get_by_role("button", name="Click")
    for number in range(1, rounds + 1):
        watch.time("bare button", button.click, output.get_by_text(f"{number} clicks"))
    return watch.waits


@contextmanager
def server_with_bare_button() -> Iterator[Jupyter]:
    """The course's server, with a notebook more."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with started_jupyter(home) as jupyter:
            cell = nbformat.v4.new_code_cell(BARE_BUTTON)
            kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
            notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel})
            nbformat.write(notebook, home / "course" / f"{BARE}.ipynb")
            yield jupyter


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("Chromium is needed, and none is installed.")
    with server_with_bare_button() as jupyter, launched(chromium) as browser:
        for name, interface in (("JupyterLab", LAB), ("Notebook 7", NOTEBOOK_7)):
            with open_notebook(browser, jupyter.lesson(EXPLORER, interface)) as notebook:
                waits = time_explorer(notebook.page, rounds)
            with open_notebook(browser, jupyter.lesson(BARE, interface)) as notebook:
                waits |= time_bare_button(notebook.page, rounds)
            print_waits(name, waits)


def print_waits(interface: str, waits: Waits) -> None:
    bare = median(waits["bare button"])
    print(f"{interface:14}{'median ms':>12}{'worst ms':>12}{'x bare button':>16}")
    for name, times in waits.items():
        middle = median(times)
        print(f"  {name:12}{middle:12,.0f}{max(times):12,.0f}{middle / bare:16.1f}")


if __name__ == "__main__":
    main()
