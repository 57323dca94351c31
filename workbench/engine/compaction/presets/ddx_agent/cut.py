"""The DDx agent's settings, and which of the possible cuts leaves room for a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from workbench.base.errors import SettingError, WorkbenchError
from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.file_lists import file_ops, listed, lists_in
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presets.token_counters import calls_of, ddx_tokens
from workbench.engine.compaction.prompt_template import Clip
from workbench.engine.compaction.span_selection import Movable, spare
from workbench.engine.compaction.strategy import ALSO
from workbench.engine.transcript.context import Context, cut_points, last_user
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Message, Summary, plain_text

PREFIX = (
    "The conversation history before this point was compacted into the following"
    " summary:\n\n<summary>\n"
)
SUFFIX = "\n</summary>"
LEAST = 128
"""Tokens that a summary gets where a comparison sets a size that cannot be reached."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a user may set.

    Attributes:
        context_window: tokens, where the window is unknown.
        max_tool_result_chars: bytes of a result that the summariser sees; `whole`, or 0 or less,
            for all.
        effective_percent: the part of the window that is used at all, in 0..100.
        user_message_tail_tokens: how much of what the user said is sent again beside the summary; 0
            for nothing.
    """

    enabled: bool = True
    context_window: int = 131_072
    reserve_tokens: int = 8_192
    keep_recent_tokens: int = 8_192
    max_tool_result_chars: Clip = field(default=2_000, metadata={ALSO: "result_chars"})
    effective_percent: int = 95
    summarization_model: str = ""
    summarization_provider: str = ""
    summarization_focus: str = ""
    user_message_tail_tokens: int = 20_000

    def __post_init__(self) -> None:
        for name in (
            "context_window",
            "reserve_tokens",
            "keep_recent_tokens",
            "user_message_tail_tokens",
        ):
            check_whole_number(name, getattr(self, name), least=int(name == "context_window"))
        if not 0 <= self.effective_percent <= 100:
            raise SettingError(
                f"effective_percent is {self.effective_percent}; 0 to 100 would be accepted"
            )

    def at(self, window: int) -> Config:
        """The same for a window of that many tokens: a reserve that fills it is given up, a tail
        is halved to it.
        """
        window = window if window > 0 else self.context_window
        return replace(
            self,
            context_window=window,
            reserve_tokens=0 if self.reserve_tokens >= window else self.reserve_tokens,
            keep_recent_tokens=(
                window // 2 if self.keep_recent_tokens > window else self.keep_recent_tokens
            ),
        )

    @property
    def threshold(self) -> int:
        """Tokens above which a context is due, where it is positive."""
        return self.context_window * self.effective_percent // 100 - self.reserve_tokens

    @property
    def most_summary_tokens(self) -> int:
        """What a summary may have at most: four fifths of the reserve, at least 512."""
        return max(512, self.reserve_tokens * 4 // 5)


class CompactionNoFit(WorkbenchError):
    """No cut leaves room for a summary beside what must stay."""


def recovered(message: Message) -> Summary | None:
    """The summary in a message, also in a plain user message, with the file lists in its text;
    None if it is none.
    """
    if message.role == "summary":
        return message
    words = plain_text(message) if message.role == "user" else ""
    if not (words.startswith(PREFIX) and words.endswith(SUFFIX)):
        return None
    text = words[len(PREFIX) : -len(SUFFIX)]
    return Summary(
        id=message.id,
        text=text,
        replaces=(message.id,),
        files=lists_in(text),
        lead=PREFIX,
        tail=SUFFIX,
    )


def places(messages: Sequence[Message]) -> list[int]:
    """Where a kept part may begin: with no tool result and no call; behind the last message,
    where nothing is kept.
    """
    flags = cut_points(messages)
    begins = (
        i for i, message in enumerate(messages) if message.role != "tool" and not calls_of(message)
    )
    return [*(i for i in begins if flags[i]), len(messages)]


def find_cut_point(
    messages: Sequence[Message], possible: Sequence[int], keep_recent_tokens: int
) -> int:
    """The first of the possible places that keeps at least that many tokens; 0 where all is
    less, n for none.
    """
    if not messages or keep_recent_tokens <= 0:
        return len(messages)
    token_totals = accumulate(map(ddx_tokens, reversed(messages)))
    enough = next(
        (n for n, total in enumerate(token_totals, 1) if total >= keep_recent_tokens), None
    )
    return (
        0
        if enough is None
        else next(place for place in possible if place >= len(messages) - enough)
    )


def first_cut(
    messages: Sequence[Message], possible: Sequence[int], keep_recent_tokens: int
) -> tuple[int, int]:
    """The cut to try first and the last one that may be tried; at least one message goes.

    The newest prompt is not passed, unless tools answered after it: then it stays beside the
    summary.
    """
    place = find_cut_point(messages, possible, keep_recent_tokens) or next(
        place for place in possible if place >= 1
    )
    prompts = [i for i, message in enumerate(messages) if message.role in ("user", "summary")]
    if not prompts or any(message.role == "tool" for message in messages[prompts[-1] :]):
        return place, len(messages)
    return min(place, prompts[-1]), prompts[-1]


@dataclass(frozen=True, slots=True)
class Fit:
    """One possible compaction of a context.

    Attributes:
        keep: the first message behind the cut.
        removed_indices: indices of all before it but the newest user message, and of earlier summaries
            wherever they are.
        room: tokens that the whole summary and the user messages may have; `body` is for the
            model's text.
        lists: the file lists as text.
    """

    keep: int
    removed_indices: tuple[int, ...]
    files: FileOps
    lists: str
    room: int
    body: int


def fitted(context: Context, budget: Budget, config: Config) -> Fit | None:
    """The first cut that leaves room for a summary; None where there is nothing to summarise.

    Where a comparison sets a size that cannot be reached, the smallest that can be.

    Raises:
        CompactionNoFit: no cut leaves room.
    """
    movable, messages = Movable.of(context, budget), context.messages
    indices, movable_messages = movable.indices, movable.messages
    earlier = {i: summary for i in indices if (summary := recovered(messages[i])) is not None}
    newest = last_user(messages)
    new = {i: context.sizes[i] for i in indices if i not in earlier and i != newest}
    if not new or recovered(movable_messages[-1]) is not None:
        return None
    keep_tokens = config.keep_recent_tokens if budget.keep_recent is None else budget.keep_recent
    possible = places(movable_messages)
    first_place, last_place = first_cut(movable_messages, possible, movable.granted(keep_tokens))
    tried = [
        place
        for place in [first_place, *possible]
        if first_place <= place <= last_place and place > 0 and indices[place - 1] >= min(new)
    ]
    if first_place <= 0 or not tried:
        return None
    files = file_ops(earlier.get(i, message) for i, message in enumerate(messages))
    lists = listed(files, max(budget.room(context, spare(context)), 0) if budget.matched else None)
    frame = context.count(Summary(id="", text=lists, lead=PREFIX, tail=SUFFIX))
    stays = context.tokens - sum(context.sizes[i] for i in earlier)
    freed = [0, *accumulate(new.get(i, 0) for i in indices)]
    effective = min(budget.target, context.tokens - 1) if budget.target > 0 else context.tokens - 1
    place = next((place for place in tried if effective - stays + freed[place] >= frame), None)
    if place is None:
        place, kept_tokens = tried[-1], stays - freed[tried[-1]]
        if not budget.matched or kept_tokens + frame + LEAST >= context.tokens:
            raise CompactionNoFit(
                f"{kept_tokens} tokens must stay and {effective} are allowed: that leaves no room for a"
                " summary"
            )
        effective = kept_tokens + frame + LEAST
    removed_indices = tuple(
        i for n, i in enumerate(indices) if i != newest and (i in earlier or n < place)
    )
    room = effective - stays + freed[place]
    return Fit(movable.index(place), removed_indices, files, lists, room, room - frame)
