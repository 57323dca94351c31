"""What an agent said so far, whole, and the same as it is kept and as it is sent."""

from collections.abc import Collection, Sequence

from workbench.engine.compaction.engine import Compaction
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.log import Log
from workbench.engine.transcript.message import Json
from workbench.live.checkpoint import Checkpoint, fits_before
from workbench.live.copies import Copies
from workbench.live.covered_prefix import end_of_step, first_uncovered
from workbench.live.formats.shape import HostMessage, is_system
from workbench.live.formats.table import FORMATS
from workbench.live.going_back import WayBack
from workbench.live.host_lists import HostLists, ListMatch
from workbench.live.identity import Additions, HostList, text_of
from workbench.live.log_entries import (
    compaction_id,
    leaf_at,
    log_compaction,
    log_messages,
    log_native_compaction,
    log_newest_compaction,
    summaries_of,
)
from workbench.live.mending.mends import Mending
from workbench.live.mending.sealed_compactions import without_unreadable
from workbench.live.mending.thought_turns import CutTurns
from workbench.live.message_reader import MessageReader, listed
from workbench.live.rendered_anew import (
    PartedList,
    learn_head,
    learns_note,
    parted_list,
)
from workbench.live.sent_messages import (
    SentMessages,
    originals,
    renew_markers,
    user_message,
)
from workbench.live.state import State


