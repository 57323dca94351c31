"""Times our deterministic compactions beside other libraries' engines: one conversation, one
process.

    python tests/benchmarks/bench_peers.py [--messages 2000] [--runs 5]

The conversation is that of `bench_engine.py`: 2,000 messages, a million tokens at four characters a
token. No model is asked: where an engine wants one it gets a constant answer at once, so what is
timed is the engine's own work.

Prints the least CPU time of several runs, since a busy machine disturbs a clock, and how many times
as long each installed peer takes (`peers-requirements.txt`; what is not installed is left out).
Ours are timed with the guard, which checks pairs, order, pins and size; no peer has one. `faults`
counts calls without result and results without call in what came out.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from bench_engine import Terse, long_conversation, planned

from workbench import AssistantMessage, Budget, Context, Situation, Strategy, compact, preset
from workbench.engine.compaction.presets.gemini_cli import ReverseBudget
from workbench.engine.transcript.message import Message, ToolResult, plain_text

SUMMARY = "## Goal\ngo on\n" * 20
KEEP_TOKENS = 100_000
CHECKS = 20_000

Pair = tuple[str, list[str], str]
"""A message as far as pairs go: its role, the ids of its calls, and the call that it answers."""


@dataclass(frozen=True)
class Timed:
    """One engine's time for one operation, and what came of it."""

    engine: str
    operation: str
    ms: float
    result: str


def least(work: Callable[[], object], runs: int) -> float:
    """CPU seconds of the fastest run, after one that is not counted."""
    work()
    gc.collect()
    gc.disable()
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    gc.enable()
    return min(times)


def faults(pairs: Sequence[Pair]) -> int:
    """Results without their call just before, and calls without a result before the next message
    of another kind.
    """
    waiting: set[str] = set()
    found = 0
    for role, calls, answered in pairs:
        if role == "tool":
            found += answered not in waiting
            waiting.discard(answered)
        else:
            found += len(waiting)
            waiting = set(calls)
    return found + len(waiting)


def strategies() -> Iterator[tuple[str, Strategy, float]]:
    """Ours: those that ask no model, and those of the restated peers that do, with the share of
    tokens to reach.
    """
    yield "truncate", preset("truncate").strategy, 0.1
    yield "clear_tool_uses", preset("clear_tool_uses").strategy, 0.1
    yield "observation_mask", preset("observation_mask").strategy, 0.1
    yield "gemini_cli truncation alone", Strategy("gemini", (ReverseBudget(),)), 0.1
    yield (
        "opencode pruning alone",
        Strategy("opencode", preset("opencode").strategy.stages[:1]),
        0.1,
    )
    yield (
        "hermes_lean pruning alone",
        Strategy("hermes", preset("hermes_lean").strategy.stages[:1]),
        0.1,
    )
    yield "opal without a model", preset("opal_truncate").strategy, 0.5
    for name in (
        "pi",
        "codex_local",
        "claude_code",
        "gemini_cli",
        "opencode",
        "openhands_rolling",
        "langchain_20",
    ):
        yield f"{name} *", preset(name).strategy, 0.5
    yield "hermes_lean *", preset("hermes_lean").strategy, 0.05


def ours(messages: Sequence[Message], runs: int) -> Iterator[Timed]:
    """Our checks, and our compactions with guard."""
    context = Context.of(messages)
    situation = Situation(tokens=context.tokens, window=10 * context.tokens, messages=len(messages))
    for name in ("truncate", "clear_tool_uses", "pi", "codex_local", "openhands_rolling"):
        check = preset(name).trigger.check
        seconds = least(lambda check=check: [check(situation) for _ in range(CHECKS)], 3) / CHECKS
        yield Timed(name, "check", seconds * 1e3, f"{seconds * 1e6:.2f} us")
    for name, strategy, share in strategies():
        budget = Budget(target=int(share * context.tokens), window=context.tokens)
        seconds = least(lambda s=strategy, b=budget: compact(context, s, b, Terse()), runs)
        bare = least(lambda s=strategy, b=budget: planned(context, s, b), runs)
        done = compact(context, strategy, budget, Terse())
        after = done.after
        found = faults([_pair(message) for message in after.messages])
        what = (
            f"{len(after.messages)} messages, {after.tokens:,} tokens, {found} faults; stages alone"
            f" {bare * 1e3:.1f} ms"
        )
        yield Timed(name, "compact", seconds * 1e3, what)


