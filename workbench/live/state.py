"""The history of an agent as it is kept and as it is sent, and what of it stands when the host
goes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, groupby, zip_longest

from workbench.engine.compaction.engine import Compaction
from workbench.engine.transcript.context import Context, OpenContext, last_user
from workbench.engine.transcript.message import Json, Message, UserMessage, is_empty, is_real_user
from workbench.live.formats.shape import GAP, Covers, HostMessage, OutgoingMessage, record_of
from workbench.live.formats.table import FORMATS, MessageFormat


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state just after a compaction.

    Attributes:
        heard: how many of the host's messages had been heard.
        covers: how many of them it covers: it stands as long as these are the same. It left those
            behind them as they were, in their order and with nothing new between or behind them.
        usd: what its summaries cost; None if unknown.
        entry: its entry in the log; empty where it has none on this branch.
    """

    heard: int
    kept: Context
    sent: Context
    shown: tuple[OutgoingMessage, ...] = ()
    entry: str = ""
    covers: int = 0
    usd: float | None = 0.0

    @classmethod
    def after(
        cls,
        done: Compaction,
        path: Sequence[HostMessage],
        place: Mapping[str, int],
        format: MessageFormat,
        entry: str,
    ) -> Checkpoint:
        """The state after a compaction of all of the host's messages in the path."""
        shown = tuple(write_messages(done.sent.messages, path, place, format))
        made = max((one.at for one in shown if one.made and one.at is not None), default=-1)
        usd: float | None = 0.0
        for completion in done.completions:
            if usd is None or completion.usd is None:
                usd = None
            else:
                usd += completion.usd
        return cls(
            len(path), done.after, done.sent, shown, entry, max(_covered(done, path), made + 1), usd
        )

    def on(
        self,
        path: Sequence[HostMessage],
        was: Sequence[HostMessage],
        asked: bool,
        format: MessageFormat,
    ) -> Checkpoint:
        """The same on a path that has fewer of the host's messages at its end, or another wording
        of the newest.

        Where a person `asked` nothing later, the newest user message of the path is in it, whatever
        was left out.
        """
        same = next(
            (
                at
                for at, (one, other) in enumerate(zip(path, was, strict=False))
                if one is not other
            ),
            len(path),
        )
        if self.heard <= same:
            return self
        gone = [message for given in was[same : self.heard] for message in given.messages]
        said = [pair for given in path for pair in zip(given.messages, given.sizes, strict=True)]
        now = said[len(said) - sum(len(given.messages) for given in path[same:]) :]
        kept, sent = (_exchanged(context, gone, now) for context in (self.kept, self.sent))
        if not asked:
            kept, sent = (_with_newest_user(context, said) for context in (kept, sent))
        place = {message.id: at for at, given in enumerate(path) for message in given.messages}
        shown = write_messages(sent.messages, path, place, format)
        return replace(self, heard=len(path), kept=kept, sent=sent, shown=tuple(shown), entry="")

    def reworded(self, old: Message, new: Message, size: int) -> Checkpoint:
        """The same with another message in the place of one."""
        kept = _reworded(self.kept, old, new, size)
        return replace(
            self,
            kept=kept,
            sent=kept if self.sent is self.kept else _reworded(self.sent, old, new, size),
        )