class Memory:
    """The log of everything that was ever heard, and the state that follows from it.

    Attributes:
        log: only ever grows; going back starts a branch.
        version: changes when something is compacted or taken back, not when something is added.
        archive: full texts that stages took out, by reference.
        lists: the lists of messages that the host may hold.
        additions: what the host adds to the end of each request; it is sent and counted, and no
            part of the history.
        added: tokens of the present addition.
        mending: what is mended in each request, since the provider refused it.
    """

    def __init__(self, reader: MessageReader) -> None:
        self.reader = reader
        self.log = Log()
        self.version = 0
        self.archive: dict[str, str] = {}
        empty = Context((), (), 0, reader.count)
        beginning = Checkpoint(heard=0, kept=empty, sent=empty)
        self.state = State.at((beginning,), path=())
        self.additions = Additions()
        self.added = 0
        self.lists = HostLists()
        self.mending = Mending()
        self._copies = Copies()
        self._cut_turns = CutTurns()
        self._parted_list = PartedList()
        self._broken = False

    def hear(self, messages: Sequence[Json]) -> int | None:
        """Take in what the host's list has more than before, or than the list that was last
        returned.

        Where it continues neither, the host went back: what is no longer in it stays on a branch of
        the log. A compaction stands as long as the messages that it covers are the same.

        Returns:
            How many of the host's messages are still the same, where it went back; None where it
            went on, or where only what it adds to each request is gone.
        """
        host_messages = listed(messages)
        objects, bare = self._parted(host_messages)
        self._renew_system(bare)
        match = self._match(bare)
        start = self._first_uncovered(bare, match.heard_count)
        if start is not None:
            covered = self.lists.own.objects[: self._covered_count]
            objects = [*covered, *objects[start:]]
            bare = [*covered, *bare[start:]]
            host_messages = objects
            match = self._match(bare)
        if self._learns_note(match, bare):
            objects, bare = self._parted(host_messages)
        lost = None
        if self._is_newest_another(match, host_messages):
            newest = self.state.path[match.heard_count]
            present = host_messages[match.same]
            lost = self.additions.learn(newest.record, present)
            objects, bare = self._parted(host_messages)
        same = match.same
        heard_count = match.heard_count
        heard_path = self.state.path[:heard_count]
        new_entries = self.reader.read(bare, start=same, earlier=heard_path)
        new = list(new_entries)
        is_back = self._broken or heard_count < self.state.heard
        checkpoint_count = len(self.state.checkpoints)
        if is_back:
            self.version += 1
            shorter: list[HostMessage] = []
            if lost:
                shorter = new[:1]
            self._go_back(heard_count, new, shorter)
            shorter_count = len(shorter)
            same += shorter_count
            heard_count += shorter_count
            new = new[shorter_count:]
        self._broken = True
        self._renew_objects(match, objects[:same], heard_count, is_back)
        new_objects = objects[same:]
        for object, host_message in zip(new_objects, new, strict=True):
            self._add(host_message, object)
        self._broken = False
        no_compaction_is_undone = checkpoint_count == len(self.state.checkpoints)
        only_addition_is_gone = lost is not None and no_compaction_is_undone
        if only_addition_is_gone or not is_back:
            return None
        return heard_count

    def _learns_note(self, match: ListMatch, messages: list[Json]) -> bool:
        """Learn what the host renders anew with each request, where it goes back; whether a note
        is among it.
        """
        if match.heard_count >= self.state.heard:
            return False
        path = self.state.heard_path
        later_path = path[match.heard_count :]
        later_messages = messages[match.same :]
        learn_head(self.additions, path, match.heard_count, later_messages)
        return learns_note(self.additions, later_path, later_messages)

    def _is_newest_another(self, match: ListMatch, messages: list[Json]) -> bool:
        """Whether another message stands in the place of the newest, and of it alone."""
        is_only_newest = match.heard_count == self.state.heard - 1
        return is_only_newest and match.same < len(messages)

    def _renew_objects(
        self, match: ListMatch, objects: list[Json], heard_count: int, is_back: bool
    ) -> None:
        """Take the host's present objects for the messages that were heard before."""
        line = match.line
        for index in match.reworded:
            place = line.places[index]
            self._copies.reworded.add(place)
        written_objects = self.lists.renew(line, objects, heard_count, is_back)
        renew_markers(self.state.shown, written_objects)

    def messages(self) -> list[Json]:
        """A new list of the messages to send: the host's own objects as it has them now, and
        copies of new ones.
        """
        request = self.request()
        return list(request.objects)

    def request(self) -> HostList:
        """The messages to send, and which of the host's these are."""
        own_list = self.lists.own
        format = self.reader.present_format
        outgoing, first_own = self.state.of_compaction(own_list.objects, format)
        copies = self._copies.of(outgoing, own_list.objects)
        own_objects = own_list.objects[first_own:]
        own_places = own_list.places[first_own:]
        history = HostList(
            objects=[*copies, *own_objects],
            places=[*self._copies.places, *own_places],
        )
        self.lists.returned = self._mended(history)
        request = self._with_additions(history)
        if request is history:
            return self.lists.returned
        return self._mended(request)

    def _mended(self, history: HostList) -> HostList:
        """The list without what the provider refuses in it, or would of what a compaction cut."""
        format = self.reader.present_format
        compacted_count = len(self._copies.outgoing)
        if compacted_count:
            own_messages = self.lists.own.objects
            history = self._cut_turns.closed(history, format, own_messages, compacted_count)
        history = without_unreadable(history, self.reader.unreadable)
        return self.mending.mended(history, format)

    @property
    def _sent(self) -> SentMessages:
        format = FORMATS[self.reader.present_format]
        return SentMessages(self.state, self.lists.own.objects, format)

    def _with_additions(self, history: HostList) -> HostList:
        """The list with what the host adds to this request; the addition to its newest message
        stands behind all, where that message is not sent as it is.
        """
        parted = self._parted_list
        request = history
        if parted.inside and not self._sent.has_newest_as_it_is:
            request = self._sent.with_addition(parted.inside.strip())
        if parted.note is not None:
            request = parted.note.put_back(request)
        if parted.behind:
            request = self._with_later(request, parted.behind)
        return request

    def _with_later(self, history: HostList, later_messages: Sequence[Json]) -> HostList:
        """The list with these messages behind it: in its newest one where the API wants one."""
        objects = history.objects
        if objects and objects[-1] is not self.lists.own.objects[-1]:
            joined = self._sent.joined(objects[-1], later_messages)
            if joined is not None:
                return HostList(
                    objects=[*objects[:-1], joined],
                    places=[*history.places[:-1], None],
                )
        no_places = [None] * len(later_messages)
        return HostList(
            objects=[*objects, *later_messages],
            places=[*history.places, *no_places],
        )

    def sent_through(self, ids: Collection[str]) -> list[Json]:
        """What is sent now, up to the last of the host's messages that holds one of these."""
        return self._sent.through(ids)

    def unseal(self) -> bool:
        """Whether there were compactions that only a provider reads; what they cover counts again."""
        seals = self.state.seals()
        if not seals:
            return False
        messages = self.given_list()
        self.reader.unreadable |= seals.keys()
        self.version += 1
        self._go_back(min(seals.values()), (), ())
        self._broken = True
        self.hear(messages)
        return True

    def given_list(self) -> list[Json]:
        """The host's messages as it has them now, to be heard again."""
        history = self.lists.own
        note = self._parted_list.note
        if note is not None:
            history = note.put_back(history)
        return [*history.objects, *self._parted_list.behind]

    def original(self) -> list[Json]:
        """Copies of the host's messages, from the first one, whatever was compacted."""
        present_objects = self.lists.own.objects
        return originals(self.state.path, present_objects)

    def take(self, compaction: Compaction, heard_count: int, version: int) -> str:
        """Put a compaction in place, and behind it what was heard while it ran.

        Args:
            compaction: what became of the history.
            heard_count: how many of the host's messages had been heard when it started.
            version: of the history then.

        Returns:
            Why it was not put in place; empty if it was.
        """
        if self.version != version:
            return "the history was compacted or taken back meanwhile"
        present = self.state
        later_path = present.path[heard_count : present.heard]
        if not fits_before(compaction, later_path):
            return "what was said meanwhile does not fit behind it"
        id = compaction_id(self.log)
        mark = Checkpoint.after(
            compaction,
            path=present.path[:heard_count],
            places=present.place,
            format=self.reader.present_format,
            entry=id,
        )
        self.archive.update(compaction.sent.archive)
        summaries = summaries_of(compaction.sent)
        self.reader.note_written(summaries)
        self.version += 1
        marks = (*present.checkpoints, mark)
        state = State.at(marks, present.heard_path)
        state.leaf = present.leaf
        self.state = state
        state.leaf = log_compaction(self.log, compaction, mark.entry, state.leaf)
        return ""

    def _parted(self, messages: Sequence[Json]) -> tuple[list[Json], list[Json]]:
        """The host's messages without an addition behind them; and the same without one in the
        last of them.
        """
        parted = parted_list(self.additions, messages)
        self._parted_list = parted
        self.added = 0
        if parted.added_text:
            addition = user_message(parted.added_text)
            self.added = self.reader.count(addition)
        return parted.objects, parted.bare

    def _match(self, messages: list[Json]) -> ListMatch:
        """How far these are a list that the host had before: the one that they go on from."""
        if self._broken:
            self.lists.begin_anew(self.state.heard_path)
            self._copies = Copies()
        return self.lists.match(messages, self.state)

    def _first_uncovered(self, messages: list[Json], heard_count: int) -> int | None:
        """Where the part begins of a list that goes back which no compaction covers; None where
        the rest must count.
        """
        covered = self.state.checkpoints[-1].covers
        only_newest = heard_count == self.state.heard - 1
        if self._broken or only_newest or heard_count >= covered:
            return None
        heard_path = self.state.heard_path
        return first_uncovered(heard_path, self._covered_count, messages, self.additions.is_head)

    @property
    def _covered_count(self) -> int:
        """How many of the host's messages the newest compaction stands for, and the rest of the
        step that it ends in.
        """
        newest_mark = self.state.checkpoints[-1]
        return end_of_step(self.state.heard_path, newest_mark.covers)

    def _renew_system(self, messages: list[Json]) -> None:
        """Take the host's present system prompt for the one that was read, unless a compaction
        rewrote that.

        So it is with a first message that the host is known to render anew with each request.
        """
        heard_path = self.state.heard_path
        for place, (recorded, present) in enumerate(zip(heard_path, messages, strict=False)):
            is_prompt = is_system(recorded.record) and is_system(present)
            if not is_prompt and not self.additions.are_heads(recorded.record, present):
                return
            if text_of(present) in self.reader.written:
                return
            if recorded.says(present):
                continue
            renewed = self.reader.again(recorded, present)
            state = self.state.with_system(place, renewed)
            if state is None:
                return
            self.state = state
            self.version += 1
            self.lists.replace(place, present)

    def _add(self, host_message: HostMessage, object: Json) -> None:
        state = self.state
        leaf = log_messages(self.log, [host_message], state.leaf)
        tokens_before = state.kept.tokens
        state.extend(host_message)
        if host_message.covers:
            leaf = log_native_compaction(self.log, state.kept, tokens_before, leaf)
            self.version += 1
        place = len(state.path) - 1
        self.lists.append(object, place)
        state.leaf = leaf
        state.heard = len(state.path)

    def _go_back(
        self, heard_count: int, new: Sequence[HostMessage], shorter: Sequence[HostMessage]
    ) -> None:
        """Go back to the first so many of the host's messages; compactions that cover later ones
        are undone.

        Args:
            heard_count: how many are the same.
            new: what follows now.
            shorter: the first of these, see `WayBack`.
        """
        old_path = self.state.path
        way = WayBack(old_path, heard_count, new, shorter)
        doubted_until = self.mending.doubted_until
        self.mending.doubted_until = min(doubted_until, heard_count)
        standing = way.standing(self.state.checkpoints, self.additions)
        format = self.reader.present_format
        marks = way.on_path(standing, format)
        state = State.at(tuple(marks), way.path)
        leaf = leaf_at(self.log, heard_count, old_path, marks)
        state.leaf = log_messages(self.log, shorter, leaf)
        self.state = state
        self.log.leaf = state.leaf
        log_newest_compaction(self.log, state)
