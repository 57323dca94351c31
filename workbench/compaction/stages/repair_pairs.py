"""Makes the pairs of calls and results whole, as providers demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.plan import Budget, Plan, Replace
from workbench.transcript.context import Context
from workbench.transcript.message import Message, is_empty


@dataclass(frozen=True, slots=True)
class RepairPairs:
    """Drops results that answer no call or answer it again, and calls without a result.

    The calls of a last message that still waits for results are left open. Pinned messages are left as they are.

    Source:
        Opal, `agent/repair.ex`, restated.
    """

    name: ClassVar[str] = "repair_pairs"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The repair, or None where all pairs are whole."""
        messages = context.messages
        caller_of, waiting = context.callers, _waiting(messages)
        answered: set[tuple[int, str]] = set()
        edits = []
        for i, message in enumerate(messages):
            if message.role == "tool":
                pair = (caller_of.get(i, -1), message.call_id)
                if pair[0] >= 0 and pair not in answered:
                    answered.add(pair)
                elif not message.pinned:
                    edits.append(Replace(i, i + 1))
        for i, message in enumerate(messages):
            if message.role == "assistant" and i != waiting and not message.pinned:
                missing = [call for call in message.calls if (i, call.id) not in answered]
                if missing:
                    short = replace(message, blocks=tuple(block for block in message.blocks if block not in missing))
                    edits.append(Replace(i, i + 1, () if is_empty(short) else (short,)))
        return Plan(tuple(sorted(edits, key=lambda edit: edit.start))) if edits else None


def _waiting(messages: Sequence[Message]) -> int | None:
    """The index of the last message that has calls, if only results come after it."""
    for i in range(len(messages) - 1, -1, -1):
        message = messages[i]
        if message.role != "tool":
            return i if message.role == "assistant" and message.calls else None
    return None
