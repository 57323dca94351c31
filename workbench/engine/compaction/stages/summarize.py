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
from workbench.engine.compaction.plan import (
    Budget,
    Draft,
    Plan,
    Replace,
    exchanged,
    in_order,
    place,
)
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
from workbench.engine.transcript.context_lookup import tokens_of, tokens_of_text
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Message, Summary, TokenCounter

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
        self,
        context: Context,
        budget: Budget,
        removed_indices: Sequence[int],
        frame: int,
    ) -> int:
        """Tokens of the summary's text, so that the context never grows.

        `removed_indices` give way, `frame` the tokens that are sent around the text.
        """
        target_room = budget.room(context, removed_indices)
        freed = tokens_of(context, removed_indices)
        own_limit = self.own(freed, budget.window)
        own_limit = self._within_share(context, budget, own_limit)
        max_tokens = min(own_limit, freed - frame - 1)
        if self.to_target:
            return min(max_tokens, target_room - frame if target_room >= 0 else self.least)
        if budget.matched:
            return min(max_tokens, max(target_room - frame, self.least))
        return max_tokens

    def own(self, freed: int, window: int) -> int:
        """The system's own bound for a summary of so many tokens, in a window of so many."""
        return self.most + (self.most_turn or 0)

    def _within_share(
        self,
        context: Context,
        budget: Budget,
        own_limit: int,
    ) -> int:
        """The limit, or the share of the room where that is less."""
        if self.share is None or budget.matched:
            return own_limit
        pinned_tokens = tokens_of(context, pinned(context.messages))
        room = budget.target - context.overhead - pinned_tokens
        share_limit = int(self.share * room)
        return max(min(own_limit, share_limit), self.least)

    def parts(self, allowed: int, history: float) -> tuple[int, int]:
        """Tokens for the whole turns and for a split turn's start, by the history's share."""
        history_tokens = int(allowed * min(max(history, 0.25), 0.75))
        turn_tokens = min(allowed - history_tokens, self.most_turn or allowed)
        return self.single(history_tokens), turn_tokens

    def single(self, allowed: int) -> int:
        """What the one summary of everything may have."""
        return min(allowed, self.most)

    def named(
        self,
        max_tokens: int,
        context: Context,
        budget: Budget,
        removed_indices: Sequence[int],
    ) -> int | None:
        """The bound that a request names; None where the system states none and room is left."""
        if self.stated or budget.matched:
            return max_tokens
        usual = max(tokens_of(context, removed_indices) // 10, USUAL)
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
    roles = Counter([message.role for message in messages])
    counts: list[str] = []
    for role, n in sorted(roles.items()):
        counts.append(f"{n} {role}")
    line = wording.format(n=len(messages), counts=", ".join(counts))
    line_tokens = tokens_of_text(f"\n\n{line}", count)
    kept_text = clipped(previous, max_tokens - line_tokens, count)
    if kept_text:
        return f"{kept_text}\n\n{line}"
    return clipped(line, max_tokens, count) or "[...]"


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
        if span is None:
            return None
        task = self._task(context, budget, span)
        if not task.full_input.has_text:
            return None
        extra_messages: tuple[Message, ...] = ()
        if self.beside is not None:
            extra_messages = tuple(self.beside(context, budget, span))
        if extra_messages:
            extra_tokens = sum(map(context.count, extra_messages))
            target = min(budget.target, context.tokens - 1) - extra_tokens
            task = replace(task, budget=replace(budget, target=target))
        draft = self._draft(task)
        if draft is None:
            return None
        place = self.place(context, span.indices)
        edits = list(exchanged(span.indices, place, draft, *extra_messages))
        for i, message in span.rewritten.items():
            edits.append(Replace.message_at(i, message))
        if self.finish is None:
            return Plan(in_order(edits))
        then = partial(_finished, self.finish, task, draft)
        return Plan(in_order(edits), then=then)

    def _task(self, context: Context, budget: Budget, span: Span) -> SummaryTask:
        """What is to be summarised, and what of it the model reads."""
        summary_input = SummaryInput.of(context, span)
        if self.recognise is not None:
            summary_input = self.recognise(context, summary_input)
        if self.file_lists and not summary_input.files:
            files = file_ops([context.messages[i] for i in span.indices])
            summary_input = replace(summary_input, files=files)
        if self.file_lists == "inside":
            earlier: list[Summary] = []
            for summary in summary_input.earlier:
                earlier.append(replace(summary, text=without_lists(summary.text)))
            summary_input = replace(summary_input, earlier=tuple(earlier))
        task = SummaryTask(
            context=context,
            budget=budget,
            span=span,
            full_input=summary_input,
            model_input=summary_input,
            lists=self._lists(context, budget, span, summary_input.files),
        )
        if self.reads is None:
            return task
        return replace(task, model_input=self.reads(task))

    def _lists(
        self,
        context: Context,
        budget: Budget,
        span: Span,
        files: FileOps,
    ) -> str:
        """The file lists as text, as far as there is room."""
        if self.file_lists == "below":
            room = budget.room(context, span.indices)
            return footer(files, chars=max(room, self.limits.least) // 2)
        if self.file_lists == "inside":
            if not budget.matched:
                return listed(files)
            room = budget.room(context, spare(context))
            return listed(files, max(room, 0))
        return ""

    def _draft(self, task: SummaryTask) -> Draft | None:
        """The draft with its requests; None with too little room, or nothing to read."""
        draft, max_tokens = self._sized(task)
        if max_tokens < self.limits.least:
            return None
        if not task.model_input.has_text:
            return self._unread_draft(task, draft, max_tokens)
        if max_tokens < self.limits.split_from:
            draft = replace(draft, template="{0}")
        requests = self._requests(task, draft, max_tokens)
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
        if self.unread is None:
            return None
        full_input = task.full_input
        text = self.unread(full_input.new, full_input.previous, max_tokens, task.context.count)
        if text is None:
            return None
        return replace(draft, template="", footer=text + draft.footer)

    def _useful(self, task: SummaryTask, draft: Draft) -> int:
        """Tokens of answers above which the context would not become smaller."""
        freed = tokens_of(task.context, task.span.indices)
        frame_tokens = task.context.count(draft.unanswered) + 3
        return max(freed - frame_tokens, self.limits.least)

    def _sized(self, task: SummaryTask) -> tuple[Draft, int]:
        """The draft without requests, in its longest form, and the tokens of their answers."""
        frame = Summary(
            id="",
            text="",
            lead=self.prompt.opening,
            replaces=task.full_input.ids,
            files=task.full_input.files,
            said_by=self.said_by,
            name=self.summary_name,
        )
        if self.annotate is not None:
            footer_text = self.annotate(task)
        else:
            footer_text = task.lists if self.file_lists == "inside" else ""
        tails: Iterable[str] = [task.lists if self.file_lists == "below" else ""]
        if self.below is not None:
            tails = self.below(task)
        template = self.prompt.frame(task)
        draft = Draft(
            requests=(),
            template=template,
            footer=footer_text,
            frame=frame,
        )
        max_tokens = 0
        for tail in tails:
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
        return draft, max_tokens

    def _requests(
        self,
        task: SummaryTask,
        draft: Draft,
        max_tokens: int,
    ) -> list[SummaryRequest]:
        """The requests: one, or two where a turn is split and there is room for both answers."""
        main_request, turn_request = self.prompt.requests(task)
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
        if self.fallback is not None:
            otherwise = partial(self.fallback, request.messages, request.previous, tokens, count)
        return replace(
            request,
            max_tokens=self.limits.named(tokens, task.context, task.budget, task.span.indices),
            otherwise=otherwise,
            if_empty=self.if_empty,
            files=task.full_input.files,
            count=count,
            model=self.model,
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
