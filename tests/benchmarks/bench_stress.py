"""Drives compactors through long conversations under presets, formats, hosts' habits and faults;
counts what must be 0.

    python tests/benchmarks/bench_stress.py [--all] [--turns 200] [--presets pi opal] [--window
    16000]

Each combination is one conversation whose requests a stand-in for a provider counts and judges.
Without `--all` each preset meets each format, and the formats take turns with habits and faults, so
that every pair of a preset with one of them occurs. Goals: no request above its window, no broken
pair, no lost message, no undone compaction, no error that escapes, and at 6,000 messages at most 1
ms a request.

Figures of 2026-11-25, without `--all`, 200 turns:

- All twenty presets: 140 runs, 84,420 requests, 4,738 compactions, 689 last resorts; all five
  counts are 0.
- Six variants and four presets with recall, 50 turns in a window of 12,000: 70 runs, 9,380
  requests; all are 0.
- What a request costs stands in `bench_request.py`.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent.parent))

import validators
from benchmarks.bench_request import print_costs
from live.long_talk import FORMATS, conversation
from live.talk import Record
from preset_names import BUILTIN_PRESETS

from workbench import Compactor, Completion, Hooks, ModelError, SummaryRequest, find_model
from workbench.engine.transcript.message import chars_per_token
from workbench.live.events import CompactionEnded, LastResort, Rewound
from workbench.live.formats.table import FORMATS as MESSAGE_FORMATS
from workbench.live.message_reader import MessageReader

VALID = {
    "openai": validators.openai_chat, "anthropic": validators.anthropic, "responses": validators.openai_responses,
    "gemini": validators.gemini,
}  # fmt: skip
HABITS = ("plain", "rebuilt", "marker", "reminder")
FAULTS = ("none", "raises", "hangs", "empty", "too_long", "hooks", "overflow")
ZERO = ("over window", "broken pairs", "lost", "undone", "escaped")
REFUSALS = (
    "prompt is too long: 213462 tokens > 200000 maximum",
    (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in"
        " 130000 tokens."
    ),
    "Input is too long for requested model.",
    {
        "error": {
            "code": "context_length_exceeded",
            "message": "Your input exceeds the context window of this model.",
        }
    },
)


class Faulty:
    """A model that fails at every second request, in one way."""

    name = "faulty"
    reads_messages = True

    def __init__(self, fault: str) -> None:
        self.fault, self.asked = fault, 0

    def complete(self, request: SummaryRequest, /) -> Completion:
        """A summary, or the fault."""
        self.asked += 1
        if self.asked % 2:
            match self.fault:
                case "raises":
                    raise (ModelError("down"), ValueError("odd"), TimeoutError("slow"))[
                        self.asked // 2 % 3
                    ]
                case "hangs":
                    time.sleep(0.002)
                    raise TimeoutError("no answer in time")
                case "empty":
                    return Completion(text=" ", model=self.name, usd=0.01)
                case "too_long":
                    return Completion(
                        text="much too long a summary " * 4_000, model=self.name, usd=0.01
                    )
        return find_model("extractive").complete(request)


class Broken:
    """A host's functions that raise at every second call."""

    def __init__(self) -> None:
        self.called = 0

    def __call__(self, *_: object) -> None:
        self.called += 1
        if self.called % 2:
            raise RuntimeError("the host is broken")


def with_habit(habit: str, format: str, messages: list[Record], number: int) -> list[Record]:
    """The messages as such a host passes them at its request of this number."""
    if habit == "rebuilt":
        rebuilt: list[Record] = json.loads(json.dumps(messages))
        return rebuilt
    if habit == "plain" or (habit == "marker" and format in ("responses", "gemini")):
        return messages
    last = copy.deepcopy(messages[-1])
    mark = {"cache_control": {"type": "ephemeral"}}
    note = f"<system-reminder>Request {number}: keep to the plan.</system-reminder>"
    if habit == "marker":
        if isinstance(last["content"], str):
            last["content"] = [{"type": "text", "text": last["content"]}]
        last["content"][-1] |= mark
    elif format == "gemini":
        last["parts"] = [*last["parts"], {"text": note}]
    elif format == "anthropic":
        said = last["content"]
        said = [{"type": "text", "text": said}] if isinstance(said, str) else said
        last["content"] = [*said, {"type": "text", "text": note}]
    else:
        return [
            *messages,
            {
                "role": "user",
                "content": note,
                **({"type": "message"} if format == "responses" else {}),
            },
        ]
    return [*messages[:-1], last]


def weighed(request: Sequence[Record], format: str) -> int:
    """Tokens of a request as its provider counts them: items of one answer together, other
    messages one by one.
    """
    tokens = 0
    for joined, group in groupby(request, MESSAGE_FORMATS[format].joins):  # type: ignore[index]
        run = [*group]
        tokens += sum(
            _weight(json.dumps(messages), format)
            for messages in ([run] if joined else [[one] for one in run])
        )
    return tokens


