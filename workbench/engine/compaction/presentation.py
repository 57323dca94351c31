"""How a summary stands in the context: where, said by whom, and with what beside it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.engine.compaction.file_lists import file_ops, footer, listed, without_lists
from workbench.engine.compaction.plan import Budget, place
from workbench.engine.compaction.span_selection import Span, spare
from workbench.engine.compaction.summary_input import SummaryInput, SummaryTask
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Message, Summary

FileLists: TypeAlias = Literal["below", "inside", "recorded", ""]
"""Where code lists the files read and changed so far: below the summary, inside its text, in the
record only, or nowhere.
"""


@dataclass(frozen=True, slots=True)
class Presentation:
    """Where a summary stands, who says it, and what code adds.

    Attributes:
        place: the index of the summary.
        said_by: the role of the summary's message, `summary_name` its name.
        file_lists: where code lists the files read and changed so far; `recorded` lists them in the
            record only.
        annotate: a text that code adds to the summary's own.
        below: texts to send below the summary, longest first; the first that leaves room is taken.
        beside: messages to send behind the summary.
    """

    place: Callable[[Context, Sequence[int]], int] = place
    said_by: Literal["user", "assistant"] = "user"
    summary_name: str = ""
    file_lists: FileLists = "below"
    annotate: Callable[[SummaryTask], str] | None = None
    below: Callable[[SummaryTask], Iterable[str]] | None = None
    beside: Callable[[Context, Budget, Span], Sequence[Message]] | None = None

    def presented(self, task: SummaryTask, least_tokens: int) -> SummaryTask:
        """The task with all that code puts around the summary, which has `least_tokens` at least."""
        task = self._with_files(task)
        lists = self._lists(task, least_tokens)
        if self.beside is not None:
            task = _with_messages(task, self.beside(task.context, task.budget, task.span))
        footer = ""
        if self.annotate is not None:
            footer = self.annotate(task)
        elif self.file_lists == "inside":
            footer = lists
        tails: Iterable[str] = ("",)
        if self.below is not None:
            tails = self.below(task)
        elif self.file_lists == "below":
            tails = (lists,)
        return replace(task, footer=footer, tails=tails)

    def _with_files(self, task: SummaryTask) -> SummaryTask:
        """The task with what its messages did to files, and without lists that code writes anew."""
        full_input = task.full_input
        if self.file_lists and not full_input.files:
            files = file_ops([task.context.messages[i] for i in task.span.indices])
            full_input = replace(full_input, files=files)
        model_input = task.model_input
        if self.file_lists == "inside":
            full_input = _without_lists(full_input)
            model_input = _without_lists(model_input)
        return replace(task, full_input=full_input, model_input=model_input)

    def _lists(self, task: SummaryTask, least_tokens: int) -> str:
        """The file lists as text, as far as there is room."""
        files = task.full_input.files
        if self.file_lists == "below":
            room = task.budget.room(task.context, task.span.indices)
            return footer(files, chars=max(room, least_tokens) // 2)
        if self.file_lists == "inside":
            if not task.budget.matched:
                return listed(files)
            room = task.budget.room(task.context, spare(task.context))
            return listed(files, max(room, 0))
        return ""


def _without_lists(summary_input: SummaryInput) -> SummaryInput:
    """The input, in whose earlier summaries no files are listed."""
    earlier: list[Summary] = []
    for summary in summary_input.earlier:
        earlier.append(replace(summary, text=without_lists(summary.text)))
    return replace(summary_input, earlier=tuple(earlier))


def _with_messages(task: SummaryTask, messages: Sequence[Message]) -> SummaryTask:
    """The task with messages behind the summary, and with a target that leaves room for them."""
    if not messages:
        return task
    tokens = sum(map(task.context.count, messages))
    target = min(task.budget.target, task.context.tokens - 1) - tokens
    return replace(
        task, budget=replace(task.budget, target=target), messages_behind=tuple(messages)
    )
