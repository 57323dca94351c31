"""ExAthena's view: reads that were overtaken, and calls that only repeat the one before. Sent, never kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.marker import REPEATED
from workbench.compaction.plan import Plan, Replace
from workbench.compaction.presets.ex_athena.results import rewritten
from workbench.compaction.presets.token_counters import byte_length
from workbench.compaction.stage import Budget
from workbench.compaction.stages.context_collapse import ContextCollapse as Stubs
from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, Message, Text, ToolCall, ToolResult, plain_text


@dataclass(frozen=True, slots=True)
class RepeatCollapse:
    """Stubs for what was overtaken, and a mark at each call that repeats the one before.

    A call repeats the one before if it has the same tool and arguments with nothing but results in between. The marks
    stand only where the stubs save more than they add, so that the request never becomes longer.
    """

    name: ClassVar[str] = "context_collapse"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The projection, from the history as it is kept."""
        messages = context.messages
        stubs = Stubs().plan(context, budget)
        edits = {edit.start: edit for edit in (stubs.edits if stubs is not None else ())}
        marks = []
        for i, result in _repeats(messages).items():
            marks.append(Replace(i, i + 1, (_marked(messages[i]),)))
            if result is not None and result not in edits and not messages[result].pinned:
                edits.update((edit.start, edit) for edit in rewritten(context, result, REPEATED))
        if sum(_growth(context, edit) for edit in (*edits.values(), *marks)) <= 0:
            edits.update((mark.start, mark) for mark in marks)
        return Plan(tuple(edits[i] for i in sorted(edits))) if edits else None


def _repeats(messages: Sequence[Message]) -> dict[int, int | None]:
    """Each message whose one call repeats the one before, with its result's index where that is the same again."""
    found: dict[int, int | None] = {}
    call: ToolCall | None = None
    result: ToolResult | None = None
    at = -1
    for i, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            before, call, at = call, message.calls[0] if len(message.calls) == 1 else None, i
            repeats = before and call and (before.name, before.arguments) == (call.name, call.arguments)
            if repeats and not message.pinned and not plain_text(message).endswith(REPEATED):
                found[i] = None
        elif not isinstance(message, ToolResult):
            call = result = None
        elif call is not None and message.call_id == call.id:
            same = result and (result.blocks, result.is_error) == (message.blocks, message.is_error)
            if at in found and same:
                found[at] = i
            result = message
    return found


def _marked(message: Message) -> AssistantMessage:
    """The message with a mark at the end of its words, before its call."""
    assert isinstance(message, AssistantMessage)
    blocks = list(message.blocks)
    words = [(i, block.text) for i, block in enumerate(blocks) if isinstance(block, Text)]
    if words:
        at, text = words[-1]
        blocks[at] = Text(f"{text} {REPEATED}".strip())
    else:
        blocks.insert(blocks.index(message.calls[0]), Text(REPEATED))
    return replace(message, blocks=tuple(blocks))


def _growth(context: Context, edit: Replace) -> int:
    """Bytes of words that the edit adds."""
    now = sum(byte_length(plain_text(new)) for new in edit.by if isinstance(new, AssistantMessage | ToolResult))
    return now - byte_length(plain_text(context.messages[edit.start]))
