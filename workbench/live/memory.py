"""What an agent said so far, whole, and the same as it is kept and as it is sent."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

from workbench.engine.compaction.engine import Compaction
from workbench.engine.compaction.guard import violations
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.log import CompactionEntry, Log, MessageEntry
from workbench.engine.transcript.message import Json, Text, UserMessage, is_real_user
from workbench.live.copies import Copies
from workbench.live.covered_prefix import first_uncovered
from workbench.live.formats.canonical import key
from workbench.live.formats.shape import HostMessage, OutgoingMessage, is_system, record_of
from workbench.live.formats.table import FORMATS
from workbench.live.identity import Additions, HostList, common, markers, remarked, text_of
from workbench.live.message_reader import MessageReader, listed
from workbench.live.state import Checkpoint, State, longer


class Memory:
    """The log of everything that was ever heard, and the state that follows from it.

    Attributes:
        log: only ever grows; going back starts a branch.
        version: changes when something is compacted or taken back, not when something is added.
        archive: full texts that stages took out, by reference.
        additions: what the host adds to the end of each request; it is sent and counted, and no
            part of the history.
        added: tokens of the present addition.
    """

    def __init__(self, reader: MessageReader) -> None:
        self.reader = reader
        self.log = Log()
        self.version = 0
        self.archive: dict[str, str] = {}
        empty = Context((), (), 0, reader.count)
        self.state = State.at((Checkpoint(0, empty, empty),), ())
        self.additions = Additions()
        self.added = 0
        self.own = HostList()  # the path, with the host's objects as it has them now
        # the list that it passed last, if another, and that it got
        self.given, self.returned = HostList(), HostList()
        self._copies = Copies()
        self._behind: list[Json] = []
        self._inside = ""
        self._broken = False

    def hear(self, messages: Sequence[Json]) -> int | None:
        """Take in what the host's list has more than before, or than the list that was last
        returned.

        Where it continues neither, the host went back: what is no longer in it stays on a branch of
        the log. A compaction stands as long as the messages that it covers are the same.

        Returns:
            How many of the host's messages are still the same, where it went back; None where it
                went on, or where
            only what it adds to each request is gone.
        """
        messages = listed(messages)
        objects, said = self._parted(messages)
        self._renew_system(said)
        line, same, heard, reworded = self._found(said)
        start = self._first_uncovered(said, heard)
        if start is not None:
            covered = self.state.checkpoints[-1].covers
            objects = [*self.own.objects[:covered], *objects[start:]]
            said = [*self.own.objects[:covered], *said[start:]]
            messages = objects
            line, same, heard, reworded = self._found(said)
        if heard < self.state.heard:
            self._learn_head(heard, said, same)
        lost = None
        if same < len(messages) and heard == self.state.heard - 1:
            lost = self.additions.learn(self.state.path[heard].record, messages[same])
            objects, said = self._parted(messages)
        new = [*self.reader.read(said, same, self.state.path[:heard])]
        back, stood = self._broken or heard < self.state.heard, len(self.state.checkpoints)
        if back:
            self.version += 1
            shorter = new[:1] if lost else []
            self._go_back(heard, new, shorter)
            same, heard, new = same + len(shorter), heard + len(shorter), new[len(shorter) :]
        self._broken = True
        self._copies.reworded.update(line.places[i] for i in reworded)
        self._renew(line, objects[:same], heard, back)
        for object, entry in zip(objects[same:], new, strict=True):
            self._add(entry, object)
        self._broken = False
        return heard if back and (lost is None or stood != len(self.state.checkpoints)) else None

    def messages(self) -> list[Json]:
        """A new list of the messages to send: the host's own objects as it has them now, and
        copies of new ones.
        """
        shown, own = self.state.of_compaction(self.own.objects, self.reader.present_format)
        objects = self._copies.of(shown, self.own.objects)
        places = [*self._copies.places, *self.own.places[own:]]
        self.returned = HostList([*objects, *self.own.objects[own:]], places)
        objects = self._with_addition(self.returned.objects)
        if self._behind and objects and objects[-1] is not self.own.objects[-1]:
            pair = [OutgoingMessage(one) for one in (objects[-1], *self._behind)]
            joined = FORMATS[self.reader.present_format].finished(pair, self.state.path)
            if len(joined) == 1:
                return [*objects[:-1], joined[0].object]
        return [*objects, *self._behind]

    def _with_addition(self, objects: list[Json]) -> list[Json]:
        """With the addition to the newest message behind all, where that message is not sent as
        it is.
        """
        newest = len(self.state.path) - 1
        if not self._inside or any(not one.made and one.at == newest for one in self.state.shown):
            return objects
        format = FORMATS[self.reader.present_format]
        own = map(
            OutgoingMessage, format.new(UserMessage(id="", blocks=(Text(self._inside.strip()),)))
        )
        return [*map(self._current, format.finished([*self.state.shown, *own], self.state.path))]

    def given_list(self) -> list[Json]:
        """The host's messages as it has them now, to be heard again."""
        return [*self.own.objects, *self._behind]

    def original(self) -> list[Json]:
        """Copies of the host's messages, from the first one, whatever was compacted."""
        pairs = zip(self.state.path, self.own.objects, strict=False)
        return [
            deepcopy(dict(one.record)) if one.object is now else record_of(now)
            for one, now in pairs
        ]

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
        if late and violations(*(longer(context, late) for context in (done.before, done.after))):
            return "what was said meanwhile does not fit behind it"
        mark = Checkpoint.after(
            done, now.path[:heard], now.place, self.reader.present_format, self._entry_id()
        )
        self.archive.update(done.sent.archive)
        summaries = [message for message in done.sent.messages if message.role == "summary"]
        self.reader.written.update((one.lead + one.text + one.tail, one) for one in summaries)
        self.version += 1
        state = State.at((*now.checkpoints, mark), now.path[: now.heard])
        state.leaf = now.leaf
        self.state = state
        self._note(done, mark.entry)
        return ""

    def _parted(self, messages: Sequence[Json]) -> tuple[list[Json], list[Json]]:
        """The host's messages without an addition behind them; and the same without one in the
        last of them.
        """
        objects = list(messages)
        self._behind = (
            [objects.pop()] if len(objects) > 1 and self.additions.is_behind(objects[-1]) else []
        )
        shorter, self._inside = self.additions.split(objects[-1]) if objects else (None, "")
        text = self._inside + "".join(text_of(one) or "" for one in self._behind)
        self.added = self.reader.count(UserMessage(id="", blocks=(Text(text),))) if text else 0
        return objects, [*objects[:-1], shorter] if self._inside else objects

    def _found(self, said: list[Json]) -> tuple[HostList, int, int, list[int]]:
        """The list that these go on from.

        And how many of them are in it, how many of the host's messages in the path, and which were
        put in another form.
        """
        if self._broken:
            path = self.state.path[: self.state.heard]
            self.own = HostList([one.object for one in path], [*range(len(path))])
            self.given, self.returned, self._copies = HostList(), HostList(), Copies()
        best: tuple[HostList, int, int, list[int]] = self.own, 0, 0, []
        for line in (self.own, self.given, self.returned):
            same, reworded = self._same(line, said)
            whole = same == len(line.objects)
            if whole and (same or not self.own.objects) and (line is self.own or same > best[1]):
                return line, same, self.state.heard, reworded
            heard = line.heard(same)
            while heard and not self.state.path[heard - 1].messages:
                heard, same = heard - 1, same - 1  # a piece of an answer whose rest is gone
            if heard and same > best[1]:
                best = line, same, heard, reworded
        return best

    def _first_uncovered(self, said: list[Json], heard: int) -> int | None:
        """Where the part begins of a list that goes back which no compaction covers; None where
        the rest must count.
        """
        covered = self.state.checkpoints[-1].covers
        only_newest = heard == self.state.heard - 1
        if self._broken or only_newest or heard >= covered:
            return None
        return first_uncovered(
            self.state.path[: self.state.heard], covered, said, self.additions.is_head
        )

    def _learn_head(self, heard: int, said: list[Json], same: int) -> None:
        """Learn a first message that is another one now, where the message behind it is the
        same.
        """
        path = self.state.path[: self.state.heard]
        is_first = all(is_system(entry.record) for entry in path[:heard])
        if (
            is_first
            and heard + 1 < len(path)
            and same + 1 < len(said)
            and path[heard + 1].says(said[same + 1])
        ):
            self.additions.learn_head(path[heard].record, said[same])

    def _renew_system(self, said: list[Json]) -> None:
        """Take the host's present system prompt for the one that was read, unless a compaction
        rewrote that.

        So it is with a first message that the host is known to render anew with each request.
        """
        for at, (known, now) in enumerate(
            zip(self.state.path[: self.state.heard], said, strict=False)
        ):
            is_prompt = is_system(known.record) and is_system(now)
            is_head = self.additions.is_head(known.record) and self.additions.is_head(now)
            if not (is_prompt or is_head) or text_of(now) in self.reader.written:
                return
            if known.says(now):
                continue
            renewed = self.reader.again(known, now)
            state = self.state.with_system(at, renewed)
            if state is None:
                return
            self.state, self.version = state, self.version + 1
            for line in (self.own, self.given, self.returned):
                if line.places[at : at + 1] == [at]:
                    line.objects[at] = now

    def _same(self, line: HostList, said: list[Json]) -> tuple[int, list[int]]:
        """How many of the line's messages are the same, and which of them in another form.

        The newest two may have been changed in place.
        """
        path = self.state.path
        same, reworded = common(
            line.objects,
            said,
            lambda i: key(line.objects[i]) if (at := line.places[i]) is None else path[at].key,
        )
        newest = range(len(line.objects) - 2, len(line.objects))
        pairs = ((i, line.places[i]) for i in newest if 0 <= i < same)
        changed = (i for i, at in pairs if at is not None and not path[at].says(said[i]))
        return next(changed, same), reworded

    def _renew(self, line: HostList, objects: list[Json], heard: int, back: bool) -> None:
        """Take the host's present objects for the messages that it has heard before."""
        now = HostList(objects, line.places[: len(objects)])
        if line is self.own:
            self.own, self.given = now, HostList()
            self.returned = HostList() if back else self.returned
            return
        if back or line is self.returned:
            self.returned = HostList([*objects], [*now.places])
        self.own, self.given = HostList(self.own.objects[:heard], self.own.places[:heard]), now
        for at, one in zip(now.places, objects, strict=True):
            if at is not None:
                self.own.objects[at] = one
        written = [one for at, one in zip(now.places, objects, strict=True) if at is None]
        made = [i for i, one in enumerate(self.state.shown) if one.made]
        for i, one in zip(made, written, strict=False):
            shown = self.state.shown[i]
            if (
                one != shown.object
                and markers(one) != markers(shown.object)
                and key(one) == key(shown.object)
            ):
                self.state.shown[i] = replace(shown, object=deepcopy(one))

    def _current(self, one: OutgoingMessage) -> Json:
        """A message as it is sent now."""
        if not one.made and one.at is not None:
            return self.own.objects[one.at]
        return deepcopy(
            one.object if one.at is None else remarked(one.object, self.own.objects[one.at])
        )

    def _add(self, given: HostMessage, object: Json) -> None:
        state = self.state
        leaf = self._log([given], state.leaf)
        before = state.kept.tokens
        state.extend(given)
        if given.covers:
            leaf = self._note_native(leaf, before)
        for line in (self.own, self.given, self.returned):
            if line.objects or line is self.own:
                line.objects.append(object)
                line.places.append(len(state.path) - 1)
        state.leaf, state.heard = leaf, len(state.path)

    def _note_native(self, leaf: str | None, before: int) -> str:
        """Write down in the log that the provider compacted."""
        kept = self.state.kept
        entry = CompactionEntry(
            id=self._entry_id(),
            parent=leaf,
            kept=tuple(one.id for one in kept.messages),
            tokens_before=before,
            tokens_after=kept.tokens,
            reason="by the provider",
        )
        self.log.append(entry)
        self.version += 1
        return entry.id

    def _go_back(
        self, heard: int, new: Sequence[HostMessage], shorter: Sequence[HostMessage]
    ) -> None:
        """Go back to the first so many of the host's messages; compactions that cover later ones
        are undone.

        Args:
            heard: how many are the same.
            new: what follows now.
            shorter: the first of these, where it is what was the newest message without what the
                host had added to it.
        """
        was = self.state.path
        path = [*was[:heard], *shorter]
        asked = [at for at, given in enumerate(new) if any(map(is_real_user, given.messages))]
        added = (
            len(was) == heard + 1
            and asked[:1] != [0]
            and self.additions.is_behind(was[heard].record)
        )
        stands = [
            mark
            for mark in self.state.checkpoints
            if mark.covers <= (len(was) if added else len(path))
        ]
        marks = [mark.on(path, was, bool(asked), self.reader.present_format) for mark in stands]
        state = State.at(tuple(marks), path)
        leaf = next((one.messages[-1].id for one in reversed(was[:heard]) if one.messages), None)
        here = [mark.entry for mark in marks if mark.heard == heard and mark.entry in self.log]
        state.leaf = self._log(shorter, here[-1] if here else leaf)
        self.state = state
        self.log.leaf = state.leaf
        noted = self.log[stands[-1].entry] if marks[-1] is not stands[-1] else None
        if isinstance(noted, CompactionEntry):
            own = {message.id for given in path for message in given.messages}
            kept = tuple(one.id for one in marks[-1].kept.messages if one.id in own)
            again = replace(noted, id=self._entry_id(), parent=state.leaf, kept=kept)
            self.log.append(again)
            state.leaf = again.id
            state.checkpoints = (*marks[:-1], replace(marks[-1], entry=again.id))

    def _log(self, said: Sequence[HostMessage], leaf: str | None) -> str | None:
        """Write messages down behind the leaf; the new leaf."""
        for message in (message for given in said for message in given.messages):
            self.log.append(MessageEntry(id=message.id, parent=leaf, message=message))
            leaf = message.id
        return leaf

    def _note(self, done: Compaction, id: str) -> None:
        """Write the compaction down in the log."""
        summaries = [one for one in done.after.messages if one.role == "summary"]
        path = {message.id for message in done.before.messages}
        entry = CompactionEntry(
            id=id,
            parent=self.state.leaf,
            summary=summaries[-1] if summaries else None,
            kept=tuple(one.id for one in done.after.messages if one.id in path),
            tokens_before=done.before.tokens,
            tokens_after=done.after.tokens,
            reason=done.budget.reason,
        )
        self.log.append(entry)
        self.state.leaf = entry.id

    def _entry_id(self) -> str:
        return f"compaction-{len(self.log) + 1}"
