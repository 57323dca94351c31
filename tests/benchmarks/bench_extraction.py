"""Prints what extraction, the index, demands and retentions cost, against tiktoken on the same text.

Usage: python tests/benchmarks/bench_extraction.py [FOLDER OF RECORDINGS]
All recordings of pi and Claude Code are put into one conversation of about a million tokens and more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time

from workbench.extraction.extractor import Extractor
from workbench.importers.importer import load
from workbench.metrics.index import Index
from workbench.models.tokenizer import loaded
from workbench.ragged import kept_mask
from workbench.transcript.message import Message, said_texts

FOLDERS = ("pi-mono", "entireio-cli")


def best(work: Callable[[], object], times: int = 3) -> float:
    """Seconds of processor time of the quickest of some goes: other work on the machine only ever adds."""
    found = []
    for _ in range(times):
        start = process_time()
        work()
        found.append(process_time() - start)
    return min(found)


def conversation(corpora: Path) -> tuple[Message, ...]:
    sessions = [session for folder in FOLDERS for session in load(corpora / folder, lenient=True)]
    return tuple(
        replace(message, id=f"{number}-{message.id}")
        for number, session in enumerate(sessions)
        for message in session.messages
    )


def main() -> None:
    here = Path(__file__).resolve().parents[2]
    messages = conversation(Path(sys.argv[1]) if len(sys.argv) > 1 else here.parent / "shared" / "corpora")
    texts = [text for message in messages for text in said_texts(message)]
    encoding = loaded()
    tokens = sum(len(encoding.encode_ordinary(text)) for text in texts)
    tiktoken = best(lambda: [encoding.encode_ordinary(text) for text in texts])
    print(
        f"{len(messages)} messages, {sum(map(len, texts)) / 1e6:.2f} MB, {tokens:,} tokens; tiktoken {tiktoken:.3f} s"
    )

    def extract() -> None:
        extractor = Extractor()
        extractor.read_messages(messages)
        assert extractor.entities

    extraction = best(extract)
    whole = best(lambda: Index(messages).demand(len(messages) // 2))
    print(
        f"extraction {extraction:.3f} s = {extraction / tiktoken:.2f} x tiktoken; "
        f"extraction, index and a first demand {whole:.3f} s"
    )
    print(f"the whole = {whole / tiktoken:.2f} x tiktoken")

    index = Index(messages)
    places = [len(messages) * i // 21 for i in range(1, 21)]
    index.demand(places[0])
    start = process_time()
    demands = [index.demand(at) for at in places[1:]]
    print(
        f"demand {(process_time() - start) / len(demands) * 1e3:.1f} ms a boundary, {sum(map(len, demands))} entities"
    )

    text, last = index.inverted_index.texts.__getitem__, index.inverted_index.spans
    summaries = ["\n".join(map(text, range(at, min(at + 4_000, last), 13))) for at in range(0, 20_000, 1_000)]
    for name in ("new", "known"):
        start = process_time()
        for demand, summary in zip(demands, summaries, strict=False):
            demand.retained(range(max(0, demand.at - 80), demand.at), [summary])
        print(f"retained {(process_time() - start) / len(demands) * 1e3:.2f} ms with a {name} summary")
    start = process_time()
    for at in places:
        index.held(kept_mask(range(max(0, at - 80), at), len(messages)), summaries[:1])
    print(f"held {(process_time() - start) / len(places) * 1e3:.2f} ms (the first finds all statements)")


if __name__ == "__main__":
    main()
