"""What ExAthena leaves alone, its stages for single results, and its last stage, a short summary
of all between.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.clip import (
    EXCERPT,
    SNIPPED,
    byte_length,
    head,
    reference,
    rewritten,
    truncated,
)
from workbench.engine.compaction.plan import Budget, Plan, behind_prompt, place
from workbench.engine.compaction.presets.token_counters import calls_of, role_of
from workbench.engine.compaction.prompt_template import PromptTemplate, harmless, json_call, prompt
from workbench.engine.compaction.span_selection import KEPT_SHARE, Span, SummaryInput
from workbench.engine.compaction.stages.summarize import SizeLimits, Summarize
from workbench.engine.compaction.strategy import DOCUMENTED
from workbench.engine.models.model import SummaryRequest
from workbench.engine.transcript.context import Context, protected, with_partners
from workbench.engine.transcript.message import Message, ToolCall, ToolResult, plain_text

FEWEST = 3
"""Messages that are worth a summary."""
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


@dataclass(frozen=True, slots=True)
class Pinning:
    """What stays: `prefix` slots at the front, `suffix` live messages, and those named `memory`
    or `skill:...`.
    """

    prefix: int = field(default=1, metadata={DOCUMENTED: "pinned_prefix_count"})
    suffix: int = field(default=6, metadata={DOCUMENTED: "live_suffix_count"})

    def __post_init__(self) -> None:
        check_whole_number("prefix", self.prefix, least=0)
        check_whole_number("suffix", self.suffix, least=0)

    def named(self, message: Message) -> bool:
        """Whether the message is pinned by its name, which takes no slot; no tool's result is."""
        named = message.name == "memory" or message.name.startswith("skill:")
        return named and message.role != "tool"

    def floor(self, messages: Sequence[Message]) -> int:
        """Where the pinned prefix ends: its slots, and what is pinned by name among and right
        behind them.
        """
        free = [i for i, message in enumerate(messages) if not self.named(message)]
        return free[self.prefix] if self.prefix < len(free) else len(messages)

    def between(self, messages: Sequence[Message]) -> range:
        """The indices between prefix and live end."""
        start = self.floor(messages)
        return range(start, max(len(messages) - self.suffix, start))

    def cut(self, context: Context, budget: Budget) -> Span | None:
        """What a summary replaces: the rest, but the newest user message; None for fewer than three
        messages.

        A call stays or goes with its results. An earlier summary in the prefix goes too: it is
        carried on. Where a comparison sets the size, the live end takes at most half of the room
        that it leaves.
        """
        messages = context.messages
        named = {i for i, message in enumerate(messages) if self.named(message)}
        prefix = {i for i in range(self.floor(messages)) if messages[i].role != "summary"}
        held_indices = with_partners(messages, protected(messages) | named | prefix)
        start = max(len(messages) - self.suffix, 0)
        if budget.matched:
            room = KEPT_SHARE * (
                budget.target - context.overhead - sum(context.sizes[i] for i in held_indices)
            )
            for i in range(len(messages) - 1, start - 1, -1):
                room -= 0 if i in held_indices else context.sizes[i]
                if room < 0:
                    start = i + 1
                    break
        kept_indices = with_partners(messages, held_indices | set(range(start, len(messages))))
        removed_indices = tuple(i for i in range(len(messages)) if i not in kept_indices)
        return Span(removed_indices, len(messages)) if len(removed_indices) >= FEWEST else None

    def place(self, context: Context, removed_indices: Sequence[int]) -> int:
        """Right behind the pinned prefix, but never inside a pair; at the latest where the first
        message goes.
        """
        earliest = max(
            self.floor(context.messages), behind_prompt(context.messages, removed_indices)
        )
        index = next(
            (i for i in range(earliest, removed_indices[0] + 1) if context.cut_points[i]), None
        )
        return place(context, removed_indices) if index is None else index


PINNING = Pinning()


@dataclass(frozen=True, slots=True)
class BetweenPins:
    """What a summary replaces: all that is not pinned."""

    pinning: Pinning = PINNING

    def __call__(self, context: Context, budget: Budget, /) -> Span | None:
        """The span; None for too few messages."""
        return self.pinning.cut(context, budget)


@dataclass(frozen=True, slots=True)
class BehindPrefix:
    """Where a summary stands: behind the pinned prefix."""

    pinning: Pinning = PINNING

    def __call__(self, context: Context, removed_indices: Sequence[int], /) -> int:
        """The index."""
        return self.pinning.place(context, removed_indices)


def archived(size: int, ref: str) -> str:
    """The newest version's marker for an archived result of `size` bytes."""
    return (
        f"[old output cleared to save context ({size} chars, ref={ref}) — re-run the tool with"
        " narrower arguments if needed]"
    )


def tool_of(result: Message, call: ToolCall | None) -> str:
    """The tool's name, from the result or from its call; empty where neither names it."""
    return result.name or (call.name if call is not None else "")


