"""How much work a replay is, as a ratio to tiktoken alone on the same text, in the same run.

Usage: python tests/benchmarks/bench_replay.py [RECORDINGS ...]

Joins recordings to one session of about a million tokens (those of ../shared/corpora/pi-mono and
entireio-cli if none are named), replays it under five strategies, scores every offline metric, and
prints each part's time: of the processor, which other jobs on the machine disturb least, and by the
clock. After a small session, for which everything is loaded that holds nothing of a text (modules,
what is installed, the encodings' tables, the table of prices), tiktoken and the whole replay take
turns, five times each; each line gives the least of its five times.

Each turn begins from a fresh state: nothing is counted, extracted, read or remembered from the turn
before. "all of it, natural" is the figure to watch: counting, extraction and the five strategies,
each once. All of it is one process.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import _lru_cache_wrapper
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

from workbench import AssistantMessage, Session, ToolCall, find_model, prepared, preset
from workbench.engine.models.tokenizer import TiktokenCounter, loaded
from workbench.engine.transcript.message import Message, ToolResult, counted_text
from workbench.evaluation.experiment.replay_rows import replay_rows
from workbench.evaluation.experiment.spec import RunSpec
from workbench.recordings.importers.importer import scan

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
WANTED = 1_000_000
WINDOW = 100_000
STRATEGIES = ("none", "null", "truncate", "summarize", "pipeline")
TURNS = 5

TABLES = (
    "workbench.base.registry", "workbench.evaluation.metrics.builtin", "workbench.engine.models.prices",
)  # fmt: skip
"""Modules whose caches hold what is installed and the prices: nothing of a text."""

Result = TypeVar("Result")
Times = dict[str, tuple[float, float]]
"""Seconds of the processor and by the clock, by what was done."""


def joined(paths: list[str]) -> Iterator[Message]:
    """The messages of all recordings one after another, with ids that do not clash and without
    reported usage.
    """
    sessions = (session for file in scan(paths, lenient=True) for session in file.sessions)
    for n, session in enumerate(sessions):
        for message in session.messages:
            name = f"{n}-{message.id}"
            if isinstance(message, ToolResult):
                yield replace(message, id=name, call_id=f"{n}-{message.call_id}")
            elif isinstance(message, AssistantMessage):
                blocks = tuple(
                    replace(block, id=f"{n}-{block.id}") if isinstance(block, ToolCall) else block
                    for block in message.blocks
                )
                yield replace(message, id=name, usage=None, blocks=blocks)
            elif message.role != "system":
                yield replace(message, id=name)


def forget() -> None:
    """Let go of what this process remembers from text to text."""
    for found in gc.get_objects():
        module = (
            str(getattr(found, "__module__", "")) if isinstance(found, _lru_cache_wrapper) else ""
        )
        if module.startswith("workbench.") and module not in TABLES and found is not loaded:
            found.cache_clear()
    TiktokenCounter().count_text("\n".join(map(str, range(100))))  # the encoding's tables
    gc.collect()


def turn(session: Session, shares: tuple[float, ...]) -> Times:
    """What each part of one whole replay takes."""
    times: Times = {}

    def done(what: Callable[[], Result], name: str) -> Result:
        busy, wall = process_time(), perf_counter()
        found = what()
        times[name] = process_time() - busy, perf_counter() - wall
        return found

    forget()
    model, settings = find_model("extractive"), RunSpec(shares=shares)
    ready = done(lambda: prepared(session, WINDOW), "counting and extraction")
    for name in STRATEGIES:
        done(lambda name=name: replay_rows(ready, preset(name), model, settings), name)  # type: ignore[misc]
    return times


def tokens(session: Session) -> Times:
    """What tiktoken alone takes for the session's text."""
    encoding, texts = loaded(), [counted_text(message) for message in session.messages]
    busy, wall = process_time(), perf_counter()
    count = sum(len(encoding.encode(text, disallowed_special=())) for text in texts)
    return {f"tiktoken alone, {count:,} tokens": (process_time() - busy, perf_counter() - wall)}


def least(turns: list[Times]) -> Times:
    """The least of each part."""
    return {
        name: (min(t[name][0] for t in turns), min(t[name][1] for t in turns)) for name in turns[0]
    }


def show(times: Times, alone: tuple[float, float], whole: str = "") -> None:
    """One line a part, and one for all of them."""
    every = (
        {**times, whole: (sum(t[0] for t in times.values()), sum(t[1] for t in times.values()))}
        if whole
        else times
    )
    for name, (busy, wall) in every.items():
        print(
            f"{name:<40} {busy:7.3f} s {busy / alone[0]:6.2f} x   by the clock {wall:7.3f} s"
            f" {wall / alone[1]:6.2f} x",
            flush=True,
        )


def main() -> None:
    """Print the figures."""
    named = sys.argv[1:] or [str(CORPORA / "pi-mono"), str(CORPORA / "entireio-cli")]
    messages: list[Message] = []
    total = 0
    for message in joined(named):
        messages.append(message)
        total += TiktokenCounter()(message)
        if total >= WANTED:
            break
    session = Session.of(messages, id="joined")
    turn(Session.of(messages[:60], id="small"), RunSpec().shares)
    both = [(tokens(session), turn(session, ())) for _ in range(TURNS)]
    plain = least([one for one, _ in both])
    alone = next(iter(plain.values()))
    show(plain, alone)
    show(least([one for _, one in both]), alone, "all of it, natural")
    show(
        least([turn(session, RunSpec().shares) for _ in range(2)]),
        alone,
        "all of it, natural and matched",
    )


if __name__ == "__main__":
    main()
