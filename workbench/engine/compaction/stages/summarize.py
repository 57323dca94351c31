"""Puts a model's summary in the place of older messages: the one procedure of all presets that
summarise.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

from workbench.engine.compaction.clip import clipped
from workbench.engine.compaction.cut import KeepRecent
from workbench.engine.compaction.file_lists import file_ops, footer, listed, without_lists
from workbench.engine.compaction.plan import Budget, Draft, Plan, Replace, exchanged, place
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.span_selection import (
    CutRule,
    Span,
    SummaryInput,
    SummaryTask,
    spare,
)
from workbench.engine.models.model import SummaryRequest
from workbench.engine.transcript.context import Context, pinned
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Message, Summary, Text, TokenCounter, UserMessage

SUMMARY_SHARE = 0.25
"""The part of the room that the summaries of restated systems take at most.

Their own bounds were made for large windows; in a small one such a summary would fill the context
to the threshold.
"""
LEAST = 24
"""Tokens below which a restated system is not asked for a summary."""
USUAL = 400
"""Tokens of a summary of little; one of much takes a tenth."""
UNBOUNDED = 10**9
"""Tokens that no summary takes: the bound of a system that has none."""


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """The bounds of a summary, in tokens.

    Attributes:
        least: with less than this left no model is asked.
        most: the system's own bound.
        most_turn: its bound for the start of a split turn, on top of `most`; None where both share
            `most`.
        share: the part of the room under the target that a summary takes at most, unless a
            comparison sets the size.
        to_target: whether the target binds even where no comparison sets the size.
        stated: whether a request names its bound even where much room is left.
        split_from: from so many tokens on, a split turn is asked about separately.
    """

    least: int = 48
    most: int = 16_000
    most_turn: int | None = None
    share: float | None = None
    to_target: bool = True
    stated: bool = True
    split_from: int = 192

    def allowed(
        self, context: Context, budget: Budget, removed_indices: Sequence[int], frame: int
    ) -> int:
        """Tokens that the summary's text may have, so that the context never grows; below `least`
        if too few.

        `removed_indices` give way, `frame` the tokens that are sent around the text.
        """
        target_room = budget.room(context, removed_indices)
        freed = sum(context.sizes[i] for i in removed_indices)
        max_tokens = min(
            self._within_share(context, budget, self.own(freed, budget.window)), freed - frame - 1
        )
        if self.to_target:
            return min(max_tokens, target_room - frame if target_room >= 0 else self.least)
        return (
            min(max_tokens, max(target_room - frame, self.least)) if budget.matched else max_tokens
        )

    def own(self, freed: int, window: int) -> int:
        """The system's own bound for a summary of so many tokens, in a window of so many."""
        return self.most + (self.most_turn or 0)

    def _within_share(self, context: Context, budget: Budget, own_limit: int) -> int:
        if self.share is None or budget.matched:
            return own_limit
        room = (
            budget.target
            - context.overhead
            - sum(context.sizes[i] for i in pinned(context.messages))
        )
        return max(min(own_limit, int(self.share * room)), self.least)

    def parts(self, allowed: int, history: float) -> tuple[int, int]:
        """What the summaries of the whole turns and of a split turn's start may have, by the
        history's share.
        """
        history_tokens = int(allowed * min(max(history, 0.25), 0.75))
        return self.single(history_tokens), min(allowed - history_tokens, self.most_turn or allowed)

    def single(self, allowed: int) -> int:
        """What the one summary of everything may have."""
        return min(allowed, self.most)

    def named(
        self, max_tokens: int, context: Context, budget: Budget, removed_indices: Sequence[int]
    ) -> int | None:
        """The bound that a request names: none where the system states none, unless little room
        is left.
        """
        if self.stated or budget.matched:
            return max_tokens
        usual = max(sum(context.sizes[i] for i in removed_indices) // 10, USUAL)
        return None if max_tokens >= 2 * usual else max_tokens


StandIn: TypeAlias = Callable[[Sequence[Message], str, int, TokenCounter], str | None]
"""A text in place of a model's, from the messages, the earlier summary's text, and its most
tokens by a counter.
"""
Finish: TypeAlias = Callable[[SummaryTask, Draft, Context, int], Plan | None]


def note(
    messages: Sequence[Message],
    previous: str,
    max_tokens: int,
    count: TokenCounter,
    wording: str = "[{n} earlier messages left out: {counts}]",
) -> str:
    """The earlier summary as far as it fits, and how many messages of which role were left out."""
    roles = Counter(message.role for message in messages)
    counts = ", ".join(f"{n} {role}" for role, n in sorted(roles.items()))
    line = wording.format(n=len(messages), counts=counts)
    kept_text = clipped(
        previous, max_tokens - count(UserMessage(id="", blocks=(Text(f"\n\n{line}"),))), count
    )
    return f"{kept_text}\n\n{line}" if kept_text else clipped(line, max_tokens, count) or "[...]"


@dataclass(frozen=True, slots=True)
class Summarize:
    """Asks a model for a summary of the messages that a rule selects, and puts it in their place.

    An earlier summary among them is updated: the model gets its text and the messages that came
    after it. The start of a turn that goes on is summarised apart. Every field has a default; a
    preset states what its system does otherwise.

    Attributes:
        cut: selects what gives way.
        prompt: what a language model is asked, and how the summary is presented to the agent.
        limits: how long the summary may be.
        file_lists: where code lists the files read and changed so far; `recorded` lists them in the
            record only.
        recognise: finds more in what gives way, such as a summary that was sent as a user message.
        reads: what the model is shown, where that differs from what gives way.
        unread: the summary where the model would be shown nothing; None: nothing is compacted.
        below: texts to send below the summary, longest first; the first that leaves room is taken.
        annotate: a text that code adds to the summary's own.
        beside: messages to send behind the summary.
        place: the index of the summary.
        finish: a second step, planned on the edited context, in which the summary has the given
            index.
        fallback: the summary where the model fails; None passes its error on. `if_empty`: where its
            answer is empty.
        model: the name of another model that writes; empty for the present one.
        said_by: the role of the summary's message, `summary_name` its name.

    Source:
        The procedure of Opal's `session/compaction.ex`, restated; the file lists are written by
            code.
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
        """The summary's draft and what it replaces; None where there is nothing new, or no room
        for a summary.
        """
        span = self.cut(context, budget)
        task = None if span is None else self._task(context, budget, span)
        if task is None or not task.full_input.has_text:
            return None
        extra_messages = (
            tuple(self.beside(context, budget, task.span)) if self.beside is not None else ()
        )
        if extra_messages:
            target = min(budget.target, context.tokens - 1) - sum(
                map(context.count, extra_messages)
            )
            task = replace(task, budget=replace(budget, target=target))
        draft = self._draft(task)
        if draft is None:
            return None
        edits = exchanged(
            task.span.indices, self.place(context, task.span.indices), draft, *extra_messages
        )
        rewritten = [Replace(i, i + 1, (message,)) for i, message in task.span.rewritten.items()]
        in_order = sorted([*edits, *rewritten], key=lambda edit: (edit.start, edit.stop))
        return Plan(
            tuple(in_order),
            then=None if self.finish is None else partial(_finished, self.finish, task, draft),
        )

    def _task(self, context: Context, budget: Budget, span: Span) -> SummaryTask:
        summary_input = SummaryInput.of(context, span)
        if self.recognise is not None:
            summary_input = self.recognise(context, summary_input)
        if self.file_lists and not summary_input.files:
            summary_input = replace(
                summary_input, files=file_ops(context.messages[i] for i in span.indices)
            )
        if self.file_lists == "inside":
            earlier = tuple(
                replace(summary, text=without_lists(summary.text))
                for summary in summary_input.earlier
            )
            summary_input = replace(summary_input, earlier=earlier)
        task = SummaryTask(
            context,
            budget,
            span,
            summary_input,
            summary_input,
            self._lists(context, budget, span, summary_input.files),
        )
        return task if self.reads is None else replace(task, model_input=self.reads(task))

    def _lists(self, context: Context, budget: Budget, span: Span, files: FileOps) -> str:
        """The file lists as text, as far as there is room."""
        if self.file_lists == "below":
            return footer(
                files, chars=max(budget.room(context, span.indices), self.limits.least) // 2
            )
        if self.file_lists == "inside":
            return listed(
                files, max(budget.room(context, spare(context)), 0) if budget.matched else None
            )
        return ""

    def _draft(self, task: SummaryTask) -> Draft | None:
        """The draft with its requests; None where too little room is left, or nothing would be
        shown to the model.
        """
        main_request, turn = self.prompt.requests(task)
        draft, max_tokens = self._sized(task)
        if max_tokens < self.limits.least:
            return None
        if not task.model_input.has_text:
            summary_input = task.full_input
            text = (
                None
                if self.unread is None
                else self.unread(
                    summary_input.new, summary_input.previous, max_tokens, task.context.count
                )
            )
            return None if text is None else replace(draft, template="", footer=text + draft.footer)
        if max_tokens < self.limits.split_from:
            draft = replace(draft, template="{0}")
        parts = self._parts(task, draft, main_request, turn, max_tokens)
        requests = [self._bounded(task, request, tokens) for request, tokens in parts]
        useful = self._useful(task, draft) // max(len(requests), 1)
        return replace(
            draft, requests=tuple([replace(request, useful_tokens=useful) for request in requests])
        )

    def _useful(self, task: SummaryTask, draft: Draft) -> int:
        """Tokens of answers above which the context would not become smaller."""
        freed = sum(task.context.sizes[i] for i in task.span.indices)
        return max(freed - task.context.count(draft.unanswered) - 3, self.limits.least)

    def _sized(self, task: SummaryTask) -> tuple[Draft, int]:
        """The draft without its requests, in its longest form, and the tokens that their answers
        may have.
        """
        lists = {self.file_lists: task.lists}
        frame = Summary(
            id="",
            text="",
            lead=self.prompt.opening,
            replaces=task.full_input.ids,
            files=task.full_input.files,
            said_by=self.said_by,
            name=self.summary_name,
        )
        footer = lists.get("inside", "") if self.annotate is None else self.annotate(task)
        draft = Draft(requests=(), template=self.prompt.frame(task), footer=footer, frame=frame)
        max_tokens = 0
        for tail in (lists.get("below", ""),) if self.below is None else self.below(task):
            draft = replace(draft, frame=replace(frame, tail=tail + self.prompt.closing))
            around = task.context.count(draft.unanswered) + 2
            max_tokens = self.limits.allowed(task.context, task.budget, task.span.indices, around)
            if max_tokens >= self.limits.least:
                break
        return draft, max_tokens

    def _parts(
        self,
        task: SummaryTask,
        draft: Draft,
        main_request: SummaryRequest,
        turn: SummaryRequest,
        max_tokens: int,
    ) -> Iterable[tuple[SummaryRequest, int]]:
        """The requests, each with the tokens of its answer."""
        shown_input = task.model_input
        if draft.template == "{0}":
            yield main_request, self.limits.single(max_tokens)
        elif shown_input.split:
            sizes = task.context.sizes_of(shown_input.new)
            history_tokens, start = self.limits.parts(
                max_tokens, sum(sizes[: len(shown_input.history)]) / max(sum(sizes), 1)
            )
            yield replace(main_request, messages=shown_input.history), history_tokens
            yield turn, start
        else:
            yield turn, self.limits.single(max_tokens)

    def _bounded(self, task: SummaryTask, request: SummaryRequest, tokens: int) -> SummaryRequest:
        """The request for an answer of so many tokens, with the fallback text."""
        about = (request.messages, request.previous, tokens, task.context.count)
        return replace(
            request,
            max_tokens=self.limits.named(tokens, task.context, task.budget, task.span.indices),
            otherwise=None if self.fallback is None else partial(self.fallback, *about),
            if_empty=self.if_empty,
            files=task.full_input.files,
            count=task.context.count,
            model=self.model,
        )


def _finished(finish: Finish, task: SummaryTask, draft: Draft, edited: Context) -> Plan | None:
    numbered_messages = enumerate(edited.messages)
    summary_index = next(
        i
        for i, message in numbered_messages
        if message.role == "summary" and message.replaces == draft.frame.replaces
    )
    return finish(task, draft, edited, summary_index)
