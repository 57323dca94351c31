"""Prints how soon `workbench runs report` has written the page of a made-up run, its size, and how
soon it is shown.

Usage: PYTHONPATH=.:tests python tests/benchmarks/bench_report.py [SESSIONS ...]
Aims: the page of ten sessions in 3 s from the start of the command, on a machine with nothing else
to do; at most 3 MB and 1 s to load with 100 sessions. Writing is timed in a fresh process, from its
start to the page and to the notebook behind it, beside the time in which a fresh process imports
pandas and matplotlib and does no more. Loading is from the request to the end of the page's own
script, median of five fresh pages; "first words": when the browser first painted.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import time

from playwright.sync_api import sync_playwright
from report.page.made import made

TIMES = (
    "(t => [t.loadEventEnd, (performance.getEntriesByName('first-contentful-paint')[0] ||"
    " {startTime: NaN}).startTime])"
)
LOADED = TIMES + "(performance.getEntriesByType('navigation')[0])"
EIGHT = (
    "none",
    "null",
    "truncate",
    "summarize",
    "pipeline",
    "opal",
    "operator_use",
    "ddx_agent",
    "ex_athena",
    "codex",
)


def written(folder: Path) -> tuple[float, float]:
    """Seconds from the start of the command to the page, and to the notebook."""
    began = time()
    command = [sys.executable, "-m", "workbench", "runs", "report", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    page, notebook = (
        (folder / name).stat().st_mtime - began for name in ("report.html", "report.ipynb")
    )
    return page, notebook


def imported() -> float:
    """Seconds in which a process imports what no report can do without."""
    began = time()
    subprocess.run([sys.executable, "-c", "import pandas, matplotlib.figure"], check=True)
    return time() - began


def opened(path: Path) -> tuple[float, float]:
    """Seconds to the end of loading and to the first paint, median of five."""
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        found = []
        for _ in range(5):
            page = browser.new_page()
            page.goto(path.as_uri())
            page.wait_for_timeout(200)
            found.append(page.evaluate(LOADED))
            page.close()
        browser.close()
    return tuple(median(one[i] for one in found) / 1000 for i in (0, 1))  # type: ignore[return-value]


def main() -> None:
    for sessions in [int(word) for word in sys.argv[1:]] or [10, 100]:
        with tempfile.TemporaryDirectory() as folder:
            made(sessions, EIGHT).written(Path(folder))
            imports, (page, notebook), report = (
                imported(),
                written(Path(folder)),
                Path(folder) / "report.html",
            )
            loaded, painted = opened(report)
            size = report.stat().st_size / 2**20
            print(
                f"{sessions:4} sessions, {len(EIGHT)} strategies: page after {page:.1f} s,"
                f" {page / imports:.1f} times importing pandas and matplotlib, notebook after"
                f" {notebook:.1f} s; {size:.2f} MB, loaded in {loaded:.2f} s, first words after"
                f" {painted:.2f} s"
            )


if __name__ == "__main__":
    main()
