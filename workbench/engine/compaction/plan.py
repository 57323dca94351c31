"""What a stage is: it sees a context and a budget, and plans what it wants done: plain data
until it is applied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, Protocol

from workbench.base.errors import PlanError
from workbench.engine.models.model import SummaryRequest
from workbench.engine.transcript.context import EMPTY, Context, pending
from workbench.engine.transcript.context_lookup import cut_point_from, cut_point_until, tokens_of
from workbench.engine.transcript.message import Message, Summary
from workbench.engine.transcript.shared_range import digest_of

LARGEST_OUTPUT = 0.25
"""The part of the window that a model's longest answer needs, where no recording says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How small a context should become.

    Attributes:
        target: tokens of the whole request, overhead included, at or below which compaction is
            done.
        window: tokens that the model takes at most.
        reason: `threshold`, `price`, `overflow`, `manual`, `requested` or `matched`.
        force: compact even where the stage would see no need.
        keep_recent: tokens of newest messages to keep; None leaves it to the strategy.
        instructions: the user's wishes for the summary.
    """

    target: int
    window: int
    reason: str = "threshold"
    force: bool = False
    keep_recent: int | None = None
    instructions: str = ""

    @property
    def matched(self) -> bool:
        """Whether a comparison sets the size of the context."""
        return self.reason == "matched"

    def room(self, context: Context, gone: Iterable[int]) -> int:
        """Tokens that the target leaves without these messages; negative if too few."""
        return self.target - context.tokens + tokens_of(context, gone)


class Stage(Protocol):
    """One way of making a context smaller.

    A stage is blind by signature: it sees the context and the budget, never the session, the future
    or the truth.
    """

    @property
    def name(self) -> str:
        """Name shown in records and reports."""
        ...

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The changes, or None for none. Pure: no model, no clock, no disk, no randomness."""
        ...


