"""After an hour without a request the provider's cache is cold, and old tool results may go at no further cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.plan import Plan
from workbench.compaction.results import rewritten
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, Message, ToolResult

IDLE_SECONDS = 60 * 60.0
KEEP = 5
CLEARED = "[old result taken out]"
TOOLS = frozenset(
    {"read", "readfile", "bash", "shell", "runshell", "grep", "glob", "websearch", "webfetch", "edit", "write",
     "writefile"}
)  # fmt: skip
"""Reading, shell, grep, glob, web search, web fetch, editing and writing, by the names that agents use."""


@dataclass(frozen=True, slots=True)
class IdleMicrocompact:
    """Clears all but the newest results of eight tools when the newest message came long after the last answer.

    Attributes:
        idle: seconds; exactly so many are not enough.
        keep: results that stay.
    """

    idle: float = IDLE_SECONDS
    keep: int = KEEP
    name: ClassVar[str] = "idle_microcompact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The markers; None where nobody waited, or no times are recorded."""
        messages = context.messages
        if not waited(messages) > self.idle:
            return None
        results = [i for i, message in enumerate(messages) if isinstance(message, ToolResult) and clears(message)]
        return rewritten(context, ((i, CLEARED) for i in results[: max(len(results) - self.keep, 0)]))


def clears(message: ToolResult) -> bool:
    """Whether the result is of one of the eight tools."""
    return message.name.rsplit("__", 1)[-1].replace("_", "").lower() in TOOLS


def waited(messages: Sequence[Message]) -> float:
    """Seconds between the model's last answer and the newest message; 0 where one of the times is unknown."""
    answer = next((message for message in reversed(messages) if isinstance(message, AssistantMessage)), None)
    if answer is None or answer.time is None or messages[-1].time is None:
        return 0.0
    return messages[-1].time - answer.time
