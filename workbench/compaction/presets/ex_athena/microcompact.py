"""ExAthena's two ways to shorten a run of results of one tool: merged into one message, or each in its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar, TypeAlias

from workbench.compaction.clip import head
from workbench.compaction.marker import EXCERPT
from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.ex_athena.counting import size_in_bytes
from workbench.compaction.presets.ex_athena.marks import MERGED, is_mark, is_reference, merged
from workbench.compaction.presets.ex_athena.pinning import Pinning
from workbench.compaction.presets.ex_athena.shrinking import by_id, rewritten, tool_of
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    ToolCall,
    ToolResult,
    is_empty,
    plain_text,
)
from workbench.transcript.pairing import callers

MICROCOMPACT_RUN_THRESHOLD = 3
EXCERPT_CHARS = 200
SHORT_END = Pinning(suffix=4)
"""What the original's stage leaves alone, whatever the live end is."""

Found: TypeAlias = tuple[list[int], Summary]


@dataclass(frozen=True, slots=True)
class ExcerptRuns:
    """Cuts each long result of a run to its first characters, in place. As in the newest version.

    Attributes:
        run: how many adjacent results of one tool make a run; fewer than three never do.
        chars: of each that are kept.
    """

    run: int = MICROCOMPACT_RUN_THRESHOLD
    chars: int = EXCERPT_CHARS
    pinning: Pinning = SHORT_END
    name: ClassVar[str] = "microcompact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace the long results of each run; an excerpt stays, and so does a reference."""
        edits = []
        for i in (i for run in runs(context, self.pinning, self.run) for i in run):
            message = context.messages[i]
            text = plain_text(message)
            if size_in_bytes(text) <= self.chars or is_mark(text) or is_reference(message, context.archive):
                continue
            edit = rewritten(context, i, f"{EXCERPT} {head(text, self.chars)} […]")
            edits += [edit] if edit is not None else []
        return Plan(tuple(edits)) if edits else None


@dataclass(frozen=True, slots=True)
class MergeRuns:
    """Merges each run into one message, as documented. The calls go with their results, so that pairs stay whole.

    Attributes:
        run: as above.
        chars: of each result that are kept, and of each call's arguments.
    """

    run: int = MICROCOMPACT_RUN_THRESHOLD
    chars: int = EXCERPT_CHARS
    pinning: Pinning = SHORT_END
    name: ClassVar[str] = "microcompact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Put one message in the place of each run where that is smaller."""
        messages = context.messages
        caller_of, called = callers(messages), by_id(messages)
        answers = _answers(messages, caller_of)
        found: list[Found] = []
        for run in runs(context, self.pinning, self.run):
            one = self._merged(messages, run, called)
            asked = {(caller_of[i], _call_id(messages[i])) for i in run if i in caller_of}
            apart = any(i not in run for call in asked for i in answers[call])
            if not apart and not self._held(messages, asked) and _shorter(context, run, called, one):
                found.append((run, one))
        plan = Plan(_edits(messages, found, caller_of))
        return plan if found and plan.apply(context).tokens <= context.tokens else None

    def _held(self, messages: Sequence[Message], asked: Iterable[tuple[int, str]]) -> bool:
        """Whether one of these calls stands in the prefix, or in a message that is pinned."""
        floor = self.pinning.floor(messages)
        return any(caller < floor or self.pinning.holds(messages[caller]) for caller, _ in asked)

    def _merged(self, messages: Sequence[Message], run: Sequence[int], called: Mapping[str, ToolCall]) -> Summary:
        lines = [merged(len(run)), *(self._bullet(messages[i], called) for i in run)]
        ids = tuple(messages[i].id for i in run)
        return Draft(requests=(), template="", footer="\n".join(lines), replaces=ids, name=MERGED).written(())

    def _bullet(self, message: Message, called: Mapping[str, ToolCall]) -> str:
        call = called.get(_call_id(message))
        said = f" {call.name}({self._cut(call.arguments_json())})" if call is not None else ""
        return f"- {_call_id(message)}{said}: {self._cut(plain_text(message))}"

    def _cut(self, text: str) -> str:
        return text if len(text) <= self.chars else f"{head(text, self.chars)} […]"


def runs(context: Context, pinning: Pinning, least: int) -> Iterator[list[int]]:
    """The runs between prefix and live end: adjacent results of one tool that are not pinned."""
    messages = context.messages
    called = by_id(messages)

    def key(i: int) -> str | None:
        message = messages[i]
        return tool_of(message, called) if isinstance(message, ToolResult) and not message.pinned else None

    for tool, run in groupby(pinning.between(messages), key):
        indices = list(run)
        if tool is not None and len(indices) >= max(least, MICROCOMPACT_RUN_THRESHOLD):
            yield indices


def _shorter(context: Context, run: Sequence[int], called: Mapping[str, ToolCall], one: Summary) -> bool:
    results = sum(size_in_bytes(plain_text(context.messages[i])) for i in run)
    calls = (called.get(_call_id(context.messages[i])) for i in run)
    return size_in_bytes(one.text) < results + sum(size_in_bytes(c.arguments_json()) for c in calls if c is not None)


def _edits(messages: Sequence[Message], found: Sequence[Found], caller_of: Mapping[int, int]) -> tuple[Replace, ...]:
    """The merged messages in the place of their runs; before a caller that keeps calls, whose results still follow."""
    gone = {i for run, _ in found for i in run}
    answered: dict[int, set[str]] = {}
    for i in gone & caller_of.keys():
        answered.setdefault(caller_of[i], set()).add(_call_id(messages[i]))
    open_at = {c for c, ids in answered.items() if any(call.id not in ids for call in _calls(messages[c]))}
    put: dict[int, list[Message]] = {}
    for run, one in found:
        at = min((caller_of[i] for i in run if caller_of.get(i) in open_at), default=run[0])
        put.setdefault(at, []).append(one)
    edits = [Replace(i, i + 1, tuple(put.get(i, ()))) for i in gone]
    edits += [Replace(c, c + 1, (*put.get(c, ()), *_without(messages[c], ids))) for c, ids in answered.items()]
    return tuple(sorted(edits, key=lambda edit: edit.start))


def _answers(messages: Sequence[Message], caller_of: Mapping[int, int]) -> dict[tuple[int, str], list[int]]:
    """The results of each call: one that was answered twice goes with all of them or not at all."""
    found: dict[tuple[int, str], list[int]] = {}
    for i, caller in caller_of.items():
        found.setdefault((caller, _call_id(messages[i])), []).append(i)
    return found


def _calls(message: Message) -> tuple[ToolCall, ...]:
    return message.calls if isinstance(message, AssistantMessage) else ()


def _call_id(message: Message) -> str:
    return message.call_id if isinstance(message, ToolResult) else ""


def _without(message: Message, calls: set[str]) -> tuple[Message, ...]:
    assert isinstance(message, AssistantMessage)
    left = tuple(block for block in message.blocks if not (isinstance(block, ToolCall) and block.id in calls))
    short = replace(message, blocks=left)
    return () if is_empty(short) else (short,)
