"""When Gemini CLI compresses, where it cuts, and the snapshot that takes the place of what lies before the cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.cut import Cut
from workbench.compaction.plan import Plan
from workbench.compaction.presets.due import reached
from workbench.compaction.presets.gemini_cli.truncation import ReverseBudget
from workbench.compaction.presets.loose import Loose
from workbench.compaction.presets.modest import ModestSummary
from workbench.compaction.prompt_template import PromptTemplate
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.trigger import Situation
from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, Message, Summary, UserMessage, counted_chars

THRESHOLD = 0.5
PRESERVED = 0.3
MOST_SUMMARY = 16_000


@dataclass(frozen=True, slots=True)
class GeminiTrigger:
    """Due when the last prompt and what came after it reach half of the window."""

    share: float = THRESHOLD
    name: ClassVar[str] = "gemini_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `tokens >= 0.5 * window`."""
        return reached(situation, int(self.share * situation.window))


def split_point(messages: Sequence[Message], share: float = 1 - PRESERVED) -> int:
    """The first user message behind that share of the characters; all where the model had the last word; else the last.

    Args:
        messages: n, oldest first.
        share: of all characters, in [0, 1].

    Returns:
        In [0, n]; 0 where nothing can be cut off.
    """
    lengths = [counted_chars(message) for message in messages]
    before, wanted, newest = 0, share * sum(lengths), 0
    for i, message in enumerate(messages):
        if isinstance(message, (UserMessage, Summary)):  # a union takes three times as long
            if before >= wanted:
                return i
            newest = i
        before += lengths[i]
    last = messages[-1] if messages else None
    return len(messages) if isinstance(last, AssistantMessage) and not last.calls else newest


@dataclass(frozen=True, slots=True)
class GeminiCut:
    """Cuts at a user message, so that about the newest 30 % by characters stay."""

    preserved: float = PRESERVED

    def find(self, context: Context, budget: Budget, /) -> Cut | None:
        """The cut; None where no user message lies far enough back."""
        loose = Loose.of(context, budget)
        if budget.keep_recent is not None and budget.reason != "matched":
            return loose.cut(loose.fitting(budget.keep_recent))
        return loose.cut(split_point(loose.messages, 1 - self.preserved))


@dataclass(frozen=True, slots=True)
class GeminiCompact:
    """Truncates old tool output, then summarises what lies before the cut; where there is none, truncates only."""

    truncation: ReverseBudget = ReverseBudget()  # noqa: RUF009  # frozen
    summary: ModestSummary = ModestSummary(  # noqa: RUF009  # frozen
        Summarize(
            cut=GeminiCut(), wording=PromptTemplate(headings="gemini_headings"), track_files=False, most=MOST_SUMMARY
        )
    )
    name: ClassVar[str] = "gemini_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Both as one plan: what is summarised is given to the model as it was truncated."""
        first = self.truncation.plan(context, budget)
        second = self.summary.plan(context if first is None else first.apply(context), budget)
        if first is None or second is None:
            return first or second
        covered = {i for edit in second.edits for i in range(edit.start, edit.stop)}
        kept = [edit for edit in first.edits if edit.start not in covered]
        return Plan(tuple(sorted([*kept, *second.edits], key=lambda edit: (edit.start, edit.stop))), first.archive)
