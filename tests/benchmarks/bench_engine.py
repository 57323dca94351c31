"""Times the engine on one conversation of 2,000 messages and a million tokens, and on one ten times
as long.

    python tests/benchmarks/bench_engine.py

Prints the least of several runs. Goals: a trigger check of 20 us, a deterministic compaction of 20
ms, 50 ms with guard (at 2,000 messages), and time that grows with the length and no faster.
"""

from __future__ import annotations

import gc
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from workbench import (
    AssistantMessage,
    AtShare,
    Budget,
    Completion,
    Context,
    Situation,
    Strategy,
    SummaryRequest,
    Text,
    ToolCall,
    UserMessage,
    compact,
    preset,
)
from workbench.engine.compaction.guard import violations
from workbench.engine.transcript.message import Message, SystemMessage, ToolResult, chars_per_token

WORDS = (
    "parser",
    "token",
    "buffer",
    "window",
    "budget",
    "index",
    "cache",
    "branch",
    "commit",
    "worker",
    "retry",
)


def words(rng: random.Random, chars: int) -> str:
    return " ".join(rng.choices(WORDS, k=max(chars // 7, 1)))


def long_conversation(n: int, seed: int = 7) -> list[Message]:
    """`n` messages of some 2,000 characters on average; two calls in every seventh step, a turn
    every 18 steps.
    """
    rng = random.Random(seed)
    messages: list[Message] = [SystemMessage(id="s", blocks=(Text(words(rng, 6_000)),))]
    step = call = 0
    while len(messages) < n:
        if step % 18 == 0:
            messages.append(UserMessage(id=f"u{step}", blocks=(Text(words(rng, 300)),)))
        step += 1
        calls = []
        for _ in range(2 if step % 7 == 0 else 1):
            call += 1
            name = rng.choice(["read_file", "edit_file", "run_shell"])
            calls.append(
                ToolCall(f"c{call}", name, {"path": f"src/{rng.choice(WORDS)}_{call % 90}.py"})
            )
        messages.append(AssistantMessage(id=f"a{step}", blocks=(Text(words(rng, 150)), *calls)))
        for one in calls:
            size = 24_000 if rng.random() < 0.02 else rng.randint(500, 6_800)
            messages.append(
                ToolResult(
                    id=f"r{one.id}", call_id=one.id, name=one.name, blocks=(Text(words(rng, size)),)
                )
            )
    return messages


class Terse:
    """Answers at once, without the prompt."""

    name = "terse"
    reads_messages = True

    def complete(self, request: SummaryRequest, /) -> Completion:
        return Completion(text="## Goal\ngo on\n" * 20, model=self.name)


def least(work: Callable[[], object], runs: int = 9) -> float:
    """Seconds of the fastest run."""
    work()
    times = []
    gc.collect()
    gc.disable()
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    gc.enable()
    return min(times)


def planned(context: Context, strategy: Strategy, budget: Budget) -> Context:
    """The stages alone, without the guard."""
    for stage in strategy.stages:
        if context.tokens <= budget.target:
            break
        plan = stage.plan(context, budget)
        if plan is not None:
            context = plan.apply(context, ["go on"] * len(plan.requests))
    return context


def main() -> None:
    situation = Situation(tokens=900_000, window=1_000_000)
    trigger, n = AtShare(), 100_000
    check = least(lambda: [trigger.check(situation) for _ in range(n)], 3) / n
    print(f"trigger check                    {check * 1e6:8.2f} us   (goal 20)")
    times: dict[tuple[str, int], float] = {}
    for length in (2_000, 20_000):
        context = Context.of(long_conversation(length), chars_per_token)
        print(f"{length} messages, {context.tokens} tokens")
        for name in ("null", "truncate", "summarize", "pipeline"):
            for share in (0.4, 0.05):
                strategy = preset(name).strategy
                budget = Budget(target=int(share * context.tokens), window=context.tokens)
                bare = least(lambda: planned(context, strategy, budget), 5)  # noqa: B023  # called at once
                whole = least(lambda: compact(context, strategy, budget, Terse()), 5)  # noqa: B023
                done = compact(context, strategy, budget, Terse())
                times[f"{name} to {share:.0%}", length] = whole
                print(
                    f"  {name:10} to {share:4.0%}   stages {bare * 1e3:8.2f} ms   guarded"
                    f" {whole * 1e3:8.2f} ms   {done.outcome}, {len(done.stages)} stages,"
                    f" {len(done.violations)} violations"
                )
        truncate = preset("truncate").strategy
        guard = least(
            lambda: violations(context, compact(context, truncate, budget, Terse()).after)  # noqa: B023
        )
        print(f"  truncate and a second guard {guard * 1e3:8.2f} ms")
    for name in dict.fromkeys(name for name, _ in times):
        print(
            f"ten times the messages: {times[name, 20_000] / times[name, 2_000]:5.1f} times the"
            f" time, {name}"
        )


if __name__ == "__main__":
    main()
