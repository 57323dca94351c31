"""The history of an agent as it is kept and as it is sent, and what of it stands when the host goes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.compaction.engine import Compaction
from workbench.live.formats.shape import GAP, Covers, HostMessage, OutgoingMessage
from workbench.live.formats.table import MessageFormat
from workbench.live.message_writer import write_messages
from workbench.transcript.context import Context, OpenContext, last_user
from workbench.transcript.message import Message, is_real_user


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state just after a compaction.

    Attributes:
        heard: how many of the host's messages had been heard.
        covers: how many of them it covers: it stands as long as these are the same. It left those behind them as they
            were, in their order and with nothing new between or behind them.
        entry: its entry in the log; empty where it has none on this branch.
    """

    heard: int
    kept: Context
    sent: Context
    shown: tuple[OutgoingMessage, ...] = ()
    entry: str = ""
    covers: int = 0

    @classmethod
    def after(
        cls, done: Compaction, path: Sequence[HostMessage], place: Mapping[str, int], format: MessageFormat, entry: str
    ) -> Checkpoint:
        """The state after a compaction of all of the host's messages in the path."""
        shown = tuple(write_messages(done.sent.messages, path, place, format))
        made = max((one.at for one in shown if one.made and one.at is not None), default=-1)
        return cls(len(path), done.after, done.sent, shown, entry, max(_covered(done, path), made + 1))

    def stands(self, path: Sequence[HostMessage], heard: int) -> bool:
        """Whether it holds for so many of the host's messages: it covers no other, and has the newest user message."""
        if self.heard <= heard or self.covers > heard:
            return self.heard <= heard
        said = [message for given in path[:heard] for message in given.messages]
        newest = last_user(said)
        return newest is None or any(message.id == said[newest].id for message in self.sent.messages)

    def until(self, path: Sequence[HostMessage], heard: int) -> Checkpoint:
        """The same where only so many of the host's messages had been heard."""
        if self.heard <= heard:
            return self
        gone = sum(len(given.messages) for given in path[heard : self.heard])
        shown = len(self.shown)
        while shown and (at := self.shown[shown - 1].at) is not None and at >= heard:
            shown -= 1
        kept, sent = (_shorter(context, gone) for context in (self.kept, self.sent))
        return replace(self, heard=heard, kept=kept, sent=sent, shown=self.shown[:shown], entry="")

    def reworded(self, old: Message, new: Message, size: int) -> Checkpoint:
        """The same with another message in the place of one."""
        kept = _reworded(self.kept, old, new, size)
        return replace(self, kept=kept, sent=kept if self.sent is self.kept else _reworded(self.sent, old, new, size))


