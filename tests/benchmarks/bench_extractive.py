"""Prints what the extractive model's summaries retain at equal size, and how long they take.

Usage: python tests/benchmarks/bench_extractive.py [FOLDER OF RECORDINGS] [tuned] [held-out] [elsewhere]

`tuned` are the recordings that the weights were chosen on; `held-out` the other ones of the same two tools; `elsewhere`
recordings of other people, projects and formats. Rows: the newest messages alone, half of them with the best lines
(the mark to beat), a kept tail of so many per cent with an extractive summary for the rest, and the strategy
`summarize` as it ships; at recorded compactions also the agent's own summary.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.recall_boundaries import SIZES, Boundary, Ready

from workbench.compaction.engine import compact
from workbench.compaction.presets.own import SUMMARIZE
from workbench.compaction.prompt_template import PromptTemplate
from workbench.compaction.stage import Budget
from workbench.importers.importer import load
from workbench.metrics.demand import Retention
from workbench.metrics.view import view
from workbench.models.extractive import Extractive
from workbench.models.model import SummaryRequest
from workbench.models.tokenizer import TiktokenCounter
from workbench.transcript.context import Context

TAILS = (0.15, 0.3, 0.5)
TUNED = ("pi-mono/before*", "entireio-cli/fdd*", "entireio-cli/2026-01-22*", "entireio-cli/67d*", "entireio-cli/53e*",
         "entireio-cli/a03*")  # fmt: skip
HELD_OUT = ("pi-mono/large*", "entireio-cli/2026-01-23*", "entireio-cli/2026-01-12*", "entireio-cli/3ae*",
            "entireio-cli/062*", "entireio-cli/2026-01-15*", "entireio-cli/2026-01-21*")  # fmt: skip
ELSEWHERE = ("auth-go/*.jsonl", "pi.dev/*.jsonl", "context-evaluator/[78]*", "oh-my-posh/[0f]*", "agentv/*019e[de]*",
             "agentv/*019f03*", "session-bridge/codex/*", "openhands/*.jsonl", "gatomia-vscode/*.json")  # fmt: skip
SETS = {"tuned": TUNED, "held-out": HELD_OUT, "elsewhere": ELSEWHERE}

count = TiktokenCounter()
Baseline = Callable[[Boundary, float], Retention]


def ready(corpora: Path, patterns: Sequence[str]) -> Iterator[Ready]:
    for pattern in patterns:
        for file in sorted(corpora.glob(pattern)):
            yield from (Ready.of(session) for session in load(file, lenient=True))


def asked(model: Extractive, one: Boundary, start: int, most: int) -> str:
    messages = one.session.messages[:start]
    wording = PromptTemplate()
    return model.complete(
        SummaryRequest(purpose="summary", system="", write=lambda _: "", messages=messages, sections=wording.sections,
            max_tokens=most, count=count)
    ).text  # fmt: skip


def tail_and_summary(model: Extractive, share: float) -> Baseline:
    def baseline(one: Boundary, budget: float) -> Retention:
        start = one.newest(share * budget)
        text = asked(model, one, start, int((1 - share) * budget))
        return one.index.demand(one.at).retained(range(start, one.at), [text])

    return baseline


def strategy(model: Extractive) -> Baseline:
    def baseline(one: Boundary, budget: float) -> Retention:
        history = Context(one.session.messages[: one.at], tuple(one.sizes[: one.at]), 0, count)
        done = compact(history, SUMMARIZE.strategy, Budget(target=int(budget), window=200_000, reason="matched"), model)
        seen = view(one.session, done.sent)
        return one.index.demand(one.at).retained(seen.kept, seen.texts)

    return baseline


def mark(one: Boundary, budget: float) -> Retention:
    start = one.newest(budget / 2)
    return one.index.demand(one.at).retained(range(start, one.at), one.best_lines(start, budget / 2))


def newest(one: Boundary, budget: float) -> Retention:
    return one.index.demand(one.at).retained(range(one.newest(budget), one.at))


def baselines(model: Extractive) -> dict[str, Baseline]:
    tails = {f"tail {share:.0%} + extractive": tail_and_summary(model, share) for share in TAILS}
    return {"newest messages": newest, "half newest, half best lines": mark, **tails, "summarize": strategy(model)}


def table(sessions: Sequence[Ready], named: Mapping[str, Baseline]) -> dict[tuple[str, str], list[Retention]]:
    rows: dict[tuple[str, str], list[Retention]] = defaultdict(list)
    for one in sessions:
        for boundary in one.matched():
            for size in SIZES:
                for name, baseline in named.items():
                    rows[f"{size:.0%}", name].append(baseline(boundary, boundary.tokens * size))
        for boundary, summary in one.recorded():
            for name, baseline in named.items():
                rows["recorded", name].append(baseline(boundary, one.count(summary)))
            own = boundary.index.demand(boundary.at).retained([], [summary])
            rows["recorded", "the agent's own summary"].append(own)
    return rows


def show(rows: Mapping[tuple[str, str], Sequence[Retention]]) -> None:
    for (size, name), found in sorted(rows.items()):
        means = [sum(one.mean(level) for one in found) / len(found) for level in ("presence", "bound", "coverage")]
        print(f"{size:>9}  {name:30} n={len(found):3}  " + "  ".join(f"{mean:.3f}" for mean in means))


def timing(sessions: Sequence[Ready]) -> None:
    largest = max(sessions, key=lambda one: sum(one.sizes))
    chars = sum(len(text) for text in largest.index.inverted_index.texts)
    boundary = largest.boundary(len(largest.session.messages))
    model = Extractive()
    for name in ("first", "again"):
        started = time.perf_counter()
        asked(model, boundary, boundary.at, 8_000)
        print(f"{name} summary of {sum(largest.sizes):,} tokens ({chars:,} different characters):"
              f" {time.perf_counter() - started:.3f} s")  # fmt: skip
    started = time.perf_counter()
    count.sizes(largest.session.messages)
    print(f"tokenising the same: {time.perf_counter() - started:.3f} s")


def main() -> None:
    words = sys.argv[1:]
    here = Path(__file__).resolve().parents[2]
    corpora = next((Path(word) for word in words if word not in SETS), here.parent / "shared" / "corpora")
    print("size, context, boundaries, presence / bound / coverage")
    for name in [word for word in words if word in SETS] or SETS:
        print(f"-- {name}")
        sessions = list(ready(corpora, SETS[name]))
        show(table(sessions, baselines(Extractive())))
        timing(sessions)


if __name__ == "__main__":
    main()
