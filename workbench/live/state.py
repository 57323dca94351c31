"""The history of an agent as it is kept and as it is sent, and what of it stands when the host
goes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, zip_longest

from workbench.engine.compaction.engine import Compaction
from workbench.engine.transcript.context import Context, OpenContext, last_user
from workbench.engine.transcript.message import (
    Json,
    Message,
    ToolResult,
    UserMessage,
    is_empty,
    is_real_user,
)
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
        compaction: Compaction,
        path: Sequence[HostMessage],
        place: Mapping[str, int],
        format: MessageFormat,
        entry: str,
    ) -> Checkpoint:
        """The state after a compaction of all of the host's messages in the path."""
        outgoing = tuple(write_messages(compaction.sent.messages, path, place, format))
        last_made = max(
            (message.at for message in outgoing if message.made and message.at is not None),
            default=-1,
        )
        usd: float | None = 0.0
        for completion in compaction.completions:
            if usd is None or completion.usd is None:
                usd = None
            else:
                usd += completion.usd
        return cls(
            len(path),
            compaction.after,
            compaction.sent,
            outgoing,
            entry,
            max(_covered(compaction, path), last_made + 1),
            usd,
        )

    def on(
        self,
        path: Sequence[HostMessage],
        old_path: Sequence[HostMessage],
        has_later_question: bool,
        format: MessageFormat,
    ) -> Checkpoint:
        """The same on a path that has fewer of the host's messages at its end, or another wording
        of the newest.

        Without a later question of a person the newest user message of the path is in it, whatever
        was left out.
        """
        same = _same_length(path, old_path)
        if self.heard <= same:
            return self
        dropped: list[Message] = []
        for host_message in old_path[same : self.heard]:
            dropped += host_message.messages
        kept_context, sent = self.kept, self.sent
        replacements = _sized_messages(path[same:])
        kept_context, sent = (
            _exchanged(context, dropped, replacements) for context in (kept_context, sent)
        )
        if not has_later_question:
            sized = _sized_messages(path)
            kept_context, sent = (
                _with_newest_user(context, sized) for context in (kept_context, sent)
            )
        place = places_of(path)
        outgoing = write_messages(sent.messages, path, place, format)
        return replace(
            self, heard=len(path), kept=kept_context, sent=sent, shown=tuple(outgoing), entry=""
        )

    def hides_result_at_end(self, path: Sequence[HostMessage]) -> bool:
        """Whether it covers the whole of a shorter path that ends with results: the agent has not
        answered these yet.
        """
        if not self.covers == len(path) < self.heard:
            return False
        return any(isinstance(message, ToolResult) for message in path[-1].messages)

    def reworded(self, old: Message, new: Message, size: int) -> Checkpoint:
        """The same with another message in the place of one."""
        kept_context = _reworded(self.kept, old, new, size)
        return replace(
            self,
            kept=kept_context,
            sent=kept_context if self.sent is self.kept else _reworded(self.sent, old, new, size),
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
        newest = checkpoints[-1]
        state = cls(
            OpenContext(newest.kept), OpenContext(newest.sent), [*newest.shown], checkpoints
        )
        state.compacted = len(newest.shown), newest.heard
        state.path = [*path[: newest.heard]]
        state.place = places_of(state.path)
        state.answers = sum(map(_answers, state.path))
        state.said = sum(sum(host_message.sizes) for host_message in state.path)
        for host_message in path[newest.heard :]:
            state.extend(host_message)
        state.heard = len(path)
        return state

    def extend(self, host_message: HostMessage) -> None:
        """Add a message of the host; it counts as heard by the caller."""
        place = len(self.path)
        if host_message.covers:
            self._cover(host_message.covers)
        self.path.append(host_message)
        self.answers += _answers(host_message)
        self.said += sum(host_message.sizes)
        for message, size in zip(host_message.messages, host_message.sizes, strict=True):
            self.place[message.id] = place
            self.kept.append(message, size)
            self.sent.append(message, size)
        self.shown.append(OutgoingMessage(host_message.object, made=False, at=place))

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
        many, first_behind = self.compacted
        outgoing = self.shown[:many]
        if not outgoing or first_behind >= len(objects):
            return outgoing, first_behind
        last_message = outgoing[-1]
        is_followed_by_own = not last_message.made and last_message.at == first_behind - 1
        if not is_followed_by_own:
            next_message = OutgoingMessage(record_of(objects[first_behind]), at=first_behind)
            joined = FORMATS[format].finished([last_message, next_message], self.path)
            if len(joined) == 1:
                return [*outgoing[:-1], *joined], first_behind + 1
        return outgoing, first_behind

    def with_system(self, place: int, renewed: HostMessage) -> State | None:
        """The same with another wording of the system prompt in this place; None where a
        compaction rewrote it.
        """
        (old,), (new,), (size,) = self.path[place].messages, renewed.messages, renewed.sizes
        kept_context, sent = self.kept.closed(), self.sent.closed()
        contexts = [kept_context, sent]
        for mark in self.checkpoints:
            contexts += (mark.kept, mark.sent)
        for context in contexts:
            index = _place(context, old.id)
            if index is not None and context.messages[index] is not old:
                return None
        return replace(
            self,
            kept=OpenContext(_reworded(kept_context, old, new, size)),
            sent=OpenContext(_reworded(sent, old, new, size)),
            checkpoints=tuple(mark.reworded(old, new, size) for mark in self.checkpoints),
            path=[*self.path[:place], renewed, *self.path[place + 1 :]],
        )

    def ends_a_turn(self) -> bool:
        """Whether the newest message is a person's, so that the turn before it is over."""
        messages = self.sent.messages
        return bool(messages) and isinstance(messages[-1], UserMessage)

    def _cover(self, covers: Covers) -> None:
        """Leave out what a compaction by the provider stands for: the provider takes no notice
        of it.
        """
        self.kept = OpenContext(_uncovered(self.kept.closed(), covers))
        self.sent = OpenContext(_uncovered(self.sent.closed(), covers))
        places = {self.place.get(message.id) for message in self.sent.messages} - {None}
        self.shown = [outgoing for outgoing in self.shown if outgoing.at in places]
        # the API drops it too, but wants a list that begins with a user's message
        if covers == "all":
            self.shown.append(OutgoingMessage({"role": "user", "content": GAP}))
        self.compacted = len(self.shown), len(self.path)


def places_of(path: Sequence[HostMessage]) -> dict[str, int]:
    """By the id of each of our messages, the index in the path of the host's that it came in."""
    places: dict[str, int] = {}
    for place, host_message in enumerate(path):
        for message in host_message.messages:
            places[message.id] = place
    return places


def _same_length(path: Sequence[HostMessage], old_path: Sequence[HostMessage]) -> int:
    """How many of the first messages of a path are those of the old one."""
    for place, (present, old) in enumerate(zip(path, old_path, strict=False)):
        if present is not old:
            return place
    return len(path)


def _sized_messages(path: Sequence[HostMessage]) -> list[tuple[Message, int]]:
    """All messages of a path, each with its tokens."""
    sized: list[tuple[Message, int]] = []
    for host_message in path:
        sized += zip(host_message.messages, host_message.sizes, strict=True)
    return sized


def _answers(host_message: HostMessage) -> int:
    return sum(message.role == "assistant" for message in host_message.messages)


def _covered(compaction: Compaction, path: Sequence[HostMessage]) -> int:
    """How many of the host's messages a compaction covers: all but those at the end that it left
    as they were.
    """
    after_messages, sent = reversed(compaction.after.messages), reversed(compaction.sent.messages)
    for count in range(len(path), 0, -1):
        for message in reversed(path[count - 1].messages):
            if next(after_messages, None) is not message or next(sent, None) is not message:
                return count
    return 0


def _place(context: Context, id: str) -> int | None:
    return next((index for index, message in enumerate(context.messages) if message.id == id), None)


def _reworded(context: Context, old: Message, new: Message, size: int) -> Context:
    index = _place(context, old.id)
    if index is None:
        return context
    messages, sizes = context.messages, context.sizes
    return replace(
        context,
        messages=(*messages[:index], new, *messages[index + 1 :]),
        sizes=(*sizes[:index], size, *sizes[index + 1 :]),
    )


def _exchanged(
    context: Context, dropped: Sequence[Message], replacements: Sequence[tuple[Message, int]]
) -> Context:
    """The context without the messages that are gone, or with those in their places; what a
    stage rewrote stays so.
    """
    exchanges = {
        old.id: (old, new) for old, new in zip_longest(dropped, replacements[: len(dropped)])
    }
    pairs = []
    for message, size in zip(context.messages, context.sizes, strict=True):
        old, new = exchanges.get(message.id, (message, (message, size)))
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
        next(
            (original_block for original_block in original.blocks if original_block == block), block
        )
        for block in message.blocks
    )
    return replace(message, blocks=blocks)  # type: ignore[arg-type]  # of the same role


