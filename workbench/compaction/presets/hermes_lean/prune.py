"""What Hermes keeps as it is, and what it takes out before it asks a model: old results, long arguments, pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.clip import head, with_texts
from workbench.compaction.marker import reference
from workbench.compaction.plan import Plan, Replace
from workbench.compaction.results import rewritten
from workbench.compaction.span_selection import Movable
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import (
    AnswerBlock,
    Message,
    SaidBlock,
    Text,
    ToolCall,
    ToolResult,
    argument_texts,
    image_tokens,
    plain_text,
    with_blocks,
)
from workbench.transcript.pairing import answered_calls, last_user

TAIL_SHARE = 0.025
LEAST_TAIL, MOST_TAIL = 10_000, 25_000
TARGET_CHARS = 80
SAME = "[the same result as a later one; ref="
OLD = "[old result of "

_LINE = re.compile(r"\[(?:the same result as a later one|old result of .*); ?ref=([0-9a-f]{16})\]", re.DOTALL)


def tail_tokens(window: int) -> int:
    """Tokens of newest messages to keep: a fortieth of the window, at least 10,000 and at most 25,000."""
    return min(max(int(TAIL_SHARE * window), LEAST_TAIL), MOST_TAIL)


def tail_start(movable: Movable, window: int) -> int:
    """The first of the movable messages that belongs to the tail; behind pairs that it would part."""
    return movable.after(movable.fitting(movable.kept(tail_tokens(window))))


@dataclass(frozen=True, slots=True)
class HermesPrune:
    """Rewrites messages before the tail to something smaller, if a share `worth` of the context is gained."""

    long_result: int = 200
    long_argument: int = 500
    argument_chars: int = 200
    worth: float = 0.1
    name: ClassVar[str] = "hermes_prune"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """What is rewritten, and the full texts of results for the archive."""
        movable = Movable.of(context, budget)
        newest = last_user(context.messages)
        old = [i for i in movable.indices[: tail_start(movable, budget.window)] if i != newest]
        lines = rewritten(context, self._lines(context.messages, old)) or Plan(())
        edits = sorted([*lines.edits, *self._shrunk(context, old)], key=lambda edit: edit.start)
        gained = sum(context.sizes[edit.start] - (edit.size or 0) for edit in edits)
        return Plan(tuple(edits), lines.archive) if edits and gained >= self.worth * context.tokens else None

    def _lines(self, messages: Sequence[Message], old: Sequence[int]) -> Iterator[tuple[int, str, str]]:
        """The line for each old long result; one that says the same as a later result points to that."""
        long = {
            i: text
            for i, message in enumerate(messages)
            if message.role == "tool" and len(text := plain_text(message)) > self.long_result
        }
        last = {text: i for i, text in long.items()}
        calls = {i: call for i, call, _ in answered_calls(messages)}
        for i in old:
            message = messages[i]
            if i not in long or message.role != "tool" or long[i].startswith((SAME, OLD)):
                continue
            ref = reference(long[i])
            yield i, f"{SAME}{ref}]" if last[long[i]] > i else _described(message, long[i], calls.get(i), ref), ref

    def _shrunk(self, context: Context, old: Sequence[int]) -> Iterator[Replace]:
        """Answers with shorter arguments and user messages without pictures, where that makes them smaller."""
        messages = context.messages
        pictured = [i for i, message in enumerate(messages) if message.role == "user" and image_tokens(message)][:-1]
        for i in old:
            message = messages[i]
            short = message
            if message.role == "assistant" and any(map(self._is_long, message.blocks)):
                short = replace(message, blocks=tuple(map(self._short_call, message.blocks)))
            elif message.role == "user" and i in pictured:
                short = replace(message, blocks=tuple(map(_named, message.blocks)))
            if short is not message and (size := context.count(short)) < context.sizes[i]:
                yield Replace(i, i + 1, (short,), size)

    def _is_long(self, block: AnswerBlock) -> bool:
        texts = argument_texts(block.arguments) if block.type == "tool_call" else ()
        return any(len(text) > self.long_argument for text in texts)

    def _short_call(self, block: AnswerBlock) -> AnswerBlock:
        if block.type != "tool_call":
            return block
        return replace(block, arguments=with_texts(block.arguments, self._short_argument))

    def _short_argument(self, text: str) -> str:
        return text if len(text) <= self.long_argument else head(text, self.argument_chars) + " [...]"


def _described(message: ToolResult, text: str, call: ToolCall | None, ref: str) -> str:
    """One line that says which tool was used on what, and how it came out."""
    name = message.name or (call.name if call is not None else "a tool")
    values = call.arguments.values() if call is not None else ()
    first = next((value for value in values if isinstance(value, str) and value.strip()), "")
    target = " ".join(head(first, TARGET_CHARS).split())
    outcome = "failed" if message.is_error else f"{text.count(chr(10)) + 1} lines"
    return f"{OLD}{name}{f' on {target}' if target else ''}: {outcome}, {len(text)} characters; ref={ref}]"


def whole(message: Message, archive: Mapping[str, str]) -> Message:
    """The result as it was before it became a line, where the archive holds it; any other message as it is."""
    if not archive or message.role != "tool":
        return message
    found = _LINE.fullmatch(plain_text(message))
    text = archive.get(found.group(1)) if found is not None else None
    return message if text is None else with_blocks(message, (Text(text),))


def _named(block: SaidBlock) -> SaidBlock:
    return Text(f"[{block.media_type} taken out]") if block.type == "image" else block