@dataclass(slots=True)
class State:
    """All that changes, in one place, so that it changes at once or not at all.

    Attributes:
        path: the host's messages, from the first one, in the line that it is on.
        place: by the id of each of our messages, the index in `path` that it came in.
        kept, sent: the history as the strategy keeps it, and as it is sent.
        shown: what is sent in the host's shape.
        heard: how many of `path` are in all the others: more only if an error interrupted an update.
        leaf: the log's entry at the end of the path.
        checkpoints: one for each compaction, behind the one that everything starts from.
        compacted: how many of `shown` come from the last compaction, and where in the path those behind them begin.
    """

    kept: OpenContext
    sent: OpenContext
    shown: list[OutgoingMessage]
    checkpoints: tuple[Checkpoint, ...]
    path: list[HostMessage] = field(default_factory=list)
    place: dict[str, int] = field(default_factory=dict)
    heard: int = 0
    leaf: str | None = None
    compacted: tuple[int, int] = (0, 0)

    @classmethod
    def at(cls, checkpoints: tuple[Checkpoint, ...], path: Sequence[HostMessage]) -> State:
        """The state after the last checkpoint and what the rest of the path added."""
        last = checkpoints[-1]
        state = cls(OpenContext(last.kept), OpenContext(last.sent), [*last.shown], checkpoints)
        state.compacted = len(last.shown), last.heard
        for at, given in enumerate(path):
            if at < last.heard:
                state.path.append(given)
                state.place.update((message.id, at) for message in given.messages)
            else:
                state.extend(given)
        state.heard = len(path)
        return state

    def extend(self, given: HostMessage) -> None:
        """Add a message of the host; it counts as heard by the caller."""
        at = len(self.path)
        if given.covers:
            self._cover(given.covers)
        self.path.append(given)
        for message, size in zip(given.messages, given.sizes, strict=True):
            self.place[message.id] = at
            self.kept.append(message, size)
            self.sent.append(message, size)
        self.shown.append(OutgoingMessage(given.object, made=False, at=at))

    def with_system(self, at: int, renewed: HostMessage) -> State | None:
        """The same with another wording of the system prompt in this place; None where a compaction rewrote it."""
        (old,), (new,), (size,) = self.path[at].messages, renewed.messages, renewed.sizes
        now = self.kept.closed(), self.sent.closed()
        contexts = [*now, *(one for mark in self.checkpoints for one in (mark.kept, mark.sent))]
        places = [(one, _place(one, old.id)) for one in contexts]
        if any(at is not None and one.messages[at] is not old for one, at in places):
            return None
        marks = tuple(mark.reworded(old, new, size) for mark in self.checkpoints)
        kept, sent = (OpenContext(_reworded(one, old, new, size)) for one in now)
        return replace(
            self, kept=kept, sent=sent, checkpoints=marks, path=[*self.path[:at], renewed, *self.path[at + 1 :]]
        )

    def _cover(self, covers: Covers) -> None:
        """Leave out what a compaction by the provider stands for: the provider takes no notice of it."""
        self.kept, self.sent = (OpenContext(_uncovered(one.closed(), covers)) for one in (self.kept, self.sent))
        stays = {self.place[message.id] for message in self.sent.messages if message.id in self.place}
        self.shown = [one for one in self.shown if one.at in stays]
        if covers == "all":  # the API drops it too, but wants a list that begins with a user's message
            self.shown.append(OutgoingMessage({"role": "user", "content": GAP}))
        self.compacted = len(self.shown), len(self.path)


def _covered(done: Compaction, path: Sequence[HostMessage]) -> int:
    """How many of the host's messages a compaction covers: all but those at the end that it left as they were."""
    said = [(message, at) for at, given in enumerate(path) for message in given.messages]
    untouched = min(_same_at_end(said, done.after.messages), _same_at_end(said, done.sent.messages))
    return said[-untouched - 1][1] + 1 if untouched < len(said) else 0


def _same_at_end(said: Sequence[tuple[Message, int]], messages: Sequence[Message]) -> int:
    pairs = zip(reversed(said), reversed(messages), strict=False)
    return next((n for n, ((one, _), other) in enumerate(pairs) if one is not other), min(len(said), len(messages)))


def _place(context: Context, id: str) -> int | None:
    return next((at for at, one in enumerate(context.messages) if one.id == id), None)


def _reworded(context: Context, old: Message, new: Message, size: int) -> Context:
    at = _place(context, old.id)
    if at is None:
        return context
    messages, sizes = context.messages, context.sizes
    return replace(
        context, messages=(*messages[:at], new, *messages[at + 1 :]), sizes=(*sizes[:at], size, *sizes[at + 1 :])
    )


def _shorter(context: Context, gone: int) -> Context:
    end = len(context.messages) - gone
    return replace(context, messages=context.messages[:end], sizes=context.sizes[:end])


def _uncovered(context: Context, covers: Covers) -> Context:
    pairs = [
        (message, size)
        for message, size in zip(context.messages, context.sizes, strict=True)
        if message.role == "system" or (covers == "answers" and is_real_user(message))
    ]
    return Context(tuple(m for m, _ in pairs), tuple(n for _, n in pairs), 0, context.count, context.archive)


def longer(context: Context, messages: Sequence[Message]) -> Context:
    """The context with these messages behind it, whose size does not matter."""
    sizes = context.sizes + (0,) * len(messages)
    return Context(context.messages + tuple(messages), sizes, context.overhead, context.count)
