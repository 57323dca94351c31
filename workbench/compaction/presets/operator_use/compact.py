"""Operator-Use's settings, when they make a compaction due, where it cuts, and what it asks a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from workbench.compaction.file_lists import file_ops
from workbench.compaction.presets.token_counters import operator_tokens, usage_tokens
from workbench.compaction.prompt_template import PromptTemplate, harmless
from workbench.compaction.size_limits import UNBOUNDED, SizeLimits
from workbench.compaction.span_selection import Movable, Span, SummaryInput
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize, clipped
from workbench.compaction.trigger import Situation
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.log import CompactionEntry, Entry, MessageEntry
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    SystemMessage,
    Text,
    Thinking,
    ToolResult,
    UserMessage,
)
from workbench.transcript.tokens import TokenCounter

LEAD = "[Previous conversation summary]\n"
RESULT_CHARS = 2_000
FEW = 4
FEW_CHARS = 600
"""What can stand for itself: a few messages of a few words."""


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """What a user may set; read anew at each use. A trigger percent, in (0, 1], is due instead of the reserve."""

    enabled: bool = True
    reserve_tokens: int = 8_192
    keep_recent_tokens: int = 16_384
    trigger_percent: float | None = None

    def limit(self, window: int) -> float:
        """Tokens above which a context is due."""
        return window * self.trigger_percent if self.trigger_percent is not None else window - self.reserve_tokens

    def due(self, tokens: int, window: int) -> bool:
        """Due above the limit, never at it; never where it is switched off."""
        return self.enabled and tokens > self.limit(window)


@dataclass(frozen=True, slots=True)
class OperatorTrigger:
    """Asked when a turn has ended well; a compaction that was requested in mid-turn waits for that."""

    settings: Callable[[], OperatorSettings] = field(default=OperatorSettings)
    name: ClassVar[str] = "operator_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due where it was requested, or where the last answer's prompt and output leave less than the reserve.

        The target is the limit. Where the provider counts otherwise than the estimate, it is scaled to the estimate.
        """
        settings, window, reported = self.settings(), situation.window, situation.reported
        tokens = (usage_tokens(reported) if reported is not None else 0) or situation.tokens
        if situation.moment != "after_turn" or not (situation.requested or settings.due(tokens, window)):
            return None
        return situation.budget(int(max(settings.limit(window), 0) * situation.tokens / max(tokens, 1)))


@dataclass(frozen=True, slots=True)
class CutPoint:
    """Indices among entries: the first that stays, and where the turn begins that the cut parts, if it parts one."""

    first_kept: int
    turn_start: int | None = None


def previous_compaction(path: Sequence[Entry]) -> tuple[int, CompactionEntry] | None:
    """The newest compaction and its index."""
    found = [(i, entry) for i, entry in enumerate(path) if isinstance(entry, CompactionEntry)]
    return found[-1] if found else None


def boundary_start(path: Sequence[Entry]) -> int:
    """Where what may be summarised begins: at what the newest compaction kept, so that its tail is looked at again."""
    previous = previous_compaction(path)
    if previous is None:
        return 0
    at, compaction = previous
    return next((i for i, entry in enumerate(path) if entry.id == compaction.first_kept), at + 1)


def find_cut(path: Sequence[Entry], start: int, end: int, keep_recent_tokens: int) -> CutPoint:
    """The cut in `path[start:end]` that keeps at least that many tokens; at the start where there is none.

    A cut lies at no tool result, and labels travel with the entry that follows them.
    """
    messages = {i: entry.message for i, entry in enumerate(path) if isinstance(entry, MessageEntry)}
    valid = [i for i in range(start, end) if i in messages and not isinstance(messages[i], ToolResult | SystemMessage)]
    if not valid:
        return CutPoint(start)
    at, left = valid[0], keep_recent_tokens
    for i in range(end - 1, start - 1, -1):
        left -= operator_tokens(messages[i]) if i in messages else 0
        if left <= 0 and i in messages:
            at = next((place for place in valid if place >= i), at)
            break
    while at > start and not isinstance(path[at - 1], MessageEntry | CompactionEntry):
        at -= 1
    return CutPoint(at, turn_start(path, start, at))


def turn_start(path: Sequence[Entry], start: int, at: int) -> int | None:
    """Where the turn begins that a cut at `at` parts; None if a turn begins there, or none does in this part."""
    first = next((entry for entry in path[at:] if isinstance(entry, MessageEntry)), None)
    if first is not None and _begins(first):
        return None
    return next((i for i in range(at - 1, start - 1, -1) if _begins(path[i])), None)


def _begins(entry: Entry) -> bool:
    """Whether a turn begins here: a user's or a client's message, or the summary of another branch."""
    return isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage | Summary)


