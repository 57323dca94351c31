"""Puts a model's summary in the place of older messages: the one procedure of all presets that
summarise.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from workbench.engine.compaction.cut import KeepRecent
from workbench.engine.compaction.plan import Budget, Draft, Plan, Replace, exchanged, in_order
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import SizeLimits
from workbench.engine.compaction.span_selection import CutRule
from workbench.engine.compaction.stand_in import StandIns
from workbench.engine.compaction.summary_input import Reading, SummaryTask
from workbench.engine.models.model import SummaryRequest
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.context_lookup import tokens_of
from workbench.engine.transcript.message import Summary

Finish: TypeAlias = Callable[[SummaryTask, Draft, Context, int], Plan | None]
"""A second step, planned on the edited context, in which the summary has the given index."""


@dataclass(frozen=True, slots=True)
class Summarize:
    """Asks a model for a summary of the messages that a rule selects, and puts it in their place.

    An earlier summary among them is updated: the model gets its text and the messages that came
    after it. The start of a turn that goes on is summarised apart. Every part has a default; a
    preset states what its system does otherwise.

    Attributes:
        cut: selects what gives way.
        reads: what the summary stands for, and what of it the model is shown.
        prompt: what a language model is asked, and how the summary is introduced to the agent.
        limits: how long the summary may be.
        presentation: where the summary stands, who says it, and what code adds.
        stand_ins: what takes its place where the model writes none.
        finish: what follows once it is written.

    Source:
        The procedure of Opal's `session/compaction.ex`, restated; the file lists are written by
        code.
    """

    cut: CutRule = KeepRecent()
    reads: Reading = Reading()
    prompt: PromptTemplate = PromptTemplate()
    limits: SizeLimits = SizeLimits()
    presentation: Presentation = Presentation()
    stand_ins: StandIns = StandIns()
    finish: Finish | None = None
    name: str = "summarize"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The summary's draft and what it replaces; None where there is nothing new, or no room
        for a summary.
        """
        span = self.cut(context, budget)
        if span is None:
            return None
        task = self.reads.task(context, budget, span)
        if not task.full_input.has_text:
            return None
        if self.prompt.request == "conversation":
            task = replace(task, conversation=self.reads.conversation(task))
        task = self.presentation.presented(task, self.limits.least)
        draft = self._draft(task)
        if draft is None:
            return None
        place = self.presentation.place(context, span.indices)
        edits = list(exchanged(span.indices, place, draft, *task.messages_behind))
        for i, message in span.rewritten.items():
            edits.append(Replace.message_at(i, message))
        if self.finish is None:
            return Plan(in_order(edits))
        then = partial(_finished, self.finish, task, draft)
        return Plan(in_order(edits), then=then)

    def _draft(self, task: SummaryTask) -> Draft | None:
        """The draft with its requests; None with too little room, or nothing to read."""
        task = self.prompt.fitted(task)
        template = self.prompt.frame(task)
        main_request, turn_request = self.prompt.requests(task)
        draft, max_tokens = self._sized(task, template)
        if max_tokens < self.limits.least:
            return None
        if not task.model_input.has_text:
            return self._unread_draft(task, draft, max_tokens)
        if max_tokens < self.limits.split_from:
            draft = replace(draft, template="{0}")
        requests = self._requests(task, draft, max_tokens, main_request, turn_request)
        useful_tokens = self._useful(task, draft) // len(requests)
        requests = [replace(request, useful_tokens=useful_tokens) for request in requests]
        return replace(draft, requests=tuple(requests))

    def _unread_draft(
        self,
        task: SummaryTask,
        draft: Draft,
        max_tokens: int,
    ) -> Draft | None:
        """The draft where the model would be shown nothing: none is asked."""
        unread = self.stand_ins.unread
        if unread is None:
            return None
        full_input = task.full_input
        text = unread(full_input.new, full_input.previous, max_tokens, task.context.count)
        if text is None:
            return None
        return replace(draft, template="", footer=text + draft.footer)

    def _useful(self, task: SummaryTask, draft: Draft) -> int:
        """Tokens of answers above which the context would not become smaller."""
        freed = tokens_of(task.context, task.span.indices)
        frame_tokens = task.context.count(draft.unanswered) + 3
        return max(freed - frame_tokens, self.limits.least)

    def _sized(self, task: SummaryTask, template: str) -> tuple[Draft, int]:
        """The draft without requests, in its longest form, and the tokens of their answers."""
        frame = Summary(
            id="",
            text="",
            lead=self.prompt.opening,
            replaces=task.full_input.ids,
            files=task.full_input.files,
            said_by=self.presentation.said_by,
            name=self.presentation.summary_name,
        )
        draft = Draft(
            requests=(),
            template=template,
            footer=task.footer,
            frame=frame,
        )
        max_tokens = 0
        for tail in task.tails:
            frame = replace(frame, tail=tail + self.prompt.closing)
            draft = replace(draft, frame=frame)
            around = task.context.count(draft.unanswered) + 2
            max_tokens = self.limits.allowed(
                task.context,
                task.budget,
                task.span.indices,
                frame=around,
            )
            if max_tokens >= self.limits.least:
                break
        if task.conversation is not None and task.conversation.room is not None:
            max_tokens = min(max_tokens, task.conversation.room)
        return draft, max_tokens

    def _requests(
        self,
        task: SummaryTask,
        draft: Draft,
        max_tokens: int,
        main_request: SummaryRequest,
        turn_request: SummaryRequest,
    ) -> list[SummaryRequest]:
        """The requests: one, or two where a turn is split and there is room for both answers."""
        if draft.template == "{0}":
            return [self._bounded(task, main_request, self.limits.single(max_tokens))]
        shown_input = task.model_input
        if not shown_input.split:
            return [self._bounded(task, turn_request, self.limits.single(max_tokens))]
        sizes = task.context.sizes_of(shown_input.new)
        history_sizes = sizes[: len(shown_input.history)]
        history_share = sum(history_sizes) / max(sum(sizes), 1)
        history_tokens, turn_tokens = self.limits.parts(max_tokens, history_share)
        history_request = replace(main_request, messages=shown_input.history)
        return [
            self._bounded(task, history_request, history_tokens),
            self._bounded(task, turn_request, turn_tokens),
        ]

    def _bounded(
        self,
        task: SummaryTask,
        request: SummaryRequest,
        tokens: int,
    ) -> SummaryRequest:
        """The request for an answer of so many tokens, with the fallback text."""
        count = task.context.count
        otherwise: Callable[[], str | None] | None = None
        fallback = self.stand_ins.fallback
        if fallback is not None:
            otherwise = partial(fallback, request.messages, request.previous, tokens, count)
        return replace(
            request,
            max_tokens=self.limits.named(tokens, task.context, task.budget, task.span.indices),
            otherwise=otherwise,
            if_empty=self.stand_ins.if_empty,
            files=task.full_input.files,
            count=count,
        )


def _finished(
    finish: Finish,
    task: SummaryTask,
    draft: Draft,
    edited: Context,
) -> Plan | None:
    """The second step, with the index at which the summary stands now."""
    replaces = draft.frame.replaces
    for i, message in enumerate(edited.messages):
        if message.role == "summary" and message.replaces == replaces:
            return finish(task, draft, edited, i)
    raise AssertionError("the summary is among the messages that were edited")