@dataclass(slots=True)
class State:
    """All that changes, in one place, so that it changes at once or not at all.

    Attributes:
        path: the host's messages, from the first one, in the line that it is on.
        place: by the id of each of our messages, the index in `path` that it came in.
        kept, sent: the history as the strategy keeps it, and as it is sent.
        shown: what is sent in the host's shape.
        heard: how many of `path` are in all the others: more only if an error interrupted an
            update.
        leaf: the log's entry at the end of the path.
        checkpoints: one for each compaction, behind the one that everything starts from.
        answers, said: how many of its messages are answers, and the tokens of all, by the
            compactor's count.
        compacted: how many of `shown` come from the last compaction, and where in the path those
            behind them begin.
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
    answers: int = 0
    said: int = 0

    @classmethod
    def at(cls, checkpoints: tuple[Checkpoint, ...], path: Sequence[HostMessage]) -> State:
        """The state after the last checkpoint and what the rest of the path added."""
        last = checkpoints[-1]
        state = cls(OpenContext(last.kept), OpenContext(last.sent), [*last.shown], checkpoints)
        state.compacted = len(last.shown), last.heard
        state.path = [*path[: last.heard]]
        state.place = {
            message.id: at for at, given in enumerate(state.path) for message in given.messages
        }
        state.answers = sum(map(_answers, state.path))
        state.said = sum(sum(given.sizes) for given in state.path)
        for given in path[last.heard :]:
            state.extend(given)
        state.heard = len(path)
        return state

    def extend(self, given: HostMessage) -> None:
        """Add a message of the host; it counts as heard by the caller."""
        at = len(self.path)
        if given.covers:
            self._cover(given.covers)
        self.path.append(given)
        self.answers += _answers(given)
        self.said += sum(given.sizes)
        for message, size in zip(given.messages, given.sizes, strict=True):
            self.place[message.id] = at
            self.kept.append(message, size)
            self.sent.append(message, size)
        self.shown.append(OutgoingMessage(given.object, made=False, at=at))

    def of_compaction(
        self, objects: Sequence[Json], format: MessageFormat
    ) -> tuple[list[OutgoingMessage], int]:
        """What is sent of the last compaction, and where in the path the messages behind it begin.

        Where an API wants what it ends with and what the host says next in one message, they are
        one. What the host itself put behind each other stays so.

        Args:
            objects: the host's messages as it has them now, from the first one.
            format: of them.
        """
        many, own = self.compacted
        shown = self.shown[:many]
        if shown and own < len(objects) and (shown[-1].made or shown[-1].at != own - 1):
            pair = [shown[-1], OutgoingMessage(record_of(objects[own]), at=own)]
            joined = FORMATS[format].finished(pair, self.path)
            if len(joined) == 1:
                return [*shown[:-1], *joined], own + 1
        return shown, own

    def with_system(self, at: int, renewed: HostMessage) -> State | None:
        """The same with another wording of the system prompt in this place; None where a
        compaction rewrote it.
        """
        (old,), (new,), (size,) = self.path[at].messages, renewed.messages, renewed.sizes
        now = self.kept.closed(), self.sent.closed()
        contexts = [*now, *(one for mark in self.checkpoints for one in (mark.kept, mark.sent))]
        places = [(one, _place(one, old.id)) for one in contexts]
        if any(at is not None and one.messages[at] is not old for one, at in places):
            return None
        marks = tuple(mark.reworded(old, new, size) for mark in self.checkpoints)
        kept, sent = (OpenContext(_reworded(one, old, new, size)) for one in now)
        return replace(
            self,
            kept=kept,
            sent=sent,
            checkpoints=marks,
            path=[*self.path[:at], renewed, *self.path[at + 1 :]],
        )

    def ends_a_turn(self) -> bool:
        """Whether the newest message is a person's, so that the turn before it is over."""
        messages = self.sent.messages
        return bool(messages) and isinstance(messages[-1], UserMessage)

    def _cover(self, covers: Covers) -> None:
        """Leave out what a compaction by the provider stands for: the provider takes no notice
        of it.
        """
        self.kept, self.sent = (
            OpenContext(_uncovered(one.closed(), covers)) for one in (self.kept, self.sent)
        )
        stays = {
            self.place[message.id] for message in self.sent.messages if message.id in self.place
        }
        self.shown = [one for one in self.shown if one.at in stays]
        # the API drops it too, but wants a list that begins with a user's message
        if covers == "all":
            self.shown.append(OutgoingMessage({"role": "user", "content": GAP}))
        self.compacted = len(self.shown), len(self.path)


def _answers(given: HostMessage) -> int:
    return sum(message.role == "assistant" for message in given.messages)


def _covered(done: Compaction, path: Sequence[HostMessage]) -> int:
    """How many of the host's messages a compaction covers: all but those at the end that it left
    as they were.
    """
    after, sent = reversed(done.after.messages), reversed(done.sent.messages)
    for at in range(len(path), 0, -1):
        for message in reversed(path[at - 1].messages):
            if next(after, None) is not message or next(sent, None) is not message:
                return at
    return 0


