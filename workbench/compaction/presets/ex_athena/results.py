"""ExAthena's stages for single results: one archives long results, two put markers in the place of old ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.clip import byte_length
from workbench.compaction.marker import EXCERPT, reference, snipped, truncated
from workbench.compaction.plan import Plan
from workbench.compaction.presets.ex_athena.summary import PINNING, Pinning
from workbench.compaction.presets.token_counters import calls_of
from workbench.compaction.results import rewritten
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, Message, ToolCall, ToolResult, plain_text

PER_TOOL_RESULT_MAX_CHARS = 16_000
SNIP_AGE_ITERATIONS = 4
EXEMPT = frozenset({"todo_write", "spawn_agent"})
MASK_KEEPS = 5
MASK_FROM = 10_000
HINTS = ("path", "url", "command", "pattern")
HINT_CHARS = 80
CLEARED = "[output cleared to save context"

_REFERENCE = re.compile(
    r"\[(?:truncated; full=\d+ chars; ref=|old output cleared to save context \(\d+ chars, ref=)([0-9a-f]+)[\])]"
)
_MARKS = ("<snipped: stale tool-result for call ", CLEARED, EXCERPT)


def archived(size: int, ref: str) -> str:
    """The newest version's marker for an archived result of `size` bytes."""
    return (
        f"[old output cleared to save context ({size} chars, ref={ref}) — re-run the tool with narrower arguments "
        "if needed]"
    )


def is_mark(text: str) -> bool:
    """Whether a stage wrote this text in the place of a result."""
    return text.startswith(_MARKS)


def calls_by_id(messages: Sequence[Message]) -> dict[str, ToolCall]:
    """The newest call of each id."""
    return {call.id: call for message in messages for call in calls_of(message)}


def tool_of(result: ToolResult, calls: Mapping[str, ToolCall]) -> str:
    """The tool's name, from the result or from its call; empty where neither names it."""
    call = calls.get(result.call_id)
    return result.name or (call.name if call is not None else "")


def rewritable(context: Context, indices: Iterable[int] | None = None) -> Iterator[tuple[int, ToolResult, str]]:
    """Each result among these messages that is neither pinned nor a reference into the archive, with its text."""
    for i in range(len(context.messages)) if indices is None else indices:
        message = context.messages[i]
        if isinstance(message, ToolResult) and not message.pinned:
            text = plain_text(message)
            found = _REFERENCE.match(text) if context.archive else None
            if found is None or found.group(1) not in context.archive:
                yield i, message, text


@dataclass(frozen=True, slots=True)
class BudgetReduction:
    """Archives each result that is over its budget; the full text can be read by its reference.

    Attributes:
        limit: bytes that a result may have; the original calls them characters.
        mark: the text in its place, from its bytes and its reference.
    """

    limit: int = PER_TOOL_RESULT_MAX_CHARS
    mark: Callable[[int, str], str] = truncated
    name: ClassVar[str] = "budget_reduction"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace what is too long, wherever it stands."""
        sizes = ((i, text, byte_length(text)) for i, _, text in rewritable(context))
        long = ((i, size, reference(text)) for i, text, size in sizes if size > self.limit)
        return rewritten(
            context, ((i, self.mark(size, ref), ref) for i, size, ref in long), pictures=True, by_bytes=True
        )


@dataclass(frozen=True, slots=True)
class Snip:
    """Replaces results that the model has answered to several times since.

    Attributes:
        age: answers of the model, which the original calls iterations.
        exempt: tools whose results stay.
    """

    age: int = SNIP_AGE_ITERATIONS
    pinning: Pinning = PINNING
    exempt: frozenset[str] = frozenset()
    name: ClassVar[str] = "snip"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace stale results between the prefix and the live end."""
        messages = context.messages
        between, calls = self.pinning.between(messages), calls_by_id(messages)
        ends = [*(i for i, message in enumerate(messages) if isinstance(message, AssistantMessage)), len(messages)]
        stop = min(ends[-1 - self.age], between.stop) if self.age < len(ends) else 0
        stale = (
            (i, snipped(result.call_id))
            for i, result, text in rewritable(context, range(between.start, stop))
            if not is_mark(text) and tool_of(result, calls) not in self.exempt
        )
        return rewritten(context, stale, by_bytes=True)


@dataclass(frozen=True, slots=True)
class ObservationMask:
    """Clears all but the newest five of the results that their tools can give again.

    Attributes:
        least: bytes that the cleared results must have together.
    """

    least: int = MASK_FROM
    name: ClassVar[str] = "observation_mask"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Name in the place of each result the tool that gives it again; errors and exempt tools' results stay."""
        calls = calls_by_id(context.messages)
        old = [
            (i, result, byte_length(text))
            for i, result, text in rewritable(context)
            if text and not result.is_error and not text.startswith(CLEARED) and tool_of(result, calls) not in EXEMPT
        ][:-MASK_KEEPS]
        if sum(size for _, _, size in old) < self.least:
            return None
        return rewritten(context, ((i, _cleared(result, size, calls)) for i, result, size in old), by_bytes=True)


def _cleared(result: ToolResult, size: int, calls: Mapping[str, ToolCall]) -> str:
    call = calls.get(result.call_id)
    values = [call.arguments.get(key) for key in HINTS] if call is not None else []
    hint = next((value for value in values if isinstance(value, str) and value), "")[:HINT_CHARS]
    tool = tool_of(result, calls) or "the tool"
    return f"{CLEARED} ({size} chars) — re-run {f'{tool} ({hint})' if hint else tool} if needed]"
