"""What a moved slider of the explorer costs until its final picture is drawn: seconds of the
processor, by strategy.

Usage: python tests/benchmarks/bench_explorer.py [--sizes 1000,10000] [--strategies none,truncate]
[RECORDINGS ...]

Joins recordings to sessions of 1,000 and of 10,000 messages (those of ../shared/corpora if none are
named), opens the explorer with its widgets, and moves one slider at a time, each time to a place
where it has not been: the window to half, a tenth and a fortieth of the session (of 24,000 tokens
at least), then the threshold, then the kept tail.

- opened: counting, extraction and the first replay, once a session
- first: until something is drawn, which is when the picture begins to fill in
- slider: the whole way, with the replay and everything that is drawn; the median of its moves, and
  the worst
- redraw: the drawing alone
- back: a slider moved back to where it was before
- click: another compaction, with what it lost
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from bench_replay import joined

from workbench import Explorer, Session, explore
from workbench.report.explorer.controls import Controls

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
FOLDERS = (
    "pi-mono", "entireio-cli", "agentv", "context-evaluator", "oh-my-posh", "session-bridge", "openhands", "swe-smith",
    "getspecstory", "tau-bench",
)  # fmt: skip
STRATEGIES = "none,null,truncate,summarize,pipeline,hermes_lean"
SHARES = (0.5, 0.1, 0.025)
LEAST = 24_000


def seconds(what: Callable[[], object]) -> float:
    """Seconds of the processor that it takes."""
    start = process_time()
    what()
    return process_time() - start


def moves(view: Explorer) -> list[dict[str, Any]]:
    """One slider each."""
    sizing = view.ready.sizing
    windows = [sizing.window(max(LEAST, int(share * sum(sizing.sizes)))) for share in SHARES]
    settings = [("window", windows), ("threshold", (0.65, 0.55)), ("tail", (4_000, 12_000))]
    return [{name: value} for name, values in settings for value in values]


def row(view: Explorer, strategy: str) -> str:
    """The figures of one strategy."""
    view = Explorer(view.ready, view.presets, view.model, view.settings)
    view.set(strategy=strategy)
    controls = Controls(view)
    firsts, sliders, redraws, fired = [], [], [], []
    for change in moves(view):
        first = seconds(lambda change=change: view.begin(0.2, **change))  # type: ignore[misc]
        drawn = seconds(controls.redraw)
        rest = seconds(view.go_on)
        redraws.append(seconds(controls.redraw))
        firsts.append(first + drawn)
        sliders.append(first + drawn + rest + redraws[-1])
        fired.append(len(view.replay.events))
    back = seconds(lambda: controls.change(tail=4_000))
    places = sorted({len(view.replay.events) * i // 5 for i in range(1, 5)})
    clicks = [seconds(lambda n=n: controls.moved(view.select, n)) for n in places]  # type: ignore[misc]
    figures = (median(firsts), median(sliders), max(sliders), median(redraws), back, median(clicks))
    return (
        f"{strategy:<14}"
        + "".join(f"{figure:8.2f}" for figure in figures)
        + f"   {min(fired)} to {max(fired)}"
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("recordings", nargs="*", default=[str(CORPORA / name) for name in FOLDERS])
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--strategies", default=STRATEGIES)
    asked = parser.parse_args()
    for size in map(int, asked.sizes.split(",")):
        session = Session.of(list(islice(joined(asked.recordings), size)), id="joined")
        start = process_time()
        view = explore(session, strategy="truncate")
        took = process_time() - start
        tokens = sum(view.ready.sizing.sizes)
        print(f"\n{len(session.messages):,} messages, {tokens:,} tokens: opened in {took:.2f} s")
        heads = ("first", "slider", "worst", "redraw", "back", "click")
        print(
            f"{'strategy':<14}" + "".join(f"{head:>8}" for head in heads) + "   compactions",
            flush=True,
        )
        for name in asked.strategies.split(","):
            print(row(view, name), flush=True)


if __name__ == "__main__":
    main()
