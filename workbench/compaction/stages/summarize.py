"""Puts a model's summary in the place of older messages: the one procedure of all presets that summarise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

from workbench.compaction.clip import shortened
from workbench.compaction.cut import KeepRecent
from workbench.compaction.file_lists import file_ops, footer, listed, without_lists
from workbench.compaction.plan import Budget, Draft, Plan, Replace, exchanged, place
from workbench.compaction.prompt_template import PromptTemplate
from workbench.compaction.size_limits import SizeLimits
from workbench.compaction.span_selection import CutRule, Span, SummaryInput, SummaryTask, spare
from workbench.models.model import SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.message import Message, Summary, Text, TokenCounter, UserMessage, plain_text

StandIn: TypeAlias = Callable[[Sequence[Message], str, int, TokenCounter], str | None]
"""A text in place of a model's, from the messages, the earlier summary's text, and its most tokens by a counter."""
Finish: TypeAlias = Callable[[SummaryTask, Draft, Context, int], Plan | None]


def note(
    messages: Sequence[Message], previous: str, most: int, count: TokenCounter,
    wording: str = "[{n} earlier messages left out: {counts}]",
) -> str:  # fmt: skip
    """The earlier summary as far as it fits, and how many messages of which role were left out."""
    roles = Counter(message.role for message in messages)
    counts = ", ".join(f"{n} {role}" for role, n in sorted(roles.items()))
    line = wording.format(n=len(messages), counts=counts)
    kept = clipped(previous, most - count(UserMessage(id="", blocks=(Text(f"\n\n{line}"),))), count)
    return f"{kept}\n\n{line}" if kept else clipped(line, most, count) or "[...]"


def clipped(text: str, most: int, count: TokenCounter) -> str:
    """The text, or its two ends around a marker, in at most that many tokens; empty where not even a marker fits."""
    whole = UserMessage(id="", blocks=(Text(text),))
    short = shortened(whole, most, count(whole), count) if text and most > 0 else None
    return "" if short is None else plain_text(short)


@dataclass(frozen=True, slots=True)
class Summarize:
    """Asks a model for a summary of the messages that a rule selects, and puts it in their place.

    An earlier summary among them is updated: the model gets its text and the messages that came after it. The start of
    a turn that goes on is summarised apart. Every field has a default; a preset states what its system does otherwise.

    Attributes:
        cut: selects what gives way.
        prompt: what a language model is asked, and how the summary is presented to the agent.
        limits: how long the summary may be.
        file_lists: where code lists the files read and changed so far; `recorded` lists them in the record only.
        recognise: finds more in what gives way, such as a summary that was sent as a user message.
        reads: what the model is shown, where that differs from what gives way.
        unread: the summary where the model would be shown nothing; None: nothing is compacted.
        below: texts to send below the summary, longest first; the first that leaves room is taken.
        annotate: a text that code adds to the summary's own.
        beside: messages to send behind the summary.
        place: the index of the summary.
        finish: a second step, planned on the edited context, in which the summary has the given index.
        fallback: the summary where the model fails; None passes its error on. `if_empty`: where its answer is empty.
        model: the name of another model that writes; empty for the present one.
        said_by: the role of the summary's message, `summary_name` its name.

    Source:
        The procedure of Opal's `session/compaction.ex`, restated; the file lists are written by code.
    """

    cut: CutRule = KeepRecent()
    prompt: PromptTemplate = PromptTemplate()
    limits: SizeLimits = SizeLimits()
    name: str = "summarize"
    file_lists: Literal["below", "inside", "recorded", ""] = "below"
    recognise: Callable[[Context, SummaryInput], SummaryInput] | None = None
    reads: Callable[[SummaryTask], SummaryInput] | None = None
    unread: StandIn | None = None
    below: Callable[[SummaryTask], Iterable[str]] | None = None
    annotate: Callable[[SummaryTask], str] | None = None
    beside: Callable[[Context, Budget, Span], Sequence[Message]] | None = None
    place: Callable[[Context, Sequence[int]], int] = place
    finish: Finish | None = None
    fallback: StandIn | None = note
    if_empty: str | None = None
    model: str = ""
    said_by: Literal["user", "assistant"] = "user"
    summary_name: str = ""

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The summary's draft and what it replaces; None where there is nothing new, or no room for a summary."""
        span = self.cut(context, budget)
        task = None if span is None else self._task(context, budget, span)
        if task is None or not task.given.has_text:
            return None
        behind = tuple(self.beside(context, budget, task.span)) if self.beside is not None else ()
        if behind:
            left = min(budget.target, context.tokens - 1) - sum(map(context.count, behind))
            task = replace(task, budget=replace(budget, target=left))
        draft = self._draft(task)
        if draft is None:
            return None
        edits = exchanged(task.span.gone, self.place(context, task.span.gone), draft, *behind)
        rewritten = [Replace(i, i + 1, (message,)) for i, message in task.span.rewritten.items()]
        in_order = sorted([*edits, *rewritten], key=lambda edit: (edit.start, edit.stop))
        return Plan(tuple(in_order), then=None if self.finish is None else partial(_finished, self.finish, task, draft))

    def _task(self, context: Context, budget: Budget, span: Span) -> SummaryTask:
        given = SummaryInput.of(context, span)
        if self.recognise is not None:
            given = self.recognise(context, given)
        if self.file_lists and not given.files:
            given = replace(given, files=file_ops(context.messages[i] for i in span.gone))
        if self.file_lists == "inside":
            earlier = tuple(replace(summary, text=without_lists(summary.text)) for summary in given.earlier)
            given = replace(given, earlier=earlier)
        task = SummaryTask(context, budget, span, given, given, self._lists(context, budget, span, given.files))
        return task if self.reads is None else replace(task, shown=self.reads(task))

    def _lists(self, context: Context, budget: Budget, span: Span, files: FileOps) -> str:
        """The file lists as text, as far as there is room."""
        if self.file_lists == "below":
            return footer(files, chars=max(budget.room(context, span.gone), self.limits.least) // 2)
        if self.file_lists == "inside":
            return listed(files, max(budget.room(context, spare(context)), 0) if budget.matched else None)
        return ""

    def _draft(self, task: SummaryTask) -> Draft | None:
        """The draft with its requests; None where too little room is left, or nothing would be shown to the model."""
        whole, turn = self.prompt.requests(task.shown, task.budget)
        draft, most = self._sized(task)
        if most < self.limits.least:
            return None
        if not task.shown.has_text:
            given = task.given
            text = None if self.unread is None else self.unread(given.new, given.previous, most, task.context.count)
            return None if text is None else replace(draft, template="", footer=text + draft.footer)
        if most < self.limits.split_from:
            draft = replace(draft, template="{0}")
        parts = self._parts(task, draft, whole, turn, most)
        return replace(draft, requests=tuple(self._bounded(task, request, tokens) for request, tokens in parts))

    def _sized(self, task: SummaryTask) -> tuple[Draft, int]:
        """The draft without its requests, in its longest form, and the tokens that their answers may have."""
        lists = {self.file_lists: task.lists}
        frame = Summary(
            id="", text="", lead=self.prompt.opening, replaces=task.given.ids, files=task.given.files,
            said_by=self.said_by, name=self.summary_name,
        )  # fmt: skip
        footer = lists.get("inside", "") if self.annotate is None else self.annotate(task)
        draft = Draft(requests=(), template=self.prompt.frame(task.shown), footer=footer, frame=frame)
        most = 0
        for tail in (lists.get("below", ""),) if self.below is None else self.below(task):
            draft = replace(draft, frame=replace(frame, tail=tail + self.prompt.closing))
            around = task.context.count(draft.unanswered) + 2
            most = self.limits.allowed(task.context, task.budget, task.span.gone, around)
            if most >= self.limits.least:
                break
        return draft, most

    def _parts(
        self, task: SummaryTask, draft: Draft, whole: SummaryRequest, turn: SummaryRequest, most: int
    ) -> Iterable[tuple[SummaryRequest, int]]:
        """The requests, each with the tokens of its answer."""
        shown = task.shown
        if draft.template == "{0}":
            yield whole, self.limits.single(most)
        elif shown.split:
            sizes = task.context.sizes_of(shown.new)
            first, start = self.limits.parts(most, sum(sizes[: len(shown.history)]) / max(sum(sizes), 1))
            yield replace(whole, messages=shown.history), first
            yield turn, start
        else:
            yield turn, self.limits.single(most)

    def _bounded(self, task: SummaryTask, request: SummaryRequest, tokens: int) -> SummaryRequest:
        """The request for an answer of so many tokens, with the fallback text."""
        about = (request.messages, request.previous, tokens, task.context.count)
        return replace(
            request,
            max_tokens=self.limits.named(tokens, task.context, task.budget, task.span.gone),
            otherwise=None if self.fallback is None else partial(self.fallback, *about),
            if_empty=self.if_empty,
            files=task.given.files,
            count=task.context.count,
            model=self.model,
        )


def _finished(finish: Finish, task: SummaryTask, draft: Draft, edited: Context) -> Plan | None:
    said = enumerate(edited.messages)
    at = next(i for i, one in said if one.role == "summary" and one.replaces == draft.frame.replaces)
    return finish(task, draft, edited, at)
