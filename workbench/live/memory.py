"""What an agent said so far, whole, and the same as it is kept and as it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from workbench.compaction.engine import Compaction
from workbench.compaction.guard import violations
from workbench.live.formats.shape import GAP, Covers, HostMessage, OutgoingMessage
from workbench.live.message_reader import MessageReader
from workbench.live.message_writer import write_messages
from workbench.transcript.context import Context, OpenContext
from workbench.transcript.log import CompactionEntry, Log, MessageEntry
from workbench.transcript.message import Json, Message, UserMessage, is_real_user


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state just after a compaction, when so many of the host's messages had been heard; `entry` is in the log."""

    heard: int
    kept: Context
    sent: Context
    shown: tuple[OutgoingMessage, ...] = ()
    entry: str = ""


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
    """

    kept: OpenContext
    sent: OpenContext
    shown: list[OutgoingMessage]
    checkpoints: tuple[Checkpoint, ...]
    path: list[HostMessage] = field(default_factory=list)
    place: dict[str, int] = field(default_factory=dict)
    heard: int = 0
    leaf: str | None = None

    @classmethod
    def at(cls, checkpoints: tuple[Checkpoint, ...], path: Sequence[HostMessage]) -> State:
        """The state after the last checkpoint and what the rest of the path added."""
        last = checkpoints[-1]
        state = cls(OpenContext(last.kept), OpenContext(last.sent), [*last.shown], checkpoints)
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

    def _cover(self, covers: Covers) -> None:
        """Leave out what a compaction by the provider stands for: the provider takes no notice of it."""
        self.kept, self.sent = (OpenContext(_uncovered(one.closed(), covers)) for one in (self.kept, self.sent))
        stays = {self.place[message.id] for message in self.sent.messages if message.id in self.place}
        self.shown = [one for one in self.shown if one.at in stays]
        if covers == "all":  # the API drops it too, but wants a list that begins with a user's message
            self.shown.append(OutgoingMessage({"role": "user", "content": GAP}))


class Memory:
    """The log of everything that was ever heard, and the state that follows from it.

    Attributes:
        log: only ever grows; going back starts a branch.
        version: changes when something is compacted or taken back, not when something is added.
        archive: full texts that stages took out, by reference.
    """

    def __init__(self, reader: MessageReader) -> None:
        self.reader = reader
        self.log = Log()
        self.version = 0
        self.archive: dict[str, str] = {}
        empty = Context((), (), 0, reader.count)
        self.state = State.at((Checkpoint(0, empty, empty),), ())
        self._expected: list[Json] = []
        self._returned: list[Json] = []
        self._broken = False

    def hear(self, messages: Sequence[Json]) -> int | None:
        """Take in what the host's list has more than before, or than the list that was last returned.

        Where it continues neither, the host went back: what is no longer in it stays on a branch of the log.

        Returns:
            How many of the host's messages are still the same, where it went back; else None.
        """
        given = list(messages)
        start = self._known(given)
        back = start is None
        if start is None:
            start = self._same(given)
            self.version += 1
            self._go_back(start)
        self._broken = True
        self._expected = given[:start]
        for entry in self.reader.read(given, start, self.state.path[-1] if self.state.path else None):
            self._add(entry)
            self._expected.append(entry.object)
        self._broken = False
        return start if back else None

    def messages(self) -> list[Json]:
        """A new list of the messages to send: the host's own objects, and copies of new ones."""
        self._returned = [deepcopy(one.object) if one.made else one.object for one in self.state.shown]
        return list(self._returned)

    def original(self) -> list[Json]:
        """Copies of the host's messages, from the first one, whatever was compacted."""
        return [deepcopy(dict(one.record)) for one in self.state.path]

    def take(self, done: Compaction, heard: int, version: int) -> str:
        """Put a compaction in place, and behind it what was heard while it ran.

        Args:
            done: what became of the history.
            heard: how many of the host's messages had been heard when it started.
            version: of the history then.

        Returns:
            Why it was not put in place; empty if it was.
        """
        if self.version != version:
            return "the history was compacted or taken back meanwhile"
        now = self.state
        late = [message for given in now.path[heard : now.heard] for message in given.messages]
        if late and violations(*(_longer(context, late) for context in (done.before, done.after))):
            return "what was said meanwhile does not fit behind it"
        format = self.reader.present_format
        shown = tuple(write_messages(done.sent.messages, now.path[:heard], now.place, format))
        mark = Checkpoint(heard, done.after, done.sent, shown, f"compaction-{len(self.log) + 1}")
        self.archive.update(done.sent.archive)
        summaries = [message for message in done.sent.messages if message.role == "summary"]
        self.reader.written.update((one.lead + one.text + one.tail, one) for one in summaries)
        self.version += 1
        state = State.at((*now.checkpoints, mark), now.path[: now.heard])
        state.leaf = now.leaf
        self.state = state
        self._note(done, mark.entry)
        return ""

    def ends_a_turn(self) -> bool:
        """Whether the newest message is a person's, so that the turn before it is over."""
        messages = self.state.sent.messages
        return bool(messages) and isinstance(messages[-1], UserMessage)

    def in_turn(self) -> bool:
        """Whether the model has still to answer: the newest message is a person's, a result, or asks for one."""
        newest = self.state.sent.messages[-1:]
        return any(one.role in ("user", "tool") or (one.role == "assistant" and bool(one.calls)) for one in newest)

    def _add(self, given: HostMessage) -> None:
        state = self.state
        leaf = state.leaf
        for message in given.messages:
            self.log.append(MessageEntry(id=message.id, parent=leaf, message=message))
            leaf = message.id
        before = state.kept.tokens
        state.extend(given)
        if given.covers:
            leaf = self._note_native(leaf, before)
        state.leaf, state.heard = leaf, len(state.path)

    def _note_native(self, leaf: str | None, before: int) -> str:
        """Write down in the log that the provider compacted."""
        kept = self.state.kept
        entry = CompactionEntry(
            id=f"compaction-{len(self.log) + 1}", parent=leaf, kept=tuple(one.id for one in kept.messages),
            tokens_before=before, tokens_after=kept.tokens, reason="by the provider",
        )  # fmt: skip
        self.log.append(entry)
        self.version += 1
        return entry.id

    def _known(self, given: list[Json]) -> int | None:
        """How many of these were heard before; None where they do not go on from what was."""
        if self._broken:
            return None
        for known in (self._expected, self._returned):
            if (known or not self._expected) and given[: len(known)] == known:
                return len(known)
        return None

    def _same(self, given: Sequence[Json]) -> int:
        """How many of the host's messages are still the same; never a piece of an answer whose rest is gone."""
        path = self.state.path[: self.state.heard]
        pairs = enumerate(zip(path, given, strict=False))
        changed = (at for at, (one, other) in pairs if one.object is not other and one.object != other)
        same = next(changed, min(len(path), len(given)))
        while same and not path[same - 1].messages:
            same -= 1
        return same

    def _go_back(self, heard: int) -> None:
        """Go back to the first so many of the host's messages; compactions of later ones are undone."""
        path = self.state.path[:heard]
        marks = tuple(mark for mark in self.state.checkpoints if mark.heard <= heard)
        state = State.at(marks, path)
        state.leaf = path[-1].messages[-1].id if path else None
        if marks[-1].heard == heard and marks[-1].entry in self.log:
            state.leaf = marks[-1].entry
        self.state = state
        self.log.leaf = state.leaf

    def _note(self, done: Compaction, id: str) -> None:
        """Write the compaction down in the log."""
        summaries = [one for one in done.after.messages if one.role == "summary"]
        path = {message.id for message in done.before.messages}
        entry = CompactionEntry(
            id=id, parent=self.state.leaf, summary=summaries[-1] if summaries else None,
            kept=tuple(one.id for one in done.after.messages if one.id in path), tokens_before=done.before.tokens,
            tokens_after=done.after.tokens, reason=done.budget.reason,
        )  # fmt: skip
        self.log.append(entry)
        self.state.leaf = entry.id


def _uncovered(context: Context, covers: Covers) -> Context:
    pairs = [
        (message, size)
        for message, size in zip(context.messages, context.sizes, strict=True)
        if message.role == "system" or (covers == "answers" and is_real_user(message))
    ]
    return Context(tuple(m for m, _ in pairs), tuple(n for _, n in pairs), 0, context.count, context.archive)


def _longer(context: Context, messages: Sequence[Message]) -> Context:
    sizes = context.sizes + (0,) * len(messages)
    return Context(context.messages + tuple(messages), sizes, context.overhead, context.count)