def _place(context: Context, id: str) -> int | None:
    return next((at for at, one in enumerate(context.messages) if one.id == id), None)


def _reworded(context: Context, old: Message, new: Message, size: int) -> Context:
    at = _place(context, old.id)
    if at is None:
        return context
    messages, sizes = context.messages, context.sizes
    return replace(
        context,
        messages=(*messages[:at], new, *messages[at + 1 :]),
        sizes=(*sizes[:at], size, *sizes[at + 1 :]),
    )


def _exchanged(
    context: Context, gone: Sequence[Message], now: Sequence[tuple[Message, int]]
) -> Context:
    """The context without the messages that are gone, or with those in their places; what a
    stage rewrote stays so.
    """
    found = {old.id: (old, new) for old, new in zip_longest(gone, now[: len(gone)])}
    pairs = []
    for message, size in zip(context.messages, context.sizes, strict=True):
        old, new = found.get(message.id, (message, (message, size)))
        if new is not None:
            pairs.append(
                new if message is old else (replace(rejoined(message, new[0]), id=new[0].id), size)
            )
    return _with_pairs(context, pairs)


def rejoined(message: Message, original: Message | None) -> Message:
    """A rewritten message with the very blocks that it has from the original: they know the
    host's parts.
    """
    if original is None or message.role == "summary" or original.role != message.role:
        return message
    blocks = tuple(
        next((own for own in original.blocks if own == block), block) for block in message.blocks
    )
    return replace(message, blocks=blocks)  # type: ignore[arg-type]  # of the same role


def _with_newest_user(context: Context, said: Sequence[tuple[Message, int]]) -> Context:
    """The context with the newest user message of all that was said, in its place, if it was
    left out.
    """
    newest = last_user([message for message, _ in said])
    if newest is None or _place(context, said[newest][0].id) is not None:
        return context
    later = {message.id for message, _ in said[newest:]}
    at = next(
        (at for at, one in enumerate(context.messages) if one.id in later), len(context.messages)
    )
    pairs = [*zip(context.messages, context.sizes, strict=True)]
    return _with_pairs(context, [*pairs[:at], said[newest], *pairs[at:]])


def _with_pairs(context: Context, pairs: Sequence[tuple[Message, int]]) -> Context:
    return replace(
        context, messages=tuple(one for one, _ in pairs), sizes=tuple(size for _, size in pairs)
    )


def _uncovered(context: Context, covers: Covers) -> Context:
    stays = [
        one.role == "system" or (covers == "answers" and is_real_user(one))
        for one in context.messages
    ]
    pairs = [*compress(zip(context.messages, context.sizes, strict=True), stays)]
    return replace(_with_pairs(context, pairs), overhead=0)


def longer(context: Context, messages: Sequence[Message]) -> Context:
    """The context with these messages behind it, whose size does not matter."""
    sizes = context.sizes + (0,) * len(messages)
    return Context(context.messages + tuple(messages), sizes, context.overhead, context.count)


def write_messages(
    messages: Sequence[Message],
    path: Sequence[HostMessage],
    place: Mapping[str, int],
    format: MessageFormat,
) -> list[OutgoingMessage]:
    """The messages in the host's format; new ones in `format`.

    `place` has, by the id of each of our messages, the index in `path` of the host's entry that it
    came in.
    """
    writer = FORMATS[format]
    shown: list[OutgoingMessage] = []
    for at, run in groupby(messages, key=lambda message: place.get(message.id)):
        group = tuple(run)
        if at is None:
            shown += [
                OutgoingMessage(new)
                for one in group
                if not is_empty(one)
                for new in writer.new(one)
            ]
        elif [*map(id, group)] == [*map(id, path[at].messages)]:
            own = range(at + 1 - path[at].span, at + 1)
            shown += [OutgoingMessage(path[i].object, made=False, at=i) for i in own]
        else:
            shown += [
                OutgoingMessage(record, at=at)
                for record in path[at].rewritten(group, writer.rewritten)
            ]
    return writer.finished(shown, path)