def _with_newest_user(context: Context, sized: Sequence[tuple[Message, int]]) -> Context:
    """The context with the newest user message of all that was said, in its place, if it was
    left out.
    """
    newest = last_user([message for message, _ in sized])
    if newest is None or _place(context, sized[newest][0].id) is not None:
        return context
    later_ids = {message.id for message, _ in sized[newest:]}
    pairs = [*zip(context.messages, context.sizes, strict=True)]
    index = 0
    while index < len(pairs) and pairs[index][0].id not in later_ids:
        index += 1
    return _with_pairs(context, [*pairs[:index], sized[newest], *pairs[index:]])


def _with_pairs(context: Context, pairs: Sequence[tuple[Message, int]]) -> Context:
    return replace(
        context,
        messages=tuple(message for message, _ in pairs),
        sizes=tuple(size for _, size in pairs),
    )


def _uncovered(context: Context, covers: Covers) -> Context:
    pairs: list[tuple[Message, int]] = []
    for message, size in zip(context.messages, context.sizes, strict=True):
        stays = message.role == "system" or (covers == "answers" and is_real_user(message))
        if stays:
            pairs.append((message, size))
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
    outgoing: list[OutgoingMessage] = []
    for place_of_run, run in groupby(messages, key=lambda message: place.get(message.id)):
        group = tuple(run)
        if place_of_run is None:
            outgoing += [
                OutgoingMessage(new)
                for new_message in group
                if not is_empty(new_message)
                for new in writer.new(new_message)
            ]
        elif [*map(id, group)] == [*map(id, path[place_of_run].messages)]:
            host_places = range(place_of_run + 1 - path[place_of_run].span, place_of_run + 1)
            outgoing += [OutgoingMessage(path[i].object, made=False, at=i) for i in host_places]
        else:
            outgoing += [
                OutgoingMessage(record, at=place_of_run)
                for record in path[place_of_run].rewritten(group, writer.rewritten)
            ]
    return writer.finished(outgoing, path)
