"""Times every preset on one conversation of 2,000 messages and a million tokens, and on one ten times as long.

    python tests/benchmarks/bench_presets.py

CPU time of this process, median of several runs: the stages alone, and with the guard. Goals at 2,000 messages: a
trigger check of 20 us, 20 ms without and 50 ms with guard where no model is asked; time that grows with the length.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from bench_engine import Terse, long_conversation, planned

from workbench.compaction.engine import compact
from workbench.compaction.presets import BUILTIN
from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation
from workbench.transcript.context import Context
from workbench.transcript.tokens import chars_per_token

CHECKS = 20_000
LENGTHS = (2_000, 20_000)


def cpu(work: Callable[[], object], runs: int) -> float:
    """Seconds of CPU, the median."""
    work()
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return median(times)


def main() -> None:
    said = {n: long_conversation(n) for n in LENGTHS}
    print("preset               check us   stages ms  guarded ms   x10 length  outcome")
    for name, preset in BUILTIN.items():
        took: list[float] = []
        for n in LENGTHS:
            context = Context.of(said[n], preset.count or chars_per_token)
            situation = Situation(tokens=context.tokens, window=context.tokens, messages=n)
            budget = Budget(target=context.tokens * 2 // 5, window=context.tokens)
            if n == LENGTHS[0]:
                check = cpu(lambda: [preset.trigger.check(situation) for _ in range(CHECKS)], 3) / CHECKS  # noqa: B023
                bare = cpu(lambda: planned(context, preset.strategy, budget), 5)  # noqa: B023  # called at once
            took.append(cpu(lambda: compact(context, preset.strategy, budget, Terse()), 5 if n == LENGTHS[0] else 3))  # noqa: B023
            if n == LENGTHS[0]:
                done = compact(context, preset.strategy, budget, Terse())
        ratio = took[1] / max(took[0], 1e-9)
        print(
            f"{name:20} {check * 1e6:8.2f}  {bare * 1e3:10.2f}  {took[0] * 1e3:10.2f}  {ratio:11.1f}  {done.outcome}, "
            f"{len(done.answers)} answers, {len(done.breaches)} breaches",
            flush=True,
        )


if __name__ == "__main__":
    main()
