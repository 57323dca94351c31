"""Gemini CLI: at half of the window, old tool output is cut to its last lines and the oldest 70 %
become a snapshot.

Restates the chat compression of Google's Gemini CLI (google-gemini/gemini-cli, read at 2026-08-21),
in `packages/core/src/` the folder `context/` and `prompts/snippets.ts`. Its newer pipeline (65,000
retained, 150,000 at most) and its masking of tool outputs are not restated. Besides the general
differences (`presets`):

- The second call, in which the model checks its own snapshot, is not made: all questions of a step
  are put at once.
- No model answers "understood" behind the snapshot, since nobody said it. The original adds such a
  message.
- A snapshot has headings; the original asks for XML elements and lets the model think in a
  scratchpad first.
- The original sends what is summarised behind a system prompt of its own and without tools, so that
  nothing of it is in a cache: `gemini_cli:request=conversation` does so. By default it is put to the
  model as a transcript, without thoughts and pictures. In both, results are whole where the model's
  window takes them, and else as they were cut, as there.
- Tool output that is cut can be read again by its reference in the archive; the original writes it
  to a file.
- Tool output is charged to its budget as it stays, so a cut result as its last lines, as there; by
  the session's own tokens, where the original estimates from characters.
- Newer releases leave results of up to 40,000 characters whole, however old, and of longer ones a
  fifth of that from the head and the rest from the end. Here and in older ones all results beyond
  the budget keep their last 30 lines.
- No snapshot is asked for that would be larger than what it replaces; the original discards it,
  then only truncates.
- Approximate: what was sent is measured as the provider counts, characters by texts, without the
  JSON around them.
- The original leaves a snapshot's length to the model.
- Like the original it finds no cut inside a single long turn. Where a comparison sets the size of
  the context it cuts there too; at most three quarters of the room are then kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.engine.compaction.clip import NewResult, reference, rewritten
from workbench.engine.compaction.plan import Budget, Plan, in_order
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.presets.token_counters import calls_of
from workbench.engine.compaction.prompt_files import prompt
from workbench.engine.compaction.prompt_template import LIVE_SHARE, PromptTemplate
from workbench.engine.compaction.size_limits import SUMMARY_SHARE, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import AtLimit, Preset, Strategy
from workbench.engine.compaction.summary_input import SessionOfItsOwn, SummaryInput, SummaryTask
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.context_lookup import tokens_of
from workbench.engine.transcript.message import Message, counted_text, plain_text

PRESERVED = 0.3
MARK = "[older output, cut to its end; full text under ref="


@dataclass(frozen=True, slots=True)
class ReverseBudget:
    """Cuts all results but the newest (`tokens`) to their last lines."""

    tokens: int = 50_000
    lines: int = 30
    name: ClassVar[str] = "reverse_budget"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The cut results, each smaller than it was, and their full texts for the archive."""
        return rewritten(context, self._older(context), pictures=True)

    def _older(self, context: Context) -> Iterator[NewResult]:
        """The results beyond the budget, newest first, cut to their last lines."""
        used_tokens = 0
        for i in reversed(range(len(context.messages))):
            message = context.messages[i]
            size = context.sizes[i]
            if message.role != "tool":
                continue
            text = plain_text(message)
            fits = used_tokens + size <= self.tokens
            is_short = text.count("\n") < self.lines
            if fits or is_short or text.startswith(MARK):
                used_tokens += size
                continue
            ref = reference(text)
            last_lines = text.rsplit("\n", self.lines)[-self.lines :]
            short = "\n".join((f"{MARK}{ref}]", *last_lines))
            used_tokens += size * len(short) // len(text)
            yield NewResult(i, short, ref)


def split_point(messages: Sequence[Message], share: float = 1 - PRESERVED) -> int:
    """The first user message behind that share of the characters; else all if the model spoke
    last, or the last one.
    """
    lengths = [len(counted_text(message)) for message in messages]
    required_chars = share * sum(lengths)
    chars_before = newest_user = 0
    for i, message in enumerate(messages):
        if message.role in ("user", "summary"):
            if chars_before >= required_chars:
                return i
            newest_user = i
        chars_before += lengths[i]
    if messages and messages[-1].role == "assistant" and not calls_of(messages[-1]):
        return len(messages)
    return newest_user


def gemini_cut(context: Context, budget: Budget) -> Span | None:
    """Cuts at a user message, so that about the newest 30 % by characters stay."""
    movable = Movable.of(context, budget)
    return movable.cut(movable.requested(split_point(movable.messages)))


@dataclass(frozen=True, slots=True)
class WholeResults(SessionOfItsOwn):
    """Shows the model the results as they were before they were cut, where its window takes them.

    Attributes:
        uncut: the context before.
    """

    uncut: Context

    def model_input(self, task: SummaryTask) -> SummaryInput:
        """What gives way, with whole results where that is less than the window."""
        window = task.budget.window
        whole_tokens = tokens_of(self.uncut, task.span.indices)
        if 0 < window <= whole_tokens:
            return task.full_input
        whole_input = SummaryInput.of(self.uncut, task.span)
        return replace(
            task.full_input,
            history=whole_input.history,
            prefix=whole_input.prefix,
        )


SNAPSHOT = Summarize(
    cut=gemini_cut,
    reads=SessionOfItsOwn(prompt("system")),
    prompt=PromptTemplate(
        headings="gemini_headings",
        result_chars="whole",
        argument_chars="whole",
        window_share=LIVE_SHARE,
    ),
    limits=SizeLimits(share=SUMMARY_SHARE),
    presentation=Presentation(file_lists=""),
)


@dataclass(frozen=True, slots=True)
class GeminiCompact:
    """Truncates old tool output, then summarises what lies before the cut; where there is none,
    truncates only.
    """

    truncation: ReverseBudget = ReverseBudget()  # frozen
    summary: Summarize = SNAPSHOT
    name: ClassVar[str] = "gemini_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Both as one plan."""
        truncation = self.truncation.plan(context, budget)
        if truncation is None:
            return self.summary.plan(context, budget)
        reading = WholeResults(self.summary.prompt.system, context)
        summarize = replace(self.summary, reads=reading)
        summary = summarize.plan(truncation.apply(context), budget)
        if summary is None:
            return truncation
        summarised: set[int] = set()
        for edit in summary.edits:
            summarised.update(range(edit.start, edit.stop))
        edits = [edit for edit in truncation.edits if edit.start not in summarised]
        edits += summary.edits
        return Plan(in_order(edits), truncation.archive)


GEMINI_CLI = Preset(
    "gemini_cli",
    Strategy("gemini_cli", (GeminiCompact(),)),
    AtLimit(share=0.5),
    source="google-gemini/gemini-cli 2026-08-21 packages/core/src/context, prompts/snippets.ts",
)
