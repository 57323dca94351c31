"""Forgets everything that may be forgotten: the least that a context can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.plan import Plan, Replace
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import SystemMessage, UserMessage
from workbench.transcript.pairing import last_user, protected


@dataclass(frozen=True, slots=True)
class KeepFloor:
    """Keeps system messages, pinned messages and the newest user message, whatever the target.

    Where no person said anything, the newest message that a client wrote as the user stays instead.
    """

    name: ClassVar[str] = "keep_floor"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Drop all the rest."""
        messages = context.messages
        kept = protected(messages)
        kept.update([i for i, message in enumerate(messages) if isinstance(message, SystemMessage)])
        if last_user(messages) is None:
            kept.update([i for i, message in enumerate(messages) if isinstance(message, UserMessage)][-1:])
        edits = [Replace(i, i + 1) for i in range(len(messages)) if i not in kept]
        return Plan(tuple(edits)) if edits else None
