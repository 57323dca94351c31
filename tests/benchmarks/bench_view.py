"""What it takes to open a session in `workbench view`, beside the explorer's opening of the same
session.

Usage: python tests/benchmarks/bench_view.py [--sizes 2000,10000] [RECORDINGS ...]

Joins recordings to sessions of 2,000 and of 10,000 messages (those of `bench_explorer.py` if none
are named), compares two strategies on each, serves the run, and asks for pages as a browser does.
Seconds of the processor, but for the browser:

- explorer: `explore` with one strategy and its static page, which is what the view is measured
  against
- first: the session's page for the first time, with reading, counting, extraction and both replays
- again: the same page once more
- request: another request of the same session
- search: a word in all of its messages
- browser: until Chromium has loaded the page, on the clock, where the session was opened before
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from bench_explorer import CORPORA, FOLDERS
from bench_replay import joined
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from report.view.made import get, served

from workbench import Session, compare, explore, load, save

STRATEGIES = ["truncate", "summarize"]
WINDOW = 64_000


def seconds(what: Callable[[], object], clock: Callable[[], float] = process_time) -> float:
    """Seconds that it takes."""
    start = clock()
    what()
    return clock() - start


def opened(address: str) -> float:
    """Seconds until Chromium has drawn the page."""
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page()
        page.goto("about:blank")
        took = seconds(lambda: page.goto(address, wait_until="load"), perf_counter)
        browser.close()
    return took


def row(size: int, recordings: list[str], folder: Path) -> str:
    """The figures of one size."""
    path = folder / "session.jsonl"
    save(Session.of(list(islice(joined(recordings), size)), id="joined"), path)
    compare(
        [path],
        strategies=STRATEGIES,
        window=WINDOW,
        shares=(),
        out=folder / "reports" / "run",
        quiet=True,
    )
    explorer = seconds(lambda: explore(load(path)[0], strategy="truncate", window=WINDOW).html())
    with served(folder / "reports") as server:
        page = f"{server.address}runs/run/session?id=joined&left=truncate&right=summarize"
        found = [
            seconds(lambda more=more: get(page + more))
            for more in ("", "", "&request=100", "&q=test")
        ]  # type: ignore[misc]
        found.append(opened(page))
    figures = "".join(f"{one:9.2f}" for one in (explorer, *found))
    return f"{size:>9,}{figures}   first is {found[0] / explorer:.1f} times the explorer's"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("recordings", nargs="*", default=[str(CORPORA / name) for name in FOLDERS])
    parser.add_argument("--sizes", default="2000,10000")
    asked = parser.parse_args()
    heads = ("explorer", "first", "again", "request", "search", "browser")
    print(f"{'messages':>9}" + "".join(f"{head:>9}" for head in heads), flush=True)
    for size in map(int, asked.sizes.split(",")):
        with TemporaryDirectory() as folder:
            print(row(size, asked.recordings, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
