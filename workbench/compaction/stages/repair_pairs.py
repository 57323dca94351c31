"""Makes the pairs of calls and results whole, as providers demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from workbench.compaction.plan import Plan, Replace
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, Message, Text, ToolCall, ToolResult, is_empty
from workbench.transcript.pairing import callers

MISSING = "[the result of this call is missing]"


@dataclass(frozen=True, slots=True)
class RepairPairs:
    """Drops results that answer no call or answer it again, and mends calls without a result.

    The calls of a last message that still waits for results are left open. Pinned messages are left as they are.

    Attributes:
        missing: what happens to a call that has no result: the call is dropped, which never makes a context larger;
            or it is answered by a failed result that says so, which keeps the trace of what was tried.

    Source:
        Opal, `agent/repair.ex`, restated.
    """

    missing: Literal["drop", "answer"] = "drop"
    name: ClassVar[str] = "repair_pairs"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The repair, or None where all pairs are whole."""
        messages = context.messages
        caller_of = callers(messages)
        waiting = _waiting(messages)
        answered: set[tuple[int, str]] = set()
        edits = []
        for i, message in enumerate(messages):
            if isinstance(message, ToolResult):
                pair = (caller_of.get(i, -1), message.call_id)
                if pair[0] >= 0 and pair not in answered:
                    answered.add(pair)
                elif not message.pinned:
                    edits.append(Replace(i, i + 1))
        for i, message in enumerate(messages):
            if isinstance(message, AssistantMessage) and i != waiting:
                open_calls = [call for call in message.calls if (i, call.id) not in answered]
                if open_calls and not (message.pinned and self.missing == "drop"):
                    edits.append(self._mended(i, message, open_calls))
        return Plan(tuple(sorted(edits, key=lambda edit: (edit.start, edit.stop)))) if edits else None

    def _mended(self, i: int, message: AssistantMessage, open_calls: list[ToolCall]) -> Replace:
        if self.missing == "answer":
            return Replace(i + 1, i + 1, tuple(_stand_in(message, call) for call in open_calls))
        left = tuple(block for block in message.blocks if block not in open_calls)
        short = replace(message, blocks=left)
        return Replace(i, i + 1, () if is_empty(short) else (short,))


def _stand_in(message: AssistantMessage, call: ToolCall) -> ToolResult:
    return ToolResult(
        id=f"{message.id}-{call.id}-missing", call_id=call.id, blocks=(Text(MISSING),), name=call.name, is_error=True
    )


def _waiting(messages: Sequence[Message]) -> int | None:
    """The index of the last message that has calls, if only results come after it."""
    for i in range(len(messages) - 1, -1, -1):
        message = messages[i]
        if not isinstance(message, ToolResult):
            return i if isinstance(message, AssistantMessage) and message.calls else None
    return None
