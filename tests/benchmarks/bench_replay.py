"""How much work a replay is, as a ratio to tiktoken alone on the same text, in the same run.

Usage: python tests/benchmarks/bench_replay.py [RECORDINGS ...]

Joins recordings to one session of about a million tokens (those of ../shared/corpora/pi-mono and entireio-cli if none
are named), replays it under five strategies, scores every offline metric, and prints each part's time: of the
processor, which other jobs on the machine disturb least, and by the clock. tiktoken alone is the best of three.

"all of it, natural" is the figure to watch: counting, mining and the five strategies, each once, from a fresh state.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

from workbench.compaction.presets import preset
from workbench.experiment.cell import cell
from workbench.experiment.prepared import Prepared
from workbench.experiment.settings import Settings
from workbench.importers.importer import scan
from workbench.metrics.mining import Index
from workbench.models import find_model
from workbench.models.tokenizer import TiktokenCounter, loaded
from workbench.replay.sizing import Sizing
from workbench.transcript.message import AssistantMessage, Message, ToolCall, ToolResult, counted_text
from workbench.transcript.session import Session

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
WANTED = 1_000_000
WINDOW = 100_000
STRATEGIES = ("none", "null", "truncate", "summarize", "pipeline")


def joined(paths: list[str]) -> Iterator[Message]:
    """The messages of all recordings one after another, with ids that do not clash and without reported usage."""
    for n, file in enumerate(scan(paths, lenient=True)):
        for session in file.sessions:
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


def main() -> None:
    """Print the figures."""
    named = sys.argv[1:] or [str(CORPORA / "pi-mono"), str(CORPORA / "entireio-cli")]
    counter = TiktokenCounter()
    encoding = loaded("o200k_base")
    messages: list[Message] = []
    total = 0
    for message in joined(named):
        messages.append(message)
        total += counter(message)
        if total >= WANTED:
            break
    session = Session.of(messages, id="joined")
    texts = [counted_text(message) for message in messages]

    def passed(start: tuple[float, float]) -> tuple[float, float]:
        return process_time() - start[0], perf_counter() - start[1]

    def started() -> tuple[float, float]:
        return process_time(), perf_counter()

    def shown(what: str, took: tuple[float, float]) -> None:
        busy, wall = took
        print(
            f"{what:<54} {busy:7.3f} s {busy / alone[0]:6.2f} x   by the clock {wall:7.3f} s {wall / alone[1]:6.2f} x",
            flush=True,
        )

    encoding.encode("warm", disallowed_special=())
    runs = []
    for _ in range(3):
        start = started()
        tokens = sum(len(encoding.encode(text, disallowed_special=())) for text in texts)
        runs.append(passed(start))
    alone = min(busy for busy, _ in runs), min(wall for _, wall in runs)
    shown(f"tiktoken alone, {tokens:,} tokens", alone)

    whole = started()
    start = started()
    sizes = counter.sizes(session.messages)
    shown("counting", passed(start))
    start = started()
    index = Index(session.messages)
    shown("mining", passed(start))
    ready = Prepared(session, Sizing.of(session, sizes, counter), index, WINDOW)
    model = find_model("extractive")
    for shares, mode in (((), "natural"), (Settings().shares, "natural and matched")):
        settings = Settings(shares=shares)
        for name in STRATEGIES:
            start = started()
            tables = cell(ready, preset(name), model, settings)
            shown(f"{name}, {mode} ({len(tables['compactions'])} compactions)", passed(start))
        shown("all of it, natural" if not shares else "all of it, and again with matched", passed(whole))


if __name__ == "__main__":
    main()
