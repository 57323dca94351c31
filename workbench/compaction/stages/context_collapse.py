"""Hides what later messages made worthless; for the view that is sent, never for the history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.marker import repeated, superseded
from workbench.compaction.plan import Plan
from workbench.compaction.results import rewritten
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.files import touched
from workbench.transcript.message import AssistantMessage, Message, ToolCall, ToolResult
from workbench.transcript.pairing import answered_calls


@dataclass(frozen=True, slots=True)
class ContextCollapse:
    """Puts a stub in the place of a read whose file was changed later, and of a result that only repeats the last.

    A call repeats the one before if it has the same tool and arguments with only tool results in between; its result
    becomes a stub if it is the same text.

    Source:
        ExAthena, `Compactors.ContextCollapse`, restated. There the marker of a repeated call made the request longer
        and the projection was never sent; here it is sent, and a stub stands only where it is smaller.
    """

    name: ClassVar[str] = "context_collapse"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The stubs, each strictly smaller than what it hides."""
        return rewritten(context, (dict(_repeats(context.messages)) | dict(_overtaken(context.messages))).items())


def _overtaken(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """The results of reads whose file was changed later, by a call that did not fail."""
    changed: set[str] = set()
    for i, call, result in reversed(list(answered_calls(messages))):
        files = touched(call.name, call.arguments)
        if files.modified and not result.is_error:
            changed.update(files.modified)
        elif files.read and files.read[0] in changed:
            yield i, superseded(files.read[0])


def _repeats(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    """The results that are the same as that of an equal call just before."""
    before: ToolCall | None = None
    now: ToolCall | None = None
    said: dict[str, ToolResult] = {}
    for i, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            blocks = message.blocks
            before, now = now, blocks[0] if len(blocks) == 1 and isinstance(blocks[0], ToolCall) else None
        elif isinstance(message, ToolResult):
            if now is None or message.call_id != now.id:
                continue
            said[now.id] = message
            if before is not None and _same(before, now) and before.id != now.id:
                earlier = said.get(before.id)
                if earlier is not None and (earlier.blocks, earlier.is_error) == (message.blocks, message.is_error):
                    yield i, repeated(before.id)
        else:
            before = now = None


def _same(one: ToolCall, other: ToolCall) -> bool:
    return one.name == other.name and one.arguments == other.arguments
