"""Prints how large the report of a made-up run is, and how soon a browser shows it from disk.

Usage: PYTHONPATH=.:tests python tests/benchmarks/bench_report.py [SESSIONS ...]
Aims: at most 3 MB and 1 s with 100 sessions. Loading is from the request to the end of the page's own script, median
of five fresh pages; "first words" is when the browser first painted.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from playwright.sync_api import sync_playwright
from report.made import made

from workbench.report import render

TIMES = (
    "(t => [t.loadEventEnd, (performance.getEntriesByName('first-contentful-paint')[0] || {startTime: NaN}).startTime])"
)
LOADED = TIMES + "(performance.getEntriesByType('navigation')[0])"
EIGHT = ("none", "null", "truncate", "summarize", "pipeline", "opal", "operator_use", "ddx_agent", "ex_athena", "codex")


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
            source = made(sessions, EIGHT)
            source.written(Path(folder))
            started = perf_counter()
            report = render(folder)
            made_in = perf_counter() - started
            loaded, painted = opened(report)
            size = report.stat().st_size / 2**20
            print(
                f"{sessions:4} sessions, {len(EIGHT)} strategies: {size:.2f} MB, loaded in {loaded:.2f} s, first words "
                f"after {painted:.2f} s, rendered in {made_in:.0f} s"
            )


if __name__ == "__main__":
    main()
