"""Times every preset on one conversation of 2,000 messages and a million tokens, and on ten of them
joined.

    python tests/benchmarks/bench_presets.py [PRESET ...]

CPU time of this process, the least of several runs, since a busy machine disturbs a clock. The
columns:

- `check us`: whether a compaction is due. Goal: 20.
- `stages ms`: the stages alone, until the target is reached. Goal: 20 where no model is asked.
- `guarded ms`: the whole compaction with view, guard and records. Goal: 50. `forced ms`: the same
  with every stage made to run, as a recovery does.
- `cold ms`: the whole compaction of messages that nobody has read before, as after a restart. Goal:
  50 where no model is asked; `truncate`, which reads none, is printed below as the measure of this
  machine.
- `x10`: one conversation of ten parts, against the parts compacted one after another. 10 is linear;
  goal: 11.
- `warm x10`: against one part compacted again and again. It is more where the processor's caches
  hold one conversation and not ten: that is memory, not more work a message, as the column before
  shows.

The parts share no path and no id, so that joined they ask for the same work as apart. (In one
conversation of 20,000 messages by the generator of `bench_engine.py` the same 990 files come again
and again: 15 times as many results are overtaken there, in 10 times as many messages, and so the
views of `ex_athena` and `pipeline` have more to write.)
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from bench_engine import Terse, long_conversation, planned
from preset_names import BUILTIN_PRESETS

from workbench import (
    AssistantMessage,
    Budget,
    Context,
    Preset,
    Situation,
    ToolCall,
    compact,
    preset,
)
from workbench.engine.transcript.message import Message, SystemMessage, ToolResult, chars_per_token

CHECKS = 20_000
MESSAGES, PARTS = 2_000, 10


def least(work: Callable[[], object], runs: int) -> float:
    """Seconds of CPU of the fastest run, after one that is not counted."""
    work()
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def part(n: int) -> list[Message]:
    """One conversation whose ids and paths are its own."""
    return [_own(message, f"{n}-") for message in long_conversation(MESSAGES, seed=n)]


def _own(message: Message, mark: str) -> Message:
    if isinstance(message, AssistantMessage):
        blocks = tuple(
            _call(block, mark) if isinstance(block, ToolCall) else block for block in message.blocks
        )
        return replace(message, id=mark + message.id, blocks=blocks)
    if isinstance(message, ToolResult):
        return replace(message, id=mark + message.id, call_id=mark + message.call_id)
    return replace(message, id=mark + message.id)


def _call(call: ToolCall, mark: str) -> ToolCall:
    return replace(call, id=mark + call.id, arguments={"path": mark + call.arguments["path"]})


def budget_of(context: Context, *, force: bool = False) -> Budget:
    return Budget(target=context.tokens * 2 // 5, window=context.tokens, force=force)


def compacted(how: Preset, contexts: Sequence[Context], *, force: bool = False) -> None:
    for context in contexts:
        compact(context, how.strategy, budget_of(context, force=force), Terse())


def cold(how: Preset) -> float:
    """Seconds of CPU of the fastest first compaction of five conversations."""
    times = []
    for n in range(PARTS, PARTS + 5):
        context = Context.of(part(n), how.count or chars_per_token)
        gc.collect()
        start = time.process_time()
        compacted(how, [context])
        times.append(time.process_time() - start)
    return min(times)


def alone(how: Preset, context: Context) -> None:
    """The stages without guard and records."""
    planned(context, how.strategy, budget_of(context))


def row(how: Preset, parts: Sequence[Sequence[Message]]) -> str:
    """One line of the table."""
    count = how.count or chars_per_token
    apart = [Context.of(said, count) for said in parts]
    rest = (
        message for said in parts[1:] for message in said if not isinstance(message, SystemMessage)
    )
    joined, one = Context.of([*parts[0], *rest], count), apart[0]
    situation = Situation(tokens=one.tokens, window=one.tokens, messages=MESSAGES)
    check = least(lambda: [how.trigger.check(situation) for _ in range(CHECKS)], 3) / CHECKS
    bare = least(lambda: alone(how, one), 9)
    whole = least(lambda: compacted(how, [one]), 9)
    forced = least(lambda: compacted(how, [one], force=True), 5)
    ten, long = least(lambda: compacted(how, apart), 5), least(lambda: compacted(how, [joined]), 5)
    done = compact(one, how.strategy, budget_of(one), Terse())
    return (
        f"{how.name:20} {check * 1e6:8.2f} {bare * 1e3:11.2f} {whole * 1e3:12.2f}"
        f" {forced * 1e3:11.2f} {cold(how) * 1e3:9.2f} {10 * long / ten:7.1f} {long / whole:10.1f} "
        f"  {done.outcome}, {len(done.completions)} answers, {len(done.violations)} violations"
    )


def main() -> None:
    parts = [part(n) for n in range(PARTS)]
    print(
        "preset               check us   stages ms   guarded ms   forced ms   cold ms     x10  "
        " warm x10   outcome"
    )
    for name in sys.argv[1:] or BUILTIN_PRESETS:
        print(row(preset(name), parts), flush=True)
    print(f"truncate, cold: {cold(preset('truncate')) * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
