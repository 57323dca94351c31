"""What a live request costs at 6,000 messages, under every preset, in processor time.

    python tests/benchmarks/bench_request.py [--presets pi opal]

Beside it stands how many times one `==` of the host's list with its last one that is: nothing
cheaper would see that a text was edited. Goal: at most 1 ms. The last two columns are of a window
of 128,000 tokens in which the preset compacts by itself: the mean of all requests from 5,500
messages on, and of those that compacted (with a model that answers at once).

Figures of 2026-11-25, all twenty presets, under a load of 19 on two cores:

- The same dicts: 0.25 to 0.46 ms; 0.71 and 0.85 ms where thousands of results are masked
  (`observation_mask`, `clear_tool_uses`).
- New dicts with the same texts (`copy.deepcopy`): 2.9 to 3.9 ms, 1.2 to 1.9 times one `==`. Under a
  load of 2 to 3: 0.7 to 1.7 ms.
- New dicts with new texts (read again from JSON): 4.1 to 5.2 ms, 1.2 to 1.8 times one `==`, which
  itself misses it. Under a load of 2 to 3: 2.2 to 3.6 ms.
- All requests, compactions included: 0.4 to 1.2 ms in the mean; 2.0 and 4.1 ms under
  `clear_tool_uses` and `observation_mask`, where one in 24 and one in seven compacts, for 32 and 25
  ms. Other compactions take 4 to 26 ms.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from live.long_talk import conversation
from live.talk import Record
from preset_names import BUILTIN_PRESETS

from workbench import Compactor, Completion, SummaryRequest, find_model
from workbench.live.events import CompactionEnded

COSTS: dict[str, Callable[[list[Record]], list[Record]]] = {
    "plain": list, "copied": copy.deepcopy, "rebuilt": lambda messages: json.loads(json.dumps(messages)),
}  # fmt: skip
"""Hosts that pass the same dicts, new ones with the same texts, or new ones with new texts."""


class Cost(NamedTuple):
    """Processor seconds: medians of a request and of one `==` of its list with the last, and of
    writing it as JSON.
    """

    request: float
    comparison: float
    writing: float


def cost(preset: str = "truncate", messages: int = 6_000, habit: str = "plain") -> Cost:
    """What a request costs with one new message behind so many.

    They were compacted once, but for `truncate`, which sends them all. The host frees its last list
    itself.
    """
    chat = conversation(1_200, "openai")[0][: messages + 200]
    begun = next(n for n in range(messages, 0, -1) if chat[n - 1]["role"] == "user") - 1
    live = Compactor(preset, model=find_model("extractive"), window=10**9)
    live.before_request(chat[:begun])
    if preset != "truncate":
        live.compact()
    times: dict[bool, list[float]] = {False: [], True: []}
    last: list[Record] = []
    for end in range(messages + 1, len(chat) + 1, 1 if habit == "plain" else 3):
        given = COSTS[habit](chat[:end])
        compared = end % 2 == 0  # alone, of a list that nobody has read yet
        start = time.process_time()
        if compared:
            assert last == given[: len(last)]
        else:
            live.before_request(given)
            live.report_usage({"prompt_tokens": live.tokens, "completion_tokens": 1})
        times[compared].append(time.process_time() - start)
        if compared:
            live.before_request(given)
        last = given
    writing = min(
        timeit.repeat(lambda: json.dumps(chat[:messages]), time.process_time, repeat=5, number=1)
    )
    return Cost(median(times[False]), median(times[True]), writing)


class Terse:
    """Answers at once."""

    name = "terse"
    reads_messages = True

    def complete(self, request: SummaryRequest, /) -> Completion:
        """A summary that costs no time."""
        return Completion(text="## Goal\ngo on\n" * 20, model=self.name)


def compacting(preset: str, messages: int = 5_500, window: int = 128_000) -> tuple[float, float]:
    """Mean processor seconds of a request behind so many messages, and of one that compacted
    (0.0 if none did).
    """
    chat, requests = conversation(1_200, "openai")
    ends = [end for end, _ in requests if messages <= end <= messages + 700]
    live = Compactor(preset, model=Terse(), window=window)
    live.before_request(chat[: ends[0] - 1])
    times: dict[bool, list[float]] = {False: [], True: []}
    for end in ends:
        begun = len(live.events)
        start = time.process_time()
        live.before_request(chat[:end])
        live.report_usage({"prompt_tokens": live.tokens, "completion_tokens": 1})
        seconds = time.process_time() - start
        times[any(isinstance(event, CompactionEnded) for event in live.events[begun:])].append(
            seconds
        )
    return mean(times[False] + times[True]), mean(times[True] or [0.0])


def print_costs(presets: Sequence[str]) -> None:
    """A row a preset: what a request costs, and how many times one `==` of both lists that is."""
    heads = "".join(f"{habit:>18}" for habit in COSTS)
    print(f"\nA request at 6,000 messages, ms (goal 1){'':8}{heads}{'mean':>10}{'compacted':>11}")
    for preset in presets:
        print(f"{preset:48}", end="")
        for habit in COSTS:
            one = cost(preset, habit=habit)
            print(
                f"{one.request * 1e3:10.2f} {one.request / one.comparison:4.1f} ==",
                end="",
                flush=True,
            )
        every, compacted = compacting(preset)
        print(f"{every * 1e3:10.2f}{compacted * 1e3:11.2f}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description="Prints what a live request costs at 6,000 messages."
    )
    parser.add_argument(
        "--presets", nargs="+", default=sorted(BUILTIN_PRESETS), choices=sorted(BUILTIN_PRESETS)
    )
    print_costs(parser.parse_args(arguments).presets)


if __name__ == "__main__":
    main()