@lru_cache(100_000)
def _weight(messages: str, format: str) -> int:
    reader = MessageReader(chars_per_token, format=format)  # type: ignore[arg-type]
    return sum(sum(entry.sizes) for entry in reader.read(json.loads(messages)))


def driven(
    preset: str, format: str, habit: str, fault: str, turns: int, window: int
) -> Counter[str]:
    """What was counted in one conversation."""
    messages, requests = conversation(turns, format)
    broken = Broken()
    hooks = Hooks(before=broken, before_stage=broken, after=broken) if fault == "hooks" else Hooks()
    live = Compactor(
        preset,
        model=Faulty(fault),
        window=window,
        hooks=hooks,
        format=format,  # type: ignore[arg-type]
        on_event=broken if fault == "hooks" else None,
    )
    counter: Counter[str] = Counter(runs=1)
    for number, (end, begins) in enumerate(requests):
        counter["requests"] += 1
        try:
            if begins and end > 1:
                live.after_turn(messages[: end - 1])
            sent = live.before_request(with_habit(habit, format, messages[:end], number))
            tokens = weighed(sent, format)
            counter["over window"] += tokens > window
            counter["broken pairs"] += bool(VALID[format](sent))
            if tokens > window or (fault == "overflow" and number % 19 == 18):
                retry = live.on_error(REFUSALS[number % len(REFUSALS)])
                if retry is not None:
                    counter["retries"] += 1
                    counter["over window"] += weighed(retry.messages, format) > window
                    counter["broken pairs"] += bool(VALID[format](retry.messages))
            elif habit != "rebuilt":
                live.report_usage({"prompt_tokens": tokens, "completion_tokens": 9})
        except Exception as error:  # noqa: BLE001  # nothing may escape: what does is counted
            counter["escaped"] += 1
            counter[
                f"{preset} {format} {habit} {fault}: {type(error).__name__}: {error}"[:160]
            ] += 1
    counter["lost"] += lost(live, messages[: requests[-1][0]])
    counter["undone"] += sum(event.undone for event in live.events if isinstance(event, Rewound))
    counter["compactions"] += sum(isinstance(event, CompactionEnded) for event in live.events)
    counter["last resorts"] += sum(isinstance(event, LastResort) for event in live.events)
    return counter


def lost(live: Compactor, messages: Sequence[Record]) -> int:
    """How many of the host's messages the log does not have any more."""
    texts = Counter(map(_text, live.original))
    return sum((Counter(map(_text, messages)) - texts).values())


def _text(record: Record) -> str:
    """What a message says, without what hosts put beside it."""
    said = record.get("content", record.get("parts", record))
    parts = said if isinstance(said, list) else [{"type": "text", "text": said}]
    whole = [
        {k: v for k, v in part.items() if k != "cache_control"}
        for part in parts
        if "reminder>" not in str(part)
    ]
    return json.dumps([whole, record.get("tool_calls")], sort_keys=True)


def combinations(presets: Sequence[str], every: bool) -> Iterator[tuple[str, str, str, str]]:
    """All combinations, or for each preset those in which formats take turns with habits and
    faults.
    """
    if every:
        yield from product(presets, FORMATS, HABITS, FAULTS)
        return
    for p, preset in enumerate(presets):
        for n in range(len(FAULTS)):
            format = (*FORMATS,)[(p + n) % len(FORMATS)]
            yield preset, format, HABITS[(p + n // 2 + n) % len(HABITS)], FAULTS[n]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Counts what must be 0 under presets, formats, habits and faults."
    )
    parser.add_argument("--all", action="store_true", help="every combination: an hour")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--window", type=int, default=32_000)
    parser.add_argument(
        "--presets",
        nargs="+",
        default=sorted(BUILTIN_PRESETS),
        help="also variants, and with `+recall`",
    )
    given = parser.parse_args(arguments)
    whole: Counter[str] = Counter()
    heads = ("runs", "requests", "compactions", "last resorts", "retries", *ZERO)
    print(f"{'':18}" + "".join(f"{head:>14}" for head in heads))
    for preset in given.presets:
        counter: Counter[str] = Counter()
        for combination in combinations([*given.presets], given.all):
            if combination[0] == preset:
                now = driven(*combination, given.turns, given.window)
                counter += now
                if any(now[head] for head in ZERO):
                    print(
                        "   not 0:", *combination, {head: now[head] for head in ZERO if now[head]}
                    )
        print(f"{preset:18}" + "".join(f"{counter[head]:14,}" for head in heads), flush=True)
        whole += counter
    print(f"{'all':18}" + "".join(f"{whole[head]:14,}" for head in heads))
    for text in whole.keys() - set(heads):
        print(f"  {whole[text]} x {text}")
    print_costs(given.presets)
    return 1 if any(whole[head] for head in ZERO) else 0


if __name__ == "__main__":
    raise SystemExit(main())
