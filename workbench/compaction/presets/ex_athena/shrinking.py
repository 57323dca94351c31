"""ExAthena's stages for single results: a budget for each, and two ways to forget old ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.marker import reference, snipped, truncated
from workbench.compaction.plan import Plan, Replace
from workbench.compaction.presets.ex_athena.counting import size_in_bytes
from workbench.compaction.presets.ex_athena.marks import CLEARED, cleared, is_mark, is_reference
from workbench.compaction.presets.ex_athena.pinning import PINNING, Pinning
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    ToolCall,
    ToolResult,
    plain_text,
    with_blocks,
)

PER_TOOL_RESULT_MAX_CHARS = 16_000
SNIP_AGE_ITERATIONS = 4
EXEMPT = frozenset({"todo_write", "spawn_agent"})
MASK_KEEPS = 5
MASK_FROM = 10_000
HINTS = ("path", "url", "command", "pattern")
HINT_CHARS = 80


def rewritten(context: Context, i: int, text: str, *, pictures: bool = False) -> Replace | None:
    """A result with another text, if that is shorter; its pictures stay only where that is said."""
    message = context.messages[i]
    if not isinstance(message, ToolResult) or size_in_bytes(text) >= size_in_bytes(plain_text(message)):
        return None
    stay = [block for block in message.blocks if isinstance(block, Image)] if pictures else ()
    short = with_blocks(message, (Text(text), *stay))
    return Replace(i, i + 1, (short,)) if context.count(short) <= context.sizes[i] else None


@dataclass(frozen=True, slots=True)
class BudgetReduction:
    """Archives each result that is over its budget, wherever it stands; pinned ones stay.

    Attributes:
        limit: bytes that a result may have; the original calls them characters.
        mark: what stands in its place, from its bytes and its reference.
    """

    limit: int = PER_TOOL_RESULT_MAX_CHARS
    mark: Callable[[int, str], str] = truncated
    name: ClassVar[str] = "budget_reduction"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace what is too long. The full text can be read afterwards: `Context.read(reference)`."""
        edits: list[Replace] = []
        archive: dict[str, str] = {}
        for i, message in enumerate(context.messages):
            if not isinstance(message, ToolResult) or message.pinned:
                continue
            text = plain_text(message)
            size = size_in_bytes(text)
            if size <= self.limit or is_reference(message, context.archive):
                continue
            ref = reference(text)
            edit = rewritten(context, i, self.mark(size, ref), pictures=True)
            if edit is not None:
                edits.append(edit)
                archive[ref] = text
        return Plan(tuple(edits), archive) if edits else None


@dataclass(frozen=True, slots=True)
class Snip:
    """Forgets results that the model has answered to so many times since; references and exempt tools' results stay.

    Attributes:
        age: answers of the model, which is what the original calls iterations.
    """

    age: int = SNIP_AGE_ITERATIONS
    pinning: Pinning = PINNING
    exempt: frozenset[str] = frozenset()
    name: ClassVar[str] = "snip"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace stale results between prefix and live end; one that is snipped already stays as it is."""
        messages = context.messages
        between, called = self.pinning.between(messages), by_id(messages) if self.exempt else {}
        answers, edits = 0, []
        for i in range(len(messages) - 1, between.start - 1, -1):
            message = messages[i]
            answers += isinstance(message, AssistantMessage)
            if i >= between.stop or answers < self.age or not isinstance(message, ToolResult):
                continue
            if message.pinned or is_mark(plain_text(message)) or is_reference(message, context.archive):
                continue
            if self.exempt and tool_of(message, called) in self.exempt:
                continue
            edit = rewritten(context, i, snipped(message.call_id))
            if edit is not None:
                edits.append(edit)
        return Plan(tuple(reversed(edits))) if edits else None


@dataclass(frozen=True, slots=True)
class ObservationMask:
    """Clears old results that their tools can give again, but for the newest ones, if that is worth it.

    Attributes:
        keep: how many of the newest stay.
        least: bytes that all others must have together.
    """

    keep: int = MASK_KEEPS
    least: int = MASK_FROM
    exempt: frozenset[str] = EXEMPT
    name: ClassVar[str] = "observation_mask"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace results with the tool that would give them again; errors and exempt tools' results stay."""
        called = by_id(context.messages)
        sizes = dict(self._candidates(context, called))
        old = [*sizes][: max(len(sizes) - self.keep, 0)]
        if not old or sum(sizes[i] for i in old) < self.least:
            return None
        edits = (
            rewritten(context, i, self._mark(context.messages[i], sizes[i], called))
            for i in old
            if sizes[i] > SHORTEST_MARK
        )
        found = tuple(edit for edit in edits if edit is not None)
        return Plan(found) if found else None

    def _candidates(self, context: Context, called: Mapping[str, ToolCall]) -> Iterator[tuple[int, int]]:
        """The indices of what may be cleared, each with the bytes of its words."""
        for i, message in enumerate(context.messages):
            if not isinstance(message, ToolResult) or message.pinned or message.is_error:
                continue
            text = plain_text(message)
            if is_reference(message, context.archive):
                continue
            if text and not text.startswith(CLEARED) and tool_of(message, called) not in self.exempt:
                yield i, size_in_bytes(text)

    def _mark(self, message: Message, size: int, called: Mapping[str, ToolCall]) -> str:
        assert isinstance(message, ToolResult)
        call = called.get(message.call_id)
        values = (call.arguments.get(key) for key in HINTS) if call is not None else ()
        hint = next((value for value in values if isinstance(value, str) and value), "")
        return cleared(size, tool_of(message, called) or "the tool", hint[:HINT_CHARS])


SHORTEST_MARK = size_in_bytes(cleared(0, "", ""))
"""No mark of a cleared result is shorter, so none takes the place of less."""


def by_id(messages: Sequence[Message]) -> dict[str, ToolCall]:
    """The newest call of each id."""
    called: dict[str, ToolCall] = {}
    for message in messages:
        if isinstance(message, AssistantMessage):
            for block in message.blocks:
                if isinstance(block, ToolCall):
                    called[block.id] = block
    return called


def tool_of(message: ToolResult, called: Mapping[str, ToolCall]) -> str:
    """The tool's name, from the result or from its call; empty where neither says."""
    if message.name:
        return message.name
    call = called.get(message.call_id)
    return call.name if call is not None else ""