REGISTER = "register"
"""The name of a register's message, which is pinned and yet updated."""
UNWRITTEN = Summary(id="", text="")
_PLACE = re.compile(r"\{(\d+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A summary that a model has still to write.

    Attributes:
        requests: one, or two for a split turn; they do not depend on each other.
        template: how the answers become the text, with `{0}` and `{1}` in their places; they are
            never parsed.
        footer: what code adds below the answers, such as the file lists; part of the text.
        frame: the summary without id and text: what is sent around the text, and what it replaces.
    """

    requests: tuple[SummaryRequest, ...]
    template: str = "{0}"
    footer: str = ""
    frame: Summary = UNWRITTEN

    def written(self, answers: Sequence[str], model: str = "") -> Summary:
        """The summary with an answer for each request; its id follows from its text."""
        text = self._text(answers)
        id = f"summary-{digest_of(self.frame.replaces, text)[:12]}"
        return replace(self.frame, id=id, text=text, model=model)

    @property
    def unanswered(self) -> Summary:
        """What it takes besides the answers: the summary before they are there, without an id."""
        return replace(self.frame, text=self._text(()))

    def _text(self, answers: Sequence[str]) -> str:
        parts = _PLACE.split(self.template)
        # every second part is the number of an answer
        for part_index in range(1, len(parts), 2):
            answer_index = int(parts[part_index])
            is_answered = answer_index < len(answers)
            parts[part_index] = answers[answer_index] if is_answered else ""
        return "".join(parts) + self.footer


class Replace(NamedTuple):
    """Put `by` in the place of `messages[start:stop]`; an empty `by` drops them, an empty range
    inserts.

    `size` is the tokens of a single new message that is counted already.
    """

    start: int
    stop: int
    by: tuple[Message | Draft, ...] = ()
    size: int | None = None

    @classmethod
    def removal(cls, index: int) -> Replace:
        """The removal of the message at this index."""
        return cls(index, index + 1)

    @classmethod
    def message_at(
        cls,
        index: int,
        by: Message,
        size: int | None = None,
    ) -> Replace:
        """Another message in the place of the one at this index."""
        return cls(index, index + 1, (by,), size)


@dataclass(frozen=True, slots=True)
class Plan:
    """Edits in order, not overlapping.

    Attributes:
        archive: the full texts that they move out of the context, by reference.
        then: a second step that depends on what the model wrote, such as cutting its text to the
            room that is left: planned on the edited context, pure, without summary requests. The
            guard sees only the whole.
        refusal: of a plan without edits: why there is no room for what the stage would do.
    """

    edits: tuple[Replace, ...]
    archive: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    then: Callable[[Context], Plan | None] | None = None
    refusal: str = ""

    @property
    def requests(self) -> tuple[SummaryRequest, ...]:
        """All questions in the drafts, in the order in which `apply` takes their answers."""
        requests: list[SummaryRequest] = []
        for edit in self.edits:
            for new in edit.by:
                if isinstance(new, Draft):
                    requests += new.requests
        return tuple(requests)

    def apply(
        self,
        context: Context,
        answers: Sequence[str] = (),
        model: str = "",
    ) -> Context:
        """The context after the edits. Messages that stay are not counted again.

        Args:
            context: the one that the plan was made for.
            answers: one text for each of `requests`.
            model: who wrote them.

        Raises:
            PlanError: edits overlap, are out of order or reach outside, or the answers do not match
                the requests.
        """
        request_count = len(self.requests)
        if len(answers) != request_count:
            raise PlanError(
                f"{len(answers)} answers for {request_count} requests; give one answer for each"
                " request"
            )
        next_answers = iter(answers)
        messages: list[Message] = []
        sizes: list[int] = []
        position = 0
        for edit in self.edits:
            _check_place(edit, position, len(context.messages))
            messages += context.messages[position : edit.start]
            sizes += context.sizes[position : edit.start]
            for new in edit.by:
                message = _written(new, next_answers, model)
                size = context.count(message) if edit.size is None else edit.size
                messages.append(message)
                sizes.append(size)
            position = edit.stop
        messages += context.messages[position:]
        sizes += context.sizes[position:]
        edited = Context(
            messages=tuple(messages),
            sizes=tuple(sizes),
            overhead=context.overhead,
            count=context.count,
            archive=self._archive(context),
        )
        second_plan = None if self.then is None else self.then(edited)
        return edited if second_plan is None else second_plan.apply(edited)

    def _archive(self, context: Context) -> Mapping[str, str]:
        """The context's archive with the texts that the edits move there."""
        if not self.archive:
            return context.archive
        return {**context.archive, **self.archive}


def _check_place(edit: Replace, position: int, message_count: int) -> None:
    """Refuse an edit that begins before this position or reaches beyond the messages.

    Raises:
        PlanError: it does.
    """
    if not position <= edit.start <= edit.stop <= message_count:
        raise PlanError(
            f"the edit [{edit.start}, {edit.stop}) overlaps the one that ends at {position}, or"
            f" reaches beyond the {message_count} messages; sort the edits and let none overlap"
        )


def _written(
    new: Message | Draft,
    next_answers: Iterator[str],
    model: str,
) -> Message:
    """The message, or the summary with the answers to its requests, which are used up."""
    if not isinstance(new, Draft):
        return new
    answers = list(islice(next_answers, len(new.requests)))
    return new.written(answers, model)


def in_order(edits: Iterable[Replace]) -> tuple[Replace, ...]:
    """The edits by their places, as a plan needs them."""
    return tuple(sorted(edits, key=_range))


def _range(edit: Replace) -> tuple[int, int]:
    return edit.start, edit.stop


def saved_tokens(context: Context, edits: Iterable[Replace]) -> int:
    """Tokens that these edits save, each of one message that was counted."""
    saved = 0
    for edit in edits:
        saved += context.sizes[edit.start] - (edit.size or 0)
    return saved


def place(context: Context, removed_indices: Sequence[int]) -> int:
    """The index for a summary in the place of the first message that goes, never inside a pair.

    It lies behind the system prompt, which providers want first, even where a stray message comes
    before it.

    Args:
        context: n messages.
        removed_indices: the indices that go, at least one, ascending.
    """
    prompt_end = behind_prompt(context.messages, removed_indices)
    if prompt_end > removed_indices[0]:
        return cut_point_from(context.cut_points, prompt_end)
    return cut_point_until(context.cut_points, removed_indices[0])


def behind_all(context: Context, removed_indices: Sequence[int]) -> int:
    """The end of the context, but before a pinned answer whose calls wait for results."""
    waiting = pending(context.messages)
    if waiting is not None and context.messages[waiting].pinned:
        return waiting
    return len(context.messages)


def behind_prompt(messages: Sequence[Message], removed_indices: Sequence[int]) -> int:
    """The index behind the system prompt if it is the first that stays; else 0."""
    removed = set(removed_indices)
    index = 0
    # results that have lost their call are not sent
    while index in removed or _role(messages, index) == "tool":
        index += 1
    if _role(messages, index) != "system":
        return 0
    while index not in removed and _role(messages, index) == "system":
        index += 1
    return index


def _role(messages: Sequence[Message], index: int) -> str:
    """The role of a message; empty behind the last one."""
    return messages[index].role if index < len(messages) else ""


def exchanged(
    removed_indices: Sequence[int], index: int, *new: Message | Draft
) -> tuple[Replace, ...]:
    """The removal of these messages, ascending, and the new ones before the index."""
    removed = set(removed_indices)
    edits = [Replace(index, index, new)]
    start = 0
    for i in removed_indices:
        if i == index or i - 1 not in removed:
            start = i
        if i + 1 == index or i + 1 not in removed:
            edits.append(Replace(start, i + 1))
    return in_order(edits)
