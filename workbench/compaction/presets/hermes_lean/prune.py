"""What Hermes takes out before it asks anybody: repeated and old results, long arguments, old pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.clip import head
from workbench.compaction.marker import reference
from workbench.compaction.plan import Plan, Replace
from workbench.compaction.presets.hermes_lean.tail import tail_start
from workbench.compaction.span_selection import Movable
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import (
    AssistantMessage,
    Image,
    Json,
    Message,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    plain_text,
    with_blocks,
)
from workbench.transcript.pairing import callers, last_user

LONG_RESULT = 200
LONG_ARGUMENT = 500
ARGUMENT_CHARS = 200
TARGET_CHARS = 80
WORTH = 0.1
SAME = "[the same result as a later one; ref="
OLD = "[old result of "
_DEEPEST = 40
_LINE = "\n"


@dataclass(frozen=True, slots=True)
class HermesPrune:
    """Rewrites messages before the tail, each to something smaller.

    Attributes:
        long_result: characters; longer results become one line.
        long_argument, argument_chars: characters; longer arguments keep so many.
        worth: nothing is rewritten where less than that part of the context is gained.
    """

    long_result: int = LONG_RESULT
    long_argument: int = LONG_ARGUMENT
    argument_chars: int = ARGUMENT_CHARS
    worth: float = WORTH
    name: ClassVar[str] = "hermes_prune"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """What is rewritten, and the full texts of results for the archive."""
        movable = Movable.of(context, budget)
        newest = last_user(context.messages)
        old = [i for i in movable.indices[: tail_start(movable, budget.window)] if i != newest]
        messages, sizes, count = context.messages, context.sizes, context.count
        caller_of = callers(messages)
        pictured = _newest_pictured(messages)
        long = self._long(messages)
        later = {ref: i for i, (_, ref) in long.items()}
        edits, archive, saved = [], dict[str, str](), 0
        for i in old:
            message = messages[i]
            text = ref = ""
            short: Message | None
            if isinstance(message, ToolResult):
                if i not in long:
                    continue
                text, ref = long[i]
                if later[ref] > i:
                    line = f"{SAME}{ref}]"
                else:
                    line = _described(message, text, messages[caller_of[i]] if i in caller_of else None, ref)
                short = with_blocks(message, (Text(line),))
            else:
                short = self._shrunk(message, i == pictured)
            if short is not None and (size := count(short)) < sizes[i]:
                edits.append(Replace(i, i + 1, (short,)))
                saved += sizes[i] - size
                if ref:
                    archive[ref] = text
        return Plan(tuple(edits), archive) if edits and saved >= self.worth * context.tokens else None

    def _long(self, messages: Sequence[Message]) -> dict[int, tuple[str, str]]:
        """The text and the reference of each result that may become a line: two that say the same have the same."""
        found = {}
        for i, message in enumerate(messages):
            if isinstance(message, ToolResult):
                text = plain_text(message)
                if len(text) > self.long_result and not text.startswith((SAME, OLD)):
                    found[i] = text, reference(text)
        return found

    def _shrunk(self, message: Message, keep_pictures: bool) -> Message | None:
        if isinstance(message, AssistantMessage):
            for block in message.blocks:
                if block.type == "tool_call" and self._call(block) is not block:
                    break
            else:
                return None
            blocks = tuple([self._call(block) if isinstance(block, ToolCall) else block for block in message.blocks])
            return replace(message, blocks=blocks)
        if isinstance(message, UserMessage) and not keep_pictures:
            said = tuple(_named(block) if isinstance(block, Image) else block for block in message.blocks)
            return replace(message, blocks=said) if said != message.blocks else None
        return None

    def _call(self, call: ToolCall) -> ToolCall:
        for value in call.arguments.values():
            if not isinstance(value, str) or len(value) > self.long_argument:
                break
        else:
            return call
        short = {key: self._value(value, 0) for key, value in call.arguments.items()}
        return call if short == dict(call.arguments) else replace(call, arguments=short)

    def _value(self, value: Json, depth: int) -> Json:
        if isinstance(value, str):
            return value if len(value) <= self.long_argument else head(value, self.argument_chars) + " [...]"
        if isinstance(value, dict) and depth < _DEEPEST:
            return {key: self._value(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple) and depth < _DEEPEST:
            return [self._value(item, depth + 1) for item in value]
        return value


def _described(message: ToolResult, text: str, caller: Message | None, ref: str) -> str:
    """One line that says which tool was used on what, and how it came out."""
    call = None
    for block in caller.blocks if caller is not None else ():
        if block.type == "tool_call" and block.id == message.call_id:
            call = block
            break
    name = message.name or (call.name if call is not None else "a tool")
    target = " ".join(_target(call).split())
    outcome = "failed" if message.is_error else f"{_lines(text)} lines"
    return f"{OLD}{name}{f' on {target}' if target else ''}: {outcome}, {len(text)} characters; ref={ref}]"


def _lines(text: str) -> int:
    """How many. Whether there is more than one is found ten times as fast as they are counted."""
    return text.count(_LINE) + 1 if _LINE in text else 1


def _target(call: ToolCall | None) -> str:
    for value in call.arguments.values() if call is not None else ():
        if isinstance(value, str) and value.strip():
            return head(value, TARGET_CHARS)
    return ""


def whole(message: Message, archive: Mapping[str, str]) -> Message:
    """The result as it was before it became a line, where the archive holds it; any other message as it is."""
    if not archive or not isinstance(message, ToolResult):
        return message
    line = plain_text(message)
    if not line.startswith((SAME, OLD)):
        return message
    text = archive.get(line[-17:-1]) if line.endswith("]") and line[:-17].endswith(("; ref=", ";ref=")) else None
    return message if text is None else with_blocks(message, (Text(text),))


def _newest_pictured(messages: Sequence[Message]) -> int | None:
    pictured: Iterable[int] = (
        i for i in range(len(messages) - 1, -1, -1)
        if isinstance(messages[i], UserMessage) and any(isinstance(block, Image) for block in messages[i].blocks)
    )  # fmt: skip
    return next(iter(pictured), None)


def _named(picture: Image) -> Text:
    return Text(f"[{picture.media_type} taken out]")
