"""ExAthena's view: reads that were overtaken, and calls that only repeat the one before. Sent, never kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.marker import REPEATED
from workbench.compaction.plan import Plan, Replace
from workbench.compaction.presets.ex_athena.counting import size_in_bytes
from workbench.compaction.stage import Budget
from workbench.compaction.stages.context_collapse import ContextCollapse as Stubs
from workbench.transcript.context import Context
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    ToolResult,
    plain_text,
    with_blocks,
)


@dataclass(frozen=True, slots=True)
class ContextCollapse:
    """Stubs for what was overtaken, and a mark at each call that repeats the one before.

    A call repeats the one before if it has the same tool and arguments with nothing but results in between. The marks
    stand only where the stubs save more than they add, so that the request never becomes longer.
    """

    name: ClassVar[str] = "context_collapse"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The projection, from the history as it is kept."""
        stubs = Stubs().plan(context, budget)
        edits = {edit.start: edit for edit in (stubs.edits if stubs is not None else ())}
        marks: list[Replace] = []
        for i, answered in _repeats(context.messages):
            marks.append(Replace(i, i + 1, (_marked(context.messages[i]),)))
            edit = None if answered is None or answered in edits else _stub(context, answered)
            if edit is not None and answered is not None:
                edits[answered] = edit
        if sum(_longer(context, edit) for edit in (*edits.values(), *marks)) <= 0:
            edits.update((mark.start, mark) for mark in marks)
        return Plan(tuple(edits[i] for i in sorted(edits))) if edits else None


def _repeats(messages: Sequence[Message]) -> Iterator[tuple[int, int | None]]:
    """Each call that repeats the one before, and its result's index where that is the same result again."""
    before: ToolCall | None = None
    now: ToolCall | None = None
    at = -1
    result: ToolResult | None = None
    found: dict[int, int | None] = {}
    for i, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            calls = [block for block in message.blocks if block.type == "tool_call"]
            before, now = now, calls[0] if len(calls) == 1 else None
            if before is None or now is None or (before.name, before.arguments) != (now.name, now.arguments):
                before = None
            elif not message.pinned and not plain_text(message).endswith(REPEATED):
                found[i] = None
            at = i
        elif not isinstance(message, ToolResult):
            before = now = result = None
        elif now is not None and message.call_id == now.id:
            if at in found and result is not None and (result.blocks, result.is_error) == (
                message.blocks, message.is_error
            ):  # fmt: skip
                found[at] = i
            result = message
    return iter(found.items())


def _marked(message: Message) -> AssistantMessage:
    assert isinstance(message, AssistantMessage)
    blocks = list(message.blocks)
    last = next((i for i in range(len(blocks) - 1, -1, -1) if isinstance(blocks[i], Text)), None)
    if last is None:
        call = next(i for i, block in enumerate(blocks) if isinstance(block, ToolCall))
        blocks.insert(call, Text(REPEATED))
    else:
        blocks[last] = Text(f"{plain_text(replace(message, blocks=(blocks[last],)))} {REPEATED}".strip())
    return replace(message, blocks=tuple(blocks))


def _stub(context: Context, i: int) -> Replace | None:
    message = context.messages[i]
    if not isinstance(message, ToolResult) or message.pinned:
        return None
    short = with_blocks(message, (Text(REPEATED),))
    edit = Replace(i, i + 1, (short,))
    return edit if _longer(context, edit) < 0 and context.count(short) <= context.sizes[i] else None


def _longer(context: Context, edit: Replace) -> int:
    """Bytes of words that the edit adds."""
    now = sum(size_in_bytes(plain_text(one)) for one in edit.by if isinstance(one, AssistantMessage | ToolResult))
    return now - size_in_bytes(plain_text(context.messages[edit.start]))