@dataclass(frozen=True, slots=True)
class OperatorCut:
    """The same cut of a context, in which a summary is the compaction that wrote it."""

    settings: Callable[[], OperatorSettings] = field(default=OperatorSettings)

    def find(self, context: Context, budget: Budget, /) -> Span | None:
        """The span; None where there is nothing to summarise before the cut."""
        movable = Movable.of(context, budget)
        path = [_entry(message) for message in movable.messages]
        start = movable.earlier
        own = self.settings().keep_recent_tokens if budget.keep_recent is None else budget.keep_recent
        at = movable.within(find_cut(path, start, len(path), movable.granted(own)).first_kept)
        if at < len(movable):
            inner = movable.inner(at) if at > start else None
            if inner is None or inner <= start:
                return None
            at = inner
        return movable.span(at, turn_start(path, start, at) if at < len(path) else None)


def _entry(message: Message) -> Entry:
    if isinstance(message, Summary):
        return CompactionEntry(id=message.id, parent=None, summary=message)
    return MessageEntry(id=message.id, parent=None, message=message)


class OperatorPrompt(PromptTemplate):
    """Operator-Use's form of a conversation and of a summary's message."""

    @property
    def opening(self) -> str:
        """The line above the summary."""
        return LEAD

    def transcript(self, messages: Sequence[Message], most_chars: int | None = None) -> str:
        """The messages as text, parts apart by a blank line. Pictures are left out."""
        return "\n\n".join(part for message in messages for part in _parts(message))


def _parts(message: Message) -> Iterator[str]:
    words = "\n".join(block.text for block in message.blocks if isinstance(block, Text))
    if isinstance(message, ToolResult):
        more = len(words) - RESULT_CHARS
        note = f"\n\n[... {more} more characters truncated]" if more > 0 else ""
        yield f"[Tool result]: {harmless(words[:RESULT_CHARS])}{note}"
        return
    thoughts = "\n".join(block.text for block in message.blocks if isinstance(block, Thinking) and block.text)
    if thoughts:
        yield f"[Assistant thinking]: {harmless(thoughts)}"
    if words:
        yield f"[{_label(message)}]: {harmless(words)}"
    if isinstance(message, AssistantMessage) and message.calls:
        calls = []
        for call in message.calls:
            values = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in call.arguments.items())
            calls.append(f"{call.name}({', '.join(values)})")
        yield "[Assistant tool calls]: " + harmless("; ".join(calls))


def _label(message: Message) -> str:
    if isinstance(message, Summary):
        return "CompactionSummary" if message.replaces else "BranchSummary"
    if isinstance(message, UserMessage) and message.synthetic and message.name:
        return harmless(message.name.upper())
    return message.role.capitalize()


def in_order(context: Context, given: SummaryInput) -> SummaryInput:
    """The input with sorted file lists."""
    files = given.files or file_ops([*given.earlier, *given.new])
    return replace(given, files=FileOps(tuple(sorted(files.read)), tuple(sorted(files.modified))))


class OperatorLimits(SizeLimits):
    """No bound where there is much room; two thirds for the history of a split turn, one third for its start."""

    def allowed(self, context: Context, budget: Budget, gone: Sequence[int], frame: int) -> int:
        """Tokens of the whole summary, where a request would name them."""
        most = super().allowed(context, budget, gone, frame)
        return UNBOUNDED if self.named(most, context, budget, gone) is None else most

    def parts(self, allowed: int, history: float) -> tuple[int, int]:
        """What each of the two summaries may have."""
        return allowed * 2 // 3, allowed // 3


def words_themselves(messages: Sequence[Message], previous: str, most: int, count: TokenCounter) -> str | None:
    """What stands in for a model that fails: the newest words where the room is small, else words that are few.

    None everywhere else, where a failure is an error.
    """
    if most < UNBOUNDED // 3:
        return clipped(OPERATOR_PROMPT.transcript(messages[-2:]), most, count) or None
    words = OPERATOR_PROMPT.transcript(messages) if len(messages) <= FEW else ""
    return words if 0 < len(words) <= FEW_CHARS else None


OPERATOR_PROMPT = OperatorPrompt(
    headings="operator_headings",
    split="operator_split",
    start="operator_start",
    turn_headings="operator_prefix_headings",
    turn_prompt="operator_prefix",
    turn_focus=False,
    focus_prompt="additional_focus",
    says_size=False,
    window_chars=None,
)
OPERATOR_SUMMARY = Summarize(
    cut=OperatorCut(),
    prompt=OPERATOR_PROMPT,
    limits=OperatorLimits(least=128, most=UNBOUNDED, to_target=False, stated=False, split_from=512),
    name="operator_compact",
    file_lists="inside",
    recognise=in_order,
    fallback=words_themselves,
)