def _pair(message: Message) -> Pair:
    calls = [call.id for call in message.calls] if isinstance(message, AssistantMessage) else []
    return message.role, calls, message.call_id if isinstance(message, ToolResult) else ""


def langchain(messages: Sequence[Message], runs: int) -> Iterator[Timed]:
    """LangChain's middlewares and its trimming, and LangMem where it is installed."""
    from langchain.agents.middleware import ClearToolUsesEdit, SummarizationMiddleware
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.messages.utils import count_tokens_approximately, trim_messages

    kinds = {"system": SystemMessage, "user": HumanMessage}
    said: list[Any] = []
    for message in messages:
        text = plain_text(message)
        if isinstance(message, AssistantMessage):
            calls = [
                {"id": c.id, "name": c.name, "args": dict(c.arguments), "type": "tool_call"}
                for c in message.calls
            ]
            said.append(AIMessage(text, tool_calls=calls, id=message.id))
        elif isinstance(message, ToolResult):
            said.append(
                ToolMessage(text, tool_call_id=message.call_id, name=message.name, id=message.id)
            )
        else:
            said.append(kinds[message.role](text, id=message.id))
    model = FakeListChatModel(responses=[SUMMARY])

    def shown(left: Sequence[Any]) -> str:
        kept = [message for message in left if message.type != "remove"]
        pairs = [
            (
                m.type,
                [c["id"] for c in getattr(m, "tool_calls", ())],
                getattr(m, "tool_call_id", ""),
            )
            for m in kept
        ]
        return (
            f"{len(kept)} messages, {count_tokens_approximately(kept):,} tokens, {faults(pairs)}"
            " faults"
        )

    def timed(what: str, operation: str, work: Callable[[], Sequence[Any]]) -> Timed:
        return Timed(
            f"{what} {version(what.split()[0].lower())}",
            operation,
            least(work, runs) * 1e3,
            shown(work()),
        )

    def middleware(
        trigger: int, keep: tuple[str, int], **more: object
    ) -> Callable[[], Sequence[Any]]:
        made: Any = SummarizationMiddleware(model, trigger=("tokens", trigger), keep=keep, **more)  # type: ignore[arg-type]
        return lambda: (made.before_model({"messages": said}, None) or {"messages": said})[
            "messages"
        ]

    yield timed("langchain SummarizationMiddleware", "check", middleware(10**8, ("messages", 20)))
    yield timed(
        "langchain SummarizationMiddleware", "compact", middleware(KEEP_TOKENS, ("messages", 20))
    )
    whole = middleware(KEEP_TOKENS, ("messages", 20), trim_tokens_to_summarize=None)
    yield timed("langchain SummarizationMiddleware, whole input", "compact", whole)
    tail = middleware(5 * KEEP_TOKENS, ("tokens", KEEP_TOKENS))
    yield timed("langchain SummarizationMiddleware, 100k kept", "compact", tail)

    def cleared() -> Sequence[Any]:
        left = list(said)
        ClearToolUsesEdit(trigger=KEEP_TOKENS, keep=3).apply(
            left, count_tokens=count_tokens_approximately
        )
        return left

    yield timed("langchain ClearToolUsesEdit", "compact", cleared)

    def trimmed() -> Sequence[Any]:
        return trim_messages(
            said,
            max_tokens=KEEP_TOKENS,
            token_counter=count_tokens_approximately,
            strategy="last",
            include_system=True,
            start_on="human",
        )

    yield timed("langchain trim_messages", "compact", trimmed)
    try:
        from langmem.short_term import summarize_messages
    except ImportError:
        return

    def summarized(most: int) -> Callable[[], Sequence[Any]]:
        return lambda: (
            summarize_messages(
                said, running_summary=None, model=model, max_tokens=most, max_summary_tokens=2_000
            ).messages
        )

    yield timed("langmem summarize_messages", "check", summarized(10**8))
    yield timed("langmem summarize_messages", "compact", summarized(KEEP_TOKENS))


