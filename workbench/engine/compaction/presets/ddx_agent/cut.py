"""The DDx agent's settings, and which of the possible cuts leaves room for a summary."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from workbench.base.errors import SettingError, WorkbenchError
from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.file_lists import file_ops, listed, lists_in
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presets.token_counters import calls_of, ddx_tokens
from workbench.engine.compaction.setting_names import ALSO
from workbench.engine.compaction.span_selection import Movable, spare
from workbench.engine.compaction.transcript_text import Clip
from workbench.engine.transcript.context import Context, cut_points, last_user
from workbench.engine.transcript.context_lookup import tokens_of
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
        check_whole_number("context_window", self.context_window)
        for name in ("reserve_tokens", "keep_recent_tokens", "user_message_tail_tokens"):
            check_whole_number(name, getattr(self, name), least=0)
        if not 0 <= self.effective_percent <= 100:
            raise SettingError(
                f"effective_percent is {self.effective_percent}; 0 to 100 would be accepted"
            )

    def at(self, window: int) -> Config:
        """The same for a window of that many tokens, in which no reserve fills it."""
        if window <= 0:
            window = self.context_window
        reserve_tokens = self.reserve_tokens
        if reserve_tokens >= window:
            reserve_tokens = 0
        keep_recent_tokens = self.keep_recent_tokens
        if keep_recent_tokens > window:
            keep_recent_tokens = window // 2
        return replace(
            self,
            context_window=window,
            reserve_tokens=reserve_tokens,
            keep_recent_tokens=keep_recent_tokens,
        )

    @property
    def threshold(self) -> int:
        """Tokens above which a context is due, where it is positive."""
        return self.context_window * self.effective_percent // 100 - self.reserve_tokens

    @property
    def model(self) -> str:
        """The name of the model that writes summaries; empty for the present one."""
        return "/".join(filter(None, (self.summarization_provider, self.summarization_model)))

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
    """Where a kept part may begin: at words without calls, or behind the last message."""
    flags = cut_points(messages)
    places: list[int] = []
    for i, message in enumerate(messages):
        if flags[i] and message.role != "tool" and not calls_of(message):
            places.append(i)
    return [*places, len(messages)]


def find_cut_point(
    messages: Sequence[Message],
    possible: Sequence[int],
    keep_recent_tokens: int,
) -> int:
    """The first of these places that keeps so many tokens; 0 for all, n for none."""
    if not messages or keep_recent_tokens <= 0:
        return len(messages)
    token_room = keep_recent_tokens
    for start in reversed(range(len(messages))):
        token_room -= ddx_tokens(messages[start])
        if token_room <= 0:
            return _first_from(possible, start)
    return 0


def _first_from(places: Sequence[int], start: int) -> int:
    """The first of these places, ascending, that is not before the start."""
    return places[bisect_left(places, start)]


def first_cut(
    messages: Sequence[Message],
    possible: Sequence[int],
    keep_recent_tokens: int,
) -> tuple[int, int]:
    """The cut to try first and the last one that may be tried; at least one message goes.

    The newest prompt is not passed, unless tools answered after it: then it stays beside the
    summary.
    """
    place = find_cut_point(messages, possible, keep_recent_tokens)
    if place == 0:
        place = _first_from(possible, 1)
    newest_prompt = _newest_prompt(messages)
    if newest_prompt is None:
        return place, len(messages)
    if any(message.role == "tool" for message in messages[newest_prompt:]):
        return place, len(messages)
    return min(place, newest_prompt), newest_prompt


def _newest_prompt(messages: Sequence[Message]) -> int | None:
    """The index of the newest message of a user; an earlier summary counts as one."""
    for i in reversed(range(len(messages))):
        if messages[i].role in ("user", "summary"):
            return i
    return None


@dataclass(frozen=True, slots=True)
class Fit:
    """One possible compaction of a context.

    Attributes:
        keep: the first message behind the cut.
        removed_indices: indices of all before it but the newest user message, and of earlier
            summaries wherever they are.
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


def fitted(
    context: Context,
    budget: Budget,
    config: Config,
) -> Fit | None:
    """The first cut that leaves room for a summary; None where there is nothing to summarise.

    Where a comparison sets a size that cannot be reached, the smallest that can be.

    Raises:
        CompactionNoFit: no cut leaves room.
    """
    movable = Movable.of(context, budget)
    newest = last_user(context.messages)
    earlier = _earlier_summaries(context, movable)
    new_sizes: dict[int, int] = {}
    for i in movable.indices:
        if i not in earlier and i != newest:
            new_sizes[i] = context.sizes[i]
    if not new_sizes or movable.indices[-1] in earlier:
        return None
    candidates = _candidates(movable, budget, config, min(new_sizes))
    if not candidates:
        return None
    messages = list(context.messages)
    for i, summary in earlier.items():
        messages[i] = summary
    files = file_ops(messages)
    lists = _file_lists(context, budget, files)
    empty_summary = Summary(id="", text=lists, lead=PREFIX, tail=SUFFIX)
    frame = context.count(empty_summary)
    kept_tokens = context.tokens - tokens_of(context, earlier)
    allowed_tokens = context.tokens - 1
    if budget.target > 0:
        allowed_tokens = min(budget.target, allowed_tokens)
    freed_before = [0]
    for i in movable.indices:
        freed_before.append(freed_before[-1] + new_sizes.get(i, 0))
    for place in candidates:
        room = allowed_tokens - kept_tokens + freed_before[place]
        if room >= frame:
            break
    if room < frame:  # at the last candidate, too
        beside_tokens = kept_tokens - freed_before[place]
        room = frame + LEAST
        if not budget.matched or beside_tokens + room >= context.tokens:
            raise CompactionNoFit(
                f"{beside_tokens} tokens must stay and {allowed_tokens} are allowed: that leaves"
                " no room for a summary"
            )
    return Fit(
        keep=movable.index(place),
        removed_indices=_removed(movable, place, earlier, newest),
        files=files,
        lists=lists,
        room=room,
        body=room - frame,
    )


def _earlier_summaries(context: Context, movable: Movable) -> dict[int, Summary]:
    """The summaries among the messages that may go, by their indices."""
    earlier: dict[int, Summary] = {}
    for i in movable.indices:
        summary = recovered(context.messages[i])
        if summary is not None:
            earlier[i] = summary
    return earlier


def _file_lists(context: Context, budget: Budget, files: FileOps) -> str:
    """The file lists as text; in a comparison as far as there is room."""
    if not budget.matched:
        return listed(files)
    room = budget.room(context, spare(context))
    return listed(files, max(room, 0))


def _candidates(
    movable: Movable,
    budget: Budget,
    config: Config,
    first_new_index: int,
) -> list[int]:
    """The places to try a cut at, in this order; before each lies a message that is new."""
    keep_tokens = budget.keep_recent
    if keep_tokens is None:
        keep_tokens = config.keep_recent_tokens
    possible = places(movable.messages)
    first_place, last_place = first_cut(movable.messages, possible, movable.granted(keep_tokens))
    if first_place <= 0:
        return []
    candidates: list[int] = []
    for place in (first_place, *possible):
        if first_place <= place <= last_place and movable.indices[place - 1] >= first_new_index:
            candidates.append(place)
    return candidates


def _removed(
    movable: Movable,
    place: int,
    earlier: Collection[int],
    newest: int | None,
) -> tuple[int, ...]:
    """The indices before a place and of later summaries, without the newest user message."""
    later_summaries = [i for i in movable.indices[place:] if i in earlier]
    removed_indices = [*movable.indices[:place], *later_summaries]
    return tuple([i for i in removed_indices if i != newest])
