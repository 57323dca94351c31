"""Keeps the older lines that will most likely be needed, by weights learned from recordings; asks
no model.

`learned_summary` keeps fewer of them, below a summary that a model writes with them in sight. In
both, what the model asked for and has not seen yet stays, cut where it does not fit beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.engine.compaction.cut import KeepRecent
from workbench.engine.compaction.plan import Budget, Draft, Plan, Replace, exchanged, place
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import SizeLimits
from workbench.engine.compaction.span_selection import CutRule, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.stages.truncate import Truncate
from workbench.engine.compaction.stages.unseen import ShortenUnseen
from workbench.engine.compaction.strategy import AtShare, Preset, Strategy
from workbench.engine.compaction.summary_input import SummaryInput, SummaryTask
from workbench.engine.compaction.transcript_text import harmless
from workbench.engine.models.learned.lines import chosen_lines
from workbench.engine.models.learned.weights import LearnedWeights, read_weights, shipped
from workbench.engine.models.model import SummaryRequest
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Message, Summary

EVIDENCE = (
    "\n\nThese lines of the conversation stay below your summary, word for word. Rely on them, and"
    " do not repeat them:\n<kept-lines>\n{lines}\n</kept-lines>"
)


@dataclass(frozen=True, slots=True)
class LearnedLines:
    """Replaces older messages by their lines that will most likely be needed and that no kept
    message tells.

    Attributes:
        weights: as learned; None takes those that ship with the package.
        cut: selects what gives way.
    """

    weights: LearnedWeights | None = None
    cut: CutRule = KeepRecent(share=0.3)
    name: str = "learned_lines"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The lines in the place of the messages that go; None where nothing goes, or no line
        fits.
        """
        span = self.cut(context, budget)
        if span is None or not span.indices:
            return None
        frame = Summary(
            id="",
            text="",
            lead=PromptTemplate().opening,
            tail=PromptTemplate().closing,
            replaces=SummaryInput.of(context, span).ids,
        )
        draft = Draft(requests=(), frame=frame)
        frame_tokens = context.count(draft.unanswered) + 2
        max_tokens = SizeLimits().allowed(context, budget, span.indices, frame_tokens)
        lines = self._lines(context, span, max_tokens)
        if not lines:
            return None
        place_of_lines = place(context, span.indices)
        summary = replace(draft, footer=lines)
        return Plan(exchanged(span.indices, place_of_lines, summary))

    def _lines(
        self,
        context: Context,
        span: Span,
        max_tokens: int,
    ) -> str:
        """The lines that will most likely be needed, in at most so many tokens."""
        if max_tokens < SizeLimits().least:
            return ""
        empty_tokens = context.count(Summary(id="", text=""))

        def size(text: str) -> int:
            return context.count(Summary(id="", text=text)) - empty_tokens

        weights = self.weights or shipped()
        return chosen_lines(weights, context.messages, span.indices, max_tokens, size)


@dataclass(frozen=True, slots=True)
class LearnedSummary(LearnedLines):
    """Puts a model's summary above fewer of the lines, which its prompt shows.

    Attributes:
        narrative: the part of the room that the summary takes.
        prompt: what the model is shown and asked.
    """

    narrative: float = 0.4
    prompt: PromptTemplate = PromptTemplate()

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The summary's draft above the lines; None where nothing goes."""
        summarize = Summarize(
            cut=self.cut,
            prompt=self.prompt,
            presentation=Presentation(file_lists="", annotate=self._below),
        )
        plan = summarize.plan(context, budget)
        if plan is None:
            return None
        edits: list[Replace] = []
        for edit in plan.edits:
            new_messages = tuple(map(_evidenced, edit.by))
            edits.append(edit._replace(by=new_messages))
        return replace(plan, edits=tuple(edits))

    def _below(self, task: SummaryTask) -> str:
        """The lines below the summary, in the part of the room that it does not take."""
        frame = Summary(
            id="",
            text="",
            lead=self.prompt.opening,
            replaces=task.full_input.ids,
        )
        frame_tokens = task.context.count(frame) + 2
        max_tokens = SizeLimits().allowed(
            task.context, task.budget, task.span.indices, frame_tokens
        )
        line_tokens = int((1 - self.narrative) * max_tokens)
        lines = self._lines(task.context, task.span, line_tokens)
        return f"\n\n{lines}" if lines else ""


def _evidenced(new: Draft | Message) -> Draft | Message:
    """The draft with requests that show the lines below the answer; a message as it is."""
    if not isinstance(new, Draft):
        return new
    lines = new.footer.strip()
    if not lines:
        return new
    requests: list[SummaryRequest] = []
    for request in new.requests:
        write = _Evidence(request.write, lines)
        requests.append(replace(request, write=write))
    return replace(new, requests=tuple(requests))


@dataclass(frozen=True, slots=True)
class _Evidence:
    """A prompt with the lines that stay anyway."""

    write: Callable[[SummaryRequest], str]
    lines: str

    def __call__(self, request: SummaryRequest) -> str:
        """The user prompt's text."""
        evidence = EVIDENCE.format(lines=harmless(self.lines))
        return self.write(request) + evidence

    def left_out(self, request: SummaryRequest) -> int:
        """How many of the messages the prompt does not show in whole."""
        count = getattr(self.write, "left_out", None)
        if not callable(count):
            return 0
        return int(count(request))


LEARNED = Preset(
    "learned",
    Strategy(
        "learned",
        (
            ShortenUnseen(),
            LearnedLines(),
            Truncate(),
        ),
    ),
    AtShare(),
)
LEARNED_SUMMARY = Preset(
    "learned_summary",
    Strategy(
        "learned_summary",
        (
            ShortenUnseen(),
            LearnedSummary(),
            Truncate(),
        ),
    ),
    AtShare(),
)


def learned_with(weights: str) -> Preset:
    """The preset with the weights of a file.

    Raises:
        SettingError: the file cannot be used.
    """
    name = f"learned:{weights}"
    lines = LearnedLines(read_weights(Path(weights)))
    strategy = Strategy(name, (ShortenUnseen(), lines, Truncate()))
    return Preset(name, strategy, AtShare())
