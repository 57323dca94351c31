"""One compaction as a peer would see it, and what became of each message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench import Compaction, SummaryRequest, Text
from workbench.engine.transcript.context import callers, last_user
from workbench.engine.transcript.message import Message, TokenCounter, ToolResult


@dataclass(frozen=True)
class Decision:
    """What a compaction does to the messages.

    Attributes:
        whole: ids of those that stay word for word.
        rewritten: ids of those that stay and say less.
        split: whether the start of a turn is summarised apart; None where the peer knows no such
            thing.
        asked: whether a model is asked; None where that is not compared.
    """

    whole: frozenset[str]
    rewritten: frozenset[str] = frozenset()
    split: bool | None = None
    asked: bool | None = None

    def like(self, other: Decision) -> Decision:
        """This one, of which is left out what the other says nothing about."""
        split, asked = (
            (None if other.split is None else self.split),
            (None if other.asked is None else self.asked),
        )
        return Decision(self.whole, self.rewritten, split, asked)


@dataclass(frozen=True)
class Case:
    """What was there before a compaction, without the pinned messages, which a peer never has in
    its history.

    Attributes:
        sizes: tokens of each message as the preset counted them.
        half: half of the room that the target leaves: what our presets give newest messages at
            most.
        tokens, target, window: of the whole request.
        reason: why it was due.
        pruned: whether the compaction asked no model.
        answer: tokens that its requests allow together.
        places: of each message in the whole context, which has `length` messages.
        count: the counter of the sizes.
    """

    messages: tuple[Message, ...]
    sizes: tuple[int, ...]
    half: int
    tokens: int
    target: int
    window: int
    reason: str
    pruned: bool
    answer: int
    places: tuple[int, ...]
    length: int
    count: TokenCounter

    @classmethod
    def of(cls, done: Compaction, requests: Iterable[SummaryRequest]) -> Case:
        """That of a compaction that made these requests."""
        before = done.before
        own = [i for i, message in enumerate(before.messages) if not message.pinned]
        room = max(done.budget.room(before, own), 0)
        return cls(
            tuple(before.messages[i] for i in own),
            tuple(before.sizes[i] for i in own),
            int(0.5 * room),
            before.tokens,
            done.budget.target,
            done.budget.window,
            done.budget.reason,
            not done.completions,
            sum(request.max_tokens or 0 for request in requests),
            tuple(own),
            len(before.messages),
            before.count,
        )

    @property
    def start(self) -> int:
        """Where the newest summary ends."""
        return next(
            (
                i + 1
                for i in reversed(range(len(self.messages)))
                if self.messages[i].role == "summary"
            ),
            0,
        )

    def ids(self, indices: Iterable[int]) -> frozenset[str]:
        """The ids of messages that are no summaries."""
        return frozenset(self.messages[i].id for i in indices if self.messages[i].role != "summary")

    @property
    def newest(self) -> frozenset[str]:
        """The newest message that a person wrote, if there is one."""
        at = last_user(self.messages)
        return frozenset() if at is None else self.ids([at])

    def size(self, marker: str) -> int:
        """Tokens of a result that says only this."""
        return self.count(ToolResult(id="", call_id="", blocks=(Text(marker),)))

    def unparted(self, at: int) -> int:
        """The first place from this one on where no call lies before it and its result behind."""
        caller_of = callers(self.messages)
        while any(caller < at <= i for i, caller in caller_of.items()):
            at += 1
        return at


def ours(case: Case, done: Compaction, requests: Iterable[SummaryRequest]) -> Decision:
    """What our preset did."""
    after = {message.id: message for message in done.after.messages}
    there = [i for i, message in enumerate(case.messages) if message.id in after]
    whole = [i for i in there if after[case.messages[i].id] == case.messages[i]]
    purposes = [request.purpose for request in requests]
    return Decision(
        case.ids(whole),
        case.ids(there) - case.ids(whole),
        "turn_prefix" in purposes,
        asked=bool(purposes),
    )
