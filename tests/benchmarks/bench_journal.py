"""What it costs to save a compactor durably with each request, at 10,000 messages.

    python tests/benchmarks/bench_journal.py [--presets pi opal] [--messages 10000]

A conversation of 10,000 messages goes on for 200 more. At each request `before_request`,
`report_usage` and `save_to` are timed together, with the disk's `fsync`; beside it stands what
`before_request` and `report_usage` take alone, what one `fsync` of a line takes, and what a whole
`save` takes. Goal: 5 ms in the median.

Figures of 2026-11-28, under a load of 3 on two cores, with the files in memory (`--folder /dev/shm`):
1.0 to 1.7 ms in the median under all presets but `codex_local` (3.0), all of it of the processor;
the same on a disk that takes 2.5 to 4 ms for a line: 4.0 ms under `pi` and `observation_mask`, 6.8
under `clear_tool_uses` (2.5 to 2.9 of the processor). In 95 %: 1.6 to 13 ms, and 43 under
`clear_tool_uses` and `observation_mask`, which compact thousands of results in one request of seven
and more.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).parent.parent))

from live.long_talk import conversation
from preset_names import BUILTIN_PRESETS

from workbench import Compactor, Completion, SummaryRequest

GOAL = 0.005
MORE = 200
"""Messages behind the first 10,000."""

HEADS = (
    "ms",
    "request",
    "save",
    "both",
    "processor",
    "both, 95 %",
    "save / line",
    "whole / save",
)

LINE = b"x" * 1_000 + b"\n"


class Terse:
    """A model that answers at once."""

    name = "terse"

    def complete(self, request: SummaryRequest, /) -> Completion:
        """A summary that costs no time."""
        return Completion(text="## Goal\ngo on\n" * 20, model=self.name)


@dataclass(slots=True)
class Times:
    """Seconds of each request, of each save, of the processor for both, and of one whole save."""

    requests: list[float] = field(default_factory=list)
    saves: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    whole: float = 0.0

    @property
    def both(self) -> list[float]:
        """Seconds of each request with its save."""
        return [request + save for request, save in zip(self.requests, self.saves, strict=True)]


def times_of(preset: str, messages: int, window: int, folder: Path) -> Times:
    """What requests and saves take behind so many messages."""
    chat, requests = conversation(messages // 4, "openai")
    ends = [end for end, _ in requests if messages <= end <= messages + MORE]
    live = Compactor(preset, model=Terse(), window=window)
    live.before_request(chat[: ends[0] - 1])
    file = folder / f"{preset}.journal"
    live.save_to(file)
    times = Times()
    for end in ends:
        start, processor = time.perf_counter(), time.process_time()
        live.before_request(chat[:end])
        live.report_usage({"prompt_tokens": live.tokens, "completion_tokens": 1})
        between = time.perf_counter()
        live.save_to(file)
        times.requests.append(between - start)
        times.saves.append(time.perf_counter() - between)
        times.processor.append(time.process_time() - processor)
    start = time.perf_counter()
    json.dumps(live.save())
    times.whole = time.perf_counter() - start
    return times


def fsync_seconds(folder: Path) -> float:
    """What it takes to put one line on this disk, in the median."""
    seconds = []
    for _ in range(50):
        start = time.perf_counter()
        with (folder / "lines").open("ab") as file:
            file.write(LINE)
            file.flush()
            os.fsync(file.fileno())
        seconds.append(time.perf_counter() - start)
    return median(seconds)


def main() -> None:
    """A row for each preset, in a window of 128,000 tokens."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--presets", nargs="+", default=sorted(BUILTIN_PRESETS), choices=sorted(BUILTIN_PRESETS)
    )
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--folder", help="for the files; the system's own if left out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        line = fsync_seconds(folder)
        print(
            f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; a line: {line * 1e3:.2f} ms"
        )
        print("".join(f"{head:>16}" for head in HEADS))
        slow = []
        for preset in options.presets:
            times = times_of(preset, options.messages, 128_000, folder)
            both = median(times.both)
            print(f"{preset:>16}" + row(times, line), flush=True)
            if both > GOAL:
                slow.append(preset)
    print(f"more than {GOAL * 1e3:.0f} ms: {', '.join(slow) or 'none'}")


def row(times: Times, line: float) -> str:
    """The figures of a preset, in milliseconds, and the two ratios."""
    save = median(times.saves)
    seconds = (
        median(times.requests),
        save,
        median(times.both),
        median(times.processor),
        quantiles(times.both, n=20)[-1],
    )
    return (
        "".join(f"{one * 1e3:16.2f}" for one in seconds)
        + f"{save / line:16.1f}{times.whole / save:16.0f}"
    )


if __name__ == "__main__":
    main()