def autogen(messages: Sequence[Message], runs: int) -> Iterator[Timed]:
    """AutoGen's buffered context, and the one that pops the middle until a token limit is met."""
    from autogen_core import FunctionCall
    from autogen_core.model_context import (
        BufferedChatCompletionContext,
        TokenLimitedChatCompletionContext,
    )
    from autogen_core.models import (
        AssistantMessage as Answered,
    )
    from autogen_core.models import (
        FunctionExecutionResult,
        FunctionExecutionResultMessage,
        SystemMessage,
        UserMessage,
    )

    said: list[Any] = []
    for message in messages:
        text = plain_text(message)
        if isinstance(message, AssistantMessage):
            calls = [
                FunctionCall(id=c.id, name=c.name, arguments=c.arguments_json())
                for c in message.calls
            ]
            said.append(Answered(content=calls or text, source="agent"))
        elif isinstance(message, ToolResult):
            one = FunctionExecutionResult(content=text, name=message.name, call_id=message.call_id)
            said.append(FunctionExecutionResultMessage(content=[one]))
        else:
            kind = {
                "system": lambda t: SystemMessage(content=t),
                "user": lambda t: UserMessage(content=t, source="u"),
            }
            said.append(kind[message.role](text))

    class Counting:
        """Counts characters by four and remembers each message, so that only the engine's own
        work shows.
        """

        def __init__(self) -> None:
            self.sizes: dict[int, int] = {}

        def _size(self, message: Any) -> int:
            content = message.content
            texts = (
                [content]
                if isinstance(content, str)
                else [getattr(c, "content", "") or c.arguments for c in content]
            )
            return sum(map(len, texts)) // 4

        def count_tokens(self, messages: Sequence[Any], tools: Sequence[Any] = ()) -> int:
            return sum(
                self.sizes.get(id(message))
                or self.sizes.setdefault(id(message), self._size(message))
                for message in messages
            )

        def remaining_tokens(self, messages: Sequence[Any], tools: Sequence[Any] = ()) -> int:
            return KEEP_TOKENS - self.count_tokens(messages)

    def pair(message: Any) -> Iterator[Pair]:
        if isinstance(message, FunctionExecutionResultMessage):
            yield from (("tool", [], one.call_id) for one in message.content)
        else:
            yield (
                "other",
                [c.id for c in message.content] if isinstance(message.content, list) else [],
                "",
            )

    def timed(what: str, made: Any) -> Timed:
        def work() -> Sequence[Any]:
            return asyncio.run(made.get_messages())

        left = work()
        found = faults([one for message in left for one in pair(message)])
        name = f"autogen-core {what} {version('autogen-core')}"
        return Timed(
            name, "compact", least(work, runs) * 1e3, f"{len(left)} messages, {found} faults"
        )

    yield timed("Buffered 40", BufferedChatCompletionContext(buffer_size=40, initial_messages=said))
    limited: Any = TokenLimitedChatCompletionContext.__new__(TokenLimitedChatCompletionContext)
    limited._messages, limited._initial_messages, limited._tool_schema = said, said, []
    limited._token_limit, limited._model_client = KEEP_TOKENS, Counting()
    yield timed("TokenLimited 100k", limited)


PEERS = (langchain, autogen)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    messages = long_conversation(args.messages)
    print(
        f"{len(messages)} messages, {Context.of(messages).tokens:,} tokens; least CPU time of"
        f" {args.runs} runs\n"
    )
    mine, theirs = list(ours(messages, args.runs)), list[Timed]()
    for peer in PEERS:
        try:
            theirs += peer(messages, args.runs)
        except ImportError as error:
            print(f"{peer.__name__} is left out: {error}\n")
    for row in (*mine, *theirs):
        print(f"{row.operation:8} {row.engine:56} {row.ms:10.4f} ms   {row.result}")
    print("\n* with a constant answer in the place of a model")
    for operation in ("check", "compact"):
        columns = [row for row in theirs if row.operation == operation]
        if columns:
            print(f"\nHow many times as long as ours, {operation}:")
            for i, row in enumerate(columns):
                print(f"  [{i + 1}] {row.engine}")
            print("".ljust(30), *(f"[{i + 1}]".rjust(9) for i in range(len(columns))))
            for row in mine:
                if row.operation == operation:
                    print(row.engine.ljust(30), *(f"{peer.ms / row.ms:9.1f}" for peer in columns))


if __name__ == "__main__":
    main()
