"""The history of an agent as it is kept and as it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from workbench.engine.transcript.context import OpenContext
from workbench.engine.transcript.message import Json, UserMessage
from workbench.live.checkpoint import Checkpoint
from workbench.live.context_edits import index_of, uncovered, with_reworded
from workbench.live.formats.responses import seal_of
from workbench.live.formats.shape import (
    GAP,
    Covers,
    HostMessage,
    OutgoingMessage,
    record_of,
    sealed_records,
)
from workbench.live.formats.table import FORMATS, MessageFormat
from workbench.live.outgoing import places_of


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
            kept=OpenContext(newest.kept),
            sent=OpenContext(newest.sent),
            shown=list(newest.shown),
            checkpoints=checkpoints,
        )
        state.compacted = (len(newest.shown), newest.heard)
        state.path = list(path[: newest.heard])
        state.place = places_of(state.path)
        for host_message in state.path:
            state.answers += _answers(host_message)
            state.said += sum(host_message.sizes)
        for host_message in path[newest.heard :]:
            state.extend(host_message)
        state.heard = len(path)
        return state

    @property
    def heard_path(self) -> list[HostMessage]:
        """The host's messages that were heard, and are in all the others."""
        return self.path[: self.heard]

    def seals(self) -> dict[str, int]:
        """The marks of the compactions in force that only their provider can read, and where what
        they stand for begins or ends: at the host's own, or at the beginning for ours by its server.
        """
        seals: dict[str, int] = {}
        for message in self.checkpoints[-1].sent.messages:
            if message.role == "summary" and message.sealed_tokens:
                for record in sealed_records(message, "responses"):
                    seals[seal_of(record)] = 0
        for place, host_message in enumerate(self.heard_path):
            if host_message.covers:
                seals[seal_of(host_message.record)] = place
        seals.pop("", None)
        return seals

    def extend(self, host_message: HostMessage) -> None:
        """Add a message of the host; it counts as heard by the caller."""
        place = len(self.path)
        if host_message.covers:
            self._cover(host_message.covers)
        self.path.append(host_message)
        self.answers += _answers(host_message)
        self.said += sum(host_message.sizes)
        messages = host_message.messages
        for message, size in zip(messages, host_message.sizes, strict=True):
            self.place[message.id] = place
            self.kept.append(message, size)
            self.sent.append(message, size)
        outgoing = OutgoingMessage(host_message.object, made=False, at=place)
        self.shown.append(outgoing)

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
        outgoing_count, first_behind = self.compacted
        outgoing = self.shown[:outgoing_count]
        if not outgoing or first_behind >= len(objects):
            return outgoing, first_behind
        last_message = outgoing[-1]
        is_own = not last_message.made
        if is_own and last_message.at == first_behind - 1:
            return outgoing, first_behind
        next_record = record_of(objects[first_behind])
        next_message = OutgoingMessage(next_record, at=first_behind)
        ending = [last_message, next_message]
        joined = FORMATS[format].finished(ending, self.path)
        if len(joined) != 1:
            return outgoing, first_behind
        outgoing = [*outgoing[:-1], *joined]
        return outgoing, first_behind + 1

    def with_system(self, place: int, renewed: HostMessage) -> State | None:
        """The same with another wording of the system prompt in this place; None where a
        compaction rewrote it.
        """
        (old,) = self.path[place].messages
        (new,) = renewed.messages
        (size,) = renewed.sizes
        kept_context = self.kept.closed()
        sent = self.sent.closed()
        contexts = [kept_context, sent]
        for mark in self.checkpoints:
            contexts += (mark.kept, mark.sent)
        for context in contexts:
            index = index_of(context, old.id)
            if index is None:
                continue
            if context.messages[index] is not old:
                return None
        path = list(self.path)
        path[place] = renewed
        kept_context = with_reworded(kept_context, old, new, size)
        sent = with_reworded(sent, old, new, size)
        checkpoints: list[Checkpoint] = []
        for mark in self.checkpoints:
            reworded = mark.reworded(old, new, size)
            checkpoints.append(reworded)
        return replace(
            self,
            kept=OpenContext(kept_context),
            sent=OpenContext(sent),
            checkpoints=tuple(checkpoints),
            path=path,
        )

    def ends_a_turn(self) -> bool:
        """Whether the newest message is a person's, so that the turn before it is over."""
        messages = self.sent.messages
        if not messages:
            return False
        return isinstance(messages[-1], UserMessage)

    def _cover(self, covers: Covers) -> None:
        """Leave out what a compaction by the provider stands for: the provider takes no notice
        of it.
        """
        kept_context = uncovered(self.kept.closed(), covers)
        sent = uncovered(self.sent.closed(), covers)
        self.kept = OpenContext(kept_context)
        self.sent = OpenContext(sent)
        places: set[int] = set()
        for message in self.sent.messages:
            place = self.place.get(message.id)
            if place is not None:
                places.add(place)
        uncovered_messages: list[OutgoingMessage] = []
        for outgoing in self.shown:
            if outgoing.at in places:
                uncovered_messages.append(outgoing)
        # the API drops it too, but wants a list that begins with a user's message
        if covers == "all":
            user_turn = {"role": "user", "content": GAP}
            gap = OutgoingMessage(user_turn)
            uncovered_messages.append(gap)
        self.shown = uncovered_messages
        self.compacted = (len(self.shown), len(self.path))


def _answers(host_message: HostMessage) -> int:
    return sum(message.role == "assistant" for message in host_message.messages)
