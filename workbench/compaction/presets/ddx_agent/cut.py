"""Where the DDx agent cuts, and which of the possible cuts leaves room for a summary."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from workbench.compaction.presets.ddx_agent.config import Config
from workbench.compaction.presets.ddx_agent.counting import ddx_tokens
from workbench.compaction.presets.ddx_agent.wording import injected, is_compaction_summary, recovered
from workbench.compaction.presets.file_lists import listed
from workbench.compaction.presets.swap import free, granted, list_chars
from workbench.compaction.stage import Budget
from workbench.compaction.tracking import file_ops
from workbench.errors import WorkbenchError
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    ToolResult,
    UserMessage,
    is_real_user,
)
from workbench.transcript.pairing import cut_points, last_user

LEAST = 128
"""Tokens that a summary gets where a comparison sets a size that cannot be reached."""


class CompactionNoFit(WorkbenchError):
    """No cut leaves room for a summary beside what must stay."""


def boundary(messages: Sequence[Message], at: int) -> int:
    """The first place at or after `at` where a kept part may begin; n if there is none, so that nothing is kept.

    It begins with no tool result and no call.
    """
    return _from(places(messages), at)


def places(messages: Sequence[Message]) -> list[int]:
    """All such places, n the last."""
    flags = cut_points(messages)
    return [*[i for i, message in enumerate(messages) if flags[i] and _begins(message)], len(messages)]


def _from(places: Sequence[int], at: int) -> int:
    return places[min(bisect_left(places, at), len(places) - 1)]


def _begins(message: Message) -> bool:
    if isinstance(message, AssistantMessage):
        return not message.calls
    return not isinstance(message, ToolResult)


def find_cut_point(messages: Sequence[Message], keep_recent_tokens: int, possible: Sequence[int] | None = None) -> int:
    """The first message to keep so that at least that many tokens stay; 0 where all is less, n for none.

    Args:
        messages: n, oldest first.
        keep_recent_tokens: as this system estimates them.
        possible: `places` of the messages, where they are known.
    """
    if not messages:
        return 0
    if keep_recent_tokens <= 0:
        return len(messages)
    total = 0
    for i in range(len(messages) - 1, -1, -1):
        total += ddx_tokens(messages[i])
        if total >= keep_recent_tokens:
            return _from(places(messages) if possible is None else possible, i)
    return 0


def first_cut(
    messages: Sequence[Message], keep_recent_tokens: int, possible: Sequence[int] | None = None
) -> tuple[int, int]:
    """The cut to try first and the last one that may be tried.

    At least one message goes. The newest prompt is not passed, unless tools answered after it: a long turn can then
    still be compacted, and the prompt itself stays beside the summary.
    """
    possible = places(messages) if possible is None else possible
    at = find_cut_point(messages, keep_recent_tokens, possible) or _from(possible, 1)
    prompts = [i for i, message in enumerate(messages) if isinstance(message, UserMessage | Summary)]
    last = prompts[-1] if prompts else -1
    if last < 0 or any(isinstance(message, ToolResult) for message in messages[last:]):
        return at, len(messages)
    return min(at, last), last


@dataclass(frozen=True, slots=True)
class Fit:
    """One possible compaction of a context.

    Attributes:
        cut: among the messages that may go.
        keep: the same among all: where the kept part begins.
        gone: indices of what gives way: all before the cut but the newest user message, and earlier summaries
            wherever they stand.
        earlier: those summaries.
        said: what is summarised.
        tail: indices of user messages among what gives way, which may be sent again.
        files: of the whole run so far.
        effective: tokens that the whole request may have.
        beside: tokens of all that stays.
        body: tokens that the model's text may have.
        chars: what the paths in the file lists may take; None for no bound.
    """

    cut: int
    keep: int
    gone: tuple[int, ...]
    earlier: tuple[Summary, ...]
    said: tuple[Message, ...]
    tail: tuple[int, ...]
    files: FileOps
    effective: int
    beside: int
    body: int
    chars: int | None = None


def fitted(context: Context, budget: Budget, config: Config) -> Fit | None:
    """The first cut that leaves room for a summary; None where there is nothing to summarise.

    Where a comparison sets a size that cannot be reached, the smallest that can be.

    Raises:
        CompactionNoFit: no cut leaves room.
    """
    indices = free(context.messages)
    said = tuple(context.messages[i] for i in indices)
    if not said or is_compaction_summary(said[-1]):
        return None
    own = config.keep_recent_tokens if budget.keep_recent is None else budget.keep_recent
    possible = places(said)
    first, last = first_cut(said, granted(context, budget, own), possible)
    every = _Cuts(context, budget, indices)
    tried = [at for at in _tries(possible, first, last) if every.something(at)]
    if not tried:
        return None
    at = next((at for at in tried if every.body(at) >= 0), None)
    if at is not None:
        return every.fit(at)
    least = every.fit(tried[-1])
    floor = least.beside + every.frame + LEAST
    if budget.reason == "matched" and floor < context.tokens:
        return replace(least, effective=floor, body=LEAST)
    raise CompactionNoFit(
        f"{least.beside} tokens must stay and {least.effective} are allowed: that leaves no room for a summary"
    )


def _tries(possible: Sequence[int], first: int, last: int) -> list[int]:
    """The first cut and all places after it, up to the last that may be tried."""
    return [] if first <= 0 else [first, *(at for at in possible if first < at <= last)]


class _Cuts:
    """What each cut of a context would leave, each found in no time."""

    def __init__(self, context: Context, budget: Budget, indices: Sequence[int]) -> None:
        self.context, self.indices = context, indices
        messages = context.messages
        self.newest = last_user(messages)
        self.summaries = {i: summary for i in indices if (summary := recovered(messages[i])) is not None}
        self.files = file_ops(self.summaries.get(i, message) for i, message in enumerate(messages))
        self.effective = min(budget.target, context.tokens - 1) if budget.target > 0 else context.tokens - 1
        self.chars = list_chars(context, budget)
        self.frame = context.count(injected(listed(self.files, self.chars)))
        stays = context.tokens - sum(context.sizes[i] for i in self.summaries)
        loose = [0 if i in self.summaries or i == self.newest else context.sizes[i] for i in indices]
        new = [i not in self.summaries and i != self.newest for i in indices]
        self.beside = [stays, *(stays - size for size in accumulate(loose))]
        self.new = [0, *accumulate(new)]

    def something(self, at: int) -> bool:
        """Whether anything new would be summarised."""
        return self.new[at] > 0

    def body(self, at: int) -> int:
        """Tokens that the model's text may have; negative where there is no room."""
        return self.effective - self.beside[at] - self.frame

    def fit(self, at: int) -> Fit:
        """The whole."""
        messages = self.context.messages
        gone = tuple(sorted({*self.indices[:at], *self.summaries} - {self.newest}))
        return Fit(
            cut=at,
            keep=self.indices[at] if at < len(self.indices) else len(messages),
            gone=gone,
            earlier=tuple(self.summaries.values()),
            said=tuple(messages[i] for i in gone if i not in self.summaries),
            tail=tuple(i for i in gone if i not in self.summaries and is_real_user(messages[i])),
            files=self.files,
            effective=self.effective,
            beside=self.beside[at],
            body=self.body(at),
            chars=self.chars,
        )