def rewritable(
    context: Context, indices: Iterable[int] | None = None
) -> Iterator[tuple[int, ToolResult, str]]:
    """Each result among these messages that is neither pinned nor a reference into the archive,
    with its text.
    """
    for i in range(len(context.messages)) if indices is None else indices:
        message = context.messages[i]
        if message.role == "tool" and not message.pinned:
            text = plain_text(message)
            match = _REFERENCE.match(text) if context.archive else None
            if match is None or match.group(1) not in context.archive:
                yield i, message, text


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
        sizes = ((i, text, byte_length(text)) for i, _, text in rewritable(context))
        long = ((i, size, reference(text)) for i, text, size in sizes if size > self.limit)
        return rewritten(
            context,
            ((i, self.mark(size, ref), ref) for i, size, ref in long),
            pictures=True,
            by_bytes=True,
        )


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
        between, calls = self.pinning.between(messages), context.calls
        ends = [
            *(i for i, message in enumerate(messages) if message.role == "assistant"),
            len(messages),
        ]
        stop = min(ends[-1 - self.age], between.stop) if self.age < len(ends) else 0
        stale = (
            (i, SNIPPED.format(result.call_id))
            for i, result, text in rewritable(context, range(between.start, stop))
            if not text.startswith(MARKS) and tool_of(result, calls.get(i)) not in self.exempt
        )
        return rewritten(context, stale, by_bytes=True)


@dataclass(frozen=True, slots=True)
class AthenaMask:
    """Clears all but the newest five of the results that tools can give again, if they have
    `least` bytes.
    """

    least: int = 10_000
    name: ClassVar[str] = "observation_mask"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Name the tool that gives each result again; errors and exempt tools' results stay."""
        calls = context.calls
        old = [
            (i, _again(result, calls.get(i)), byte_length(text))
            for i, result, text in rewritable(context)
            if text
            and not (
                result.is_error
                or text.startswith(CLEARED)
                or tool_of(result, calls.get(i)) in EXEMPT
            )
        ][:-MASK_KEEPS]
        if sum(size for _, _, size in old) < self.least:
            return None
        masks = (
            (i, f"{CLEARED} ({size} chars) — re-run {again} if needed]") for i, again, size in old
        )
        return rewritten(context, masks, by_bytes=True)


def _again(result: ToolResult, call: ToolCall | None) -> str:
    """The tool that gives the result again, and what it was used on."""
    values = [call.arguments.get(key) for key in HINTS] if call is not None else []
    hint = next((value for value in values if isinstance(value, str) and value), "")[:HINT_CHARS]
    return (tool_of(result, call) or "the tool") + (f" ({hint})" if hint else "")


class AthenaPrompt(PromptTemplate):
    """One user message: a transcript of lines that are cut short, and the request for one
    paragraph.
    """

    system = opening = ""
    separator = "\n"

    def __call__(self, request: SummaryRequest) -> str:
        """The user prompt's text."""
        parts = (self.transcript(request.messages), prompt("athena_summary"), request.instructions)
        return "\n\n".join(parts if request.instructions else parts[:2])

    def spoken(self, message: Message, results: int, arguments: int) -> Iterator[str]:
        """One line a message."""
        words = plain_text(message)
        calls = harmless(", ".join(json_call(call, arguments) for call in calls_of(message)))
        if message.role == "tool":
            yield f"[tool result] {self.shown_result(words, results)}"
        else:
            yield f"[{role_of(message)}] {self.shown_words(words)}" + (
                f" [calls: {calls}]" if calls else ""
            )

    def shortened(self, text: str, chars: int) -> str:
        """The beginning of a text, without a mark."""
        return harmless(head(text, chars))


class AthenaLimits(SizeLimits):
    """At most 512 tokens, and fewer than the summary replaces; a target does not bind."""

    def allowed(
        self, context: Context, budget: Budget, removed_indices: Sequence[int], frame: int
    ) -> int:
        """Tokens that the summary's text may have."""
        return min(self.most, sum(context.sizes[i] for i in removed_indices) - frame + 1)


def as_messages(context: Context, summary_input: SummaryInput) -> SummaryInput:
    """The input with its summaries among the other messages."""
    object_ids = set(map(id, (*summary_input.earlier, *summary_input.new)))
    return replace(
        summary_input,
        earlier=(),
        history=tuple(message for message in context.messages if id(message) in object_ids),
    )


def summary_stage() -> Summarize:
    """The stage. An empty answer is an error, like the model's own."""
    return Summarize(
        cut=BetweenPins(),
        prompt=AthenaPrompt(
            result_chars=500,
            argument_chars=0,
            message_chars=WORD_CHARS,
            headings="",
            window_share=None,
        ),
        limits=AthenaLimits(least=128, most=512),
        name="summary",
        file_lists="recorded",
        recognise=as_messages,
        place=BehindPrefix(),
        fallback=None,
        said_by="assistant",
        summary_name="compactor_summary",
    )
