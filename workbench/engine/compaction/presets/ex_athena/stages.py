"""ExAthena's stages for single results, and its last stage, a short summary of all between."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.clip import (
    EXCERPT,
    SNIPPED,
    NewResult,
    byte_length,
    head,
    reference,
    rewritten,
    truncated,
)
from workbench.engine.compaction.plan import Budget, Plan
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.presets.ex_athena.pinning import (
    PINNING,
    BehindPrefix,
    BetweenPins,
    Pinning,
)
from workbench.engine.compaction.presets.token_counters import calls_of, role_of
from workbench.engine.compaction.prompt_files import prompt
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.setting_names import DOCUMENTED
from workbench.engine.compaction.size_limits import SizeLimits
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.stand_in import StandIns
from workbench.engine.compaction.summary_input import Reading, SummaryInput
from workbench.engine.compaction.transcript_text import harmless, json_call
from workbench.engine.models.model import SummaryRequest
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.context_lookup import tokens_of
from workbench.engine.transcript.message import Message, ToolCall, ToolResult, plain_text

WORD_CHARS = 1_000
EXEMPT = frozenset({"todo_write", "spawn_agent"})
MASK_KEEPS = 5
HINTS = ("path", "url", "command", "pattern")
HINT_CHARS = 80
CLEARED = "[output cleared to save context"

_REFERENCE = re.compile(
    r"\[(?:truncated; full=\d+ chars; ref=|old output cleared to save context \(\d+ chars,"
    r" ref=)([0-9a-f]+)[\])]"
)
MARKS = ("<snipped: stale tool-result for call ", CLEARED, EXCERPT)
"""Begin the texts that stages write instead of results."""


def archived(size: int, ref: str) -> str:
    """The newest version's marker for an archived result of `size` bytes."""
    return (
        f"[old output cleared to save context ({size} chars, ref={ref}) — re-run the tool with"
        " narrower arguments if needed]"
    )


def tool_of(result: Message, call: ToolCall | None) -> str:
    """The tool's name, from the result or from its call; empty where neither names it."""
    if result.name or call is None:
        return result.name
    return call.name


@dataclass(frozen=True, slots=True)
class Rewritable:
    """A result that may be rewritten.

    Attributes:
        index: in the context.
        text: of the result.
        tool: its name; empty where it is unknown.
    """

    index: int
    result: ToolResult
    text: str
    tool: str

    @property
    def is_marker(self) -> bool:
        """Whether a stage wrote the text instead of the result."""
        return self.text.startswith(MARKS)


def rewritable(context: Context, indices: Iterable[int] | None = None) -> Iterator[Rewritable]:
    """Each result among these messages that is neither pinned nor a reference into the archive."""
    if indices is None:
        indices = range(len(context.messages))
    for i in indices:
        message = context.messages[i]
        if message.role != "tool" or message.pinned:
            continue
        text = plain_text(message)
        match = _REFERENCE.match(text) if context.archive else None
        if match is None or match.group(1) not in context.archive:
            tool = tool_of(message, context.calls.get(i))
            yield Rewritable(i, message, text, tool)


@dataclass(frozen=True, slots=True)
class AthenaReduction:
    """Archives each result of more than `limit` bytes; `mark` writes its marker from bytes and
    reference.
    """

    limit: int = field(default=16_000, metadata={DOCUMENTED: "per_tool_result_max_chars"})
    mark: Callable[[int, str], str] = truncated
    name: ClassVar[str] = "budget_reduction"

    def __post_init__(self) -> None:
        check_whole_number("limit", self.limit)

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace what is too long, wherever it is."""
        long_results: list[NewResult] = []
        for old in rewritable(context):
            size = byte_length(old.text)
            if size > self.limit:
                ref = reference(old.text)
                marker = self.mark(size, ref)
                long_results.append(NewResult(old.index, marker, ref))
        return rewritten(context, long_results, pictures=True, by_bytes=True)


@dataclass(frozen=True, slots=True)
class AthenaSnip:
    """Replaces results that the model has answered to `age` times since, but those of `exempt`
    tools.
    """

    age: int = field(default=4, metadata={DOCUMENTED: "snip_age_iterations"})
    pinning: Pinning = PINNING
    exempt: frozenset[str] = frozenset()
    name: ClassVar[str] = "snip"

    def __post_init__(self) -> None:
        check_whole_number("age", self.age, least=0)

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace stale results between the prefix and the live end."""
        messages = context.messages
        between = self.pinning.between(messages)
        ends: list[int] = []
        for i, message in enumerate(messages):
            if message.role == "assistant":
                ends.append(i)
        ends.append(len(messages))
        stop = 0
        if self.age < len(ends):
            stop = min(ends[-1 - self.age], between.stop)
        stale_results: list[NewResult] = []
        for old in rewritable(context, range(between.start, stop)):
            if not old.is_marker and old.tool not in self.exempt:
                marker = SNIPPED.format(old.result.call_id)
                stale_results.append(NewResult(old.index, marker))
        return rewritten(context, stale_results, by_bytes=True)


