"""What ExAthena leaves alone, and its last stage: a short summary of all between the pinned prefix and the live end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.compaction.clip import head
from workbench.compaction.place import behind_prompt
from workbench.compaction.presets.token_counters import calls_of, role_of
from workbench.compaction.prompt_template import Prompt, PromptTemplate, harmless, prompt
from workbench.compaction.size_limits import SizeLimits
from workbench.compaction.span_selection import KEPT_SHARE, Span, SummaryInput
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, ToolResult, plain_text
from workbench.transcript.pairing import cut_points, protected, with_partners

FEWEST = 3
"""Messages that are worth a summary."""
RESULT_CHARS = 500
WORD_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Pinning:
    """What stays: a prefix, a live end, and messages named `memory` or `skill:...`; no tool's result is named so.

    Attributes:
        prefix: slots at the front; messages that are pinned by name take none.
        suffix: how many messages at the end are live.
    """

    prefix: int = 1
    suffix: int = 6

    def named(self, message: Message) -> bool:
        """Whether the message is pinned by its name."""
        named = message.name == "memory" or message.name.startswith("skill:")
        return named and not isinstance(message, ToolResult)

    def floor(self, messages: Sequence[Message]) -> int:
        """Where the pinned prefix ends: its slots, and what is pinned by name among and right behind them."""
        free = [i for i, message in enumerate(messages) if not self.named(message)]
        return free[self.prefix] if self.prefix < len(free) else len(messages)

    def between(self, messages: Sequence[Message]) -> range:
        """The indices between prefix and live end."""
        start = self.floor(messages)
        return range(start, max(len(messages) - self.suffix, start))

    def find(self, context: Context, budget: Budget, /) -> Span | None:
        """What a summary replaces: the rest, but the newest user message; None for fewer than three messages.

        A call stays or goes with its results. An earlier summary goes though it stands in the prefix: it is carried on.
        Where a comparison sets the size, the live end takes at most half of the room that it leaves.
        """
        messages = context.messages
        named = {i for i, message in enumerate(messages) if self.named(message)}
        prefix = {i for i in range(self.floor(messages)) if not isinstance(messages[i], Summary)}
        held = with_partners(messages, protected(messages) | named | prefix)
        start = max(len(messages) - self.suffix, 0)
        if budget.matched:
            left = KEPT_SHARE * (budget.target - context.overhead - sum(context.sizes[i] for i in held))
            for i in range(len(messages) - 1, start - 1, -1):
                left -= 0 if i in held else context.sizes[i]
                if left < 0:
                    start = i + 1
                    break
        kept = with_partners(messages, held | set(range(start, len(messages))))
        gone = tuple(i for i in range(len(messages)) if i not in kept)
        return Span(gone, len(messages)) if len(gone) >= FEWEST else None

    def place(self, messages: Sequence[Message], gone: Sequence[int]) -> int:
        """Right behind the pinned prefix, but never inside a pair; at the latest where the first message goes."""
        flags = cut_points(messages)
        first = behind_prompt(messages, gone)
        if first > gone[0]:
            return next(i for i in range(first, len(flags)) if flags[i])
        places = (i for i in range(max(self.floor(messages), first), gone[0] + 1) if flags[i])
        return next(places, next(i for i in range(gone[0], -1, -1) if flags[i]))


PINNING = Pinning()


class AthenaPrompt(PromptTemplate):
    """One user message: a transcript of lines that are cut short, and the request for one paragraph."""

    system = opening = ""

    def request(self, filled: Prompt) -> str:
        """The user prompt's text."""
        parts = (self.transcript(filled.messages), prompt("athena_summary"), filled.instructions)
        return "\n\n".join(parts if filled.instructions else parts[:2])

    def transcript(self, messages: Sequence[Message], most_chars: int | None = None) -> str:
        """One line a message."""
        return "\n".join(map(line, messages))


def line(message: Message) -> str:
    """One message of the transcript, cut short."""
    words = harmless(plain_text(message))
    if isinstance(message, ToolResult):
        return f"[tool result] {head(words, RESULT_CHARS)}"
    calls = ", ".join(call.name for call in calls_of(message))
    return f"[{role_of(message)}] {head(words, WORD_CHARS)}" + (f" [calls: {calls}]" if calls else "")


class AthenaLimits(SizeLimits):
    """At most 512 tokens, and fewer than the summary replaces; a target does not bind."""

    def allowed(self, context: Context, budget: Budget, gone: Sequence[int], frame: int) -> int:
        """Tokens that the summary's text may have."""
        return min(self.most, sum(context.sizes[i] for i in gone) - frame + 1)


def as_messages(context: Context, given: SummaryInput) -> SummaryInput:
    """The input with its summaries among the other messages."""
    gone = set(map(id, (*given.earlier, *given.new)))
    return replace(given, earlier=(), history=tuple(message for message in context.messages if id(message) in gone))


def summary_stage(pinning: Pinning = PINNING, model: str = "") -> Summarize:
    """The stage; another model may write the summary. An empty answer is an error, like the model's own."""
    return Summarize(
        cut=pinning,
        prompt=AthenaPrompt(headings="", window_chars=None),
        limits=AthenaLimits(least=128, most=512),
        name="summary",
        file_lists="recorded",
        recognise=as_messages,
        place=pinning.place,
        fallback=None,
        model=model,
        said_by="assistant",
        summary_name="compactor_summary",
    )