@dataclass(frozen=True, slots=True)
class AthenaMask:
    """Clears all but the newest five of the results that tools can give again, if they have
    `least` bytes.
    """

    least: int = 10_000
    name: ClassVar[str] = "observation_mask"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Name the tool that gives each result again; errors and exempt tools' results stay."""
        maskable = [old for old in rewritable(context) if _is_maskable(old)]
        old_results = maskable[:-MASK_KEEPS]
        masks: list[NewResult] = []
        masked_bytes = 0
        for old in old_results:
            size = byte_length(old.text)
            masked_bytes += size
            again = _again(old.tool, context.calls.get(old.index))
            mask = f"{CLEARED} ({size} chars) — re-run {again} if needed]"
            masks.append(NewResult(old.index, mask))
        if masked_bytes < self.least:
            return None
        return rewritten(context, masks, by_bytes=True)


def _is_maskable(old: Rewritable) -> bool:
    """Whether a tool can give the result again."""
    if not old.text or old.text.startswith(CLEARED):
        return False
    return not old.result.is_error and old.tool not in EXEMPT


def _again(tool: str, call: ToolCall | None) -> str:
    """The tool that gives the result again, and what it was used on."""
    hint = _hint(call)
    name = tool or "the tool"
    return f"{name} ({hint})" if hint else name


def _hint(call: ToolCall | None) -> str:
    """What a call was used on; empty where that is unknown."""
    if call is None:
        return ""
    for key in HINTS:
        value = call.arguments.get(key)
        if isinstance(value, str) and value:
            return value[:HINT_CHARS]
    return ""


class AthenaPrompt(PromptTemplate):
    """One user message: a transcript of lines that are cut short, and the request for one
    paragraph.
    """

    system = opening = ""
    separator = "\n"

    def shown(self, request: SummaryRequest) -> str:
        """The transcript."""
        return self.transcript(request.messages)

    def question(self, request: SummaryRequest) -> str:
        """What is asked for, with the user's instructions below it."""
        text = prompt("athena_summary")
        return f"{text}\n\n{request.instructions}" if request.instructions else text

    def spoken(
        self,
        message: Message,
        results: int,
        arguments: int,
    ) -> Iterator[str]:
        """One line a message."""
        words = plain_text(message)
        if message.role == "tool":
            yield f"[tool result] {self.shown_result(words, results)}"
            return
        line = f"[{role_of(message)}] {self.shown_words(words)}"
        calls = ", ".join([json_call(call, arguments) for call in calls_of(message)])
        if calls:
            line += f" [calls: {harmless(calls)}]"
        yield line

    def shortened(self, text: str, chars: int) -> str:
        """The beginning of a text, without a mark."""
        return harmless(head(text, chars))


class AthenaLimits(SizeLimits):
    """At most 512 tokens, and fewer than the summary replaces; a target does not bind."""

    def allowed(
        self,
        context: Context,
        budget: Budget,
        removed_indices: Sequence[int],
        frame: int,
    ) -> int:
        """Tokens that the summary's text may have."""
        return min(self.most, tokens_of(context, removed_indices) - frame + 1)


class SummariesAsMessages(Reading):
    """Earlier summaries are messages like others."""

    def full_input(self, context: Context, summary_input: SummaryInput) -> SummaryInput:
        """The input with its summaries among the other messages."""
        inputs = (*summary_input.earlier, *summary_input.new)
        objects = set(map(id, inputs))
        messages = [message for message in context.messages if id(message) in objects]
        return replace(summary_input, earlier=(), history=tuple(messages))


def summary_stage() -> Summarize:
    """The stage. An empty answer is an error, like the model's own."""
    return Summarize(
        cut=BetweenPins(),
        reads=SummariesAsMessages(),
        prompt=AthenaPrompt(
            result_chars=500,
            argument_chars=0,
            message_chars=WORD_CHARS,
            headings="",
            window_share=None,
        ),
        limits=AthenaLimits(least=128, most=512),
        presentation=Presentation(
            place=BehindPrefix(),
            said_by="assistant",
            summary_name="compactor_summary",
            file_lists="recorded",
        ),
        stand_ins=StandIns(fallback=None),
        name="summary",
    )
