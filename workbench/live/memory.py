"""What an agent said so far, whole, and the same as it is kept and as it is sent."""

from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import replace

from workbench.engine.compaction.engine import Compaction
from workbench.engine.compaction.guard import violations
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.log import Log
from workbench.engine.transcript.message import Json, Message, Text, UserMessage
from workbench.live.cache_markers import markers, remarked
from workbench.live.checkpoint import Checkpoint
from workbench.live.context_edits import longer
from workbench.live.copies import Copies
from workbench.live.covered_prefix import end_of_step, first_uncovered
from workbench.live.formats.canonical import key
from workbench.live.formats.shape import (
    HostFormat,
    HostMessage,
    OutgoingMessage,
    has_question,
    is_system,
    record_of,
)
from workbench.live.formats.table import FORMATS
from workbench.live.host_lists import HostLists, ListMatch, mended_list
from workbench.live.identity import Additions, HostList, text_of
from workbench.live.log_entries import (
    compaction_id,
    leaf_at,
    log_compaction,
    log_compaction_again,
    log_messages,
    log_native_compaction,
    summaries_of,
)
from workbench.live.mending.mends import Mending
from workbench.live.message_reader import MessageReader, listed
from workbench.live.rendered_anew import PartedList, learn_head, learns_note, parted_list
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
        messages = listed(messages)
        objects, bare = self._parted(messages)
        self._renew_system(bare)
        match = self._match(bare)
        start = self._first_uncovered(bare, match.heard_count)
        if start is not None:
            covered = self.lists.own.objects[: self._covered_count]
            objects = [*covered, *objects[start:]]
            bare = [*covered, *bare[start:]]
            messages = objects
            match = self._match(bare)
        same = match.same
        heard_count = match.heard_count
        if heard_count < self.state.heard:
            path = self.state.heard_path
            later_path = path[heard_count:]
            later_messages = bare[same:]
            learn_head(self.additions, path, heard_count, later_messages)
            if learns_note(self.additions, later_path, later_messages):
                objects, bare = self._parted(messages)
        lost = None
        is_newest_another = heard_count == self.state.heard - 1
        if is_newest_another and same < len(messages):
            newest_record = self.state.path[heard_count].record
            lost = self.additions.learn(newest_record, messages[same])
            objects, bare = self._parted(messages)
        heard_path = self.state.path[:heard_count]
        new = list(self.reader.read(bare, same, heard_path))
        is_back = self._broken or heard_count < self.state.heard
        checkpoint_count = len(self.state.checkpoints)
        if is_back:
            self.version += 1
            shorter: list[HostMessage] = []
            if lost:
                shorter = new[:1]
            self._go_back(heard_count, new, shorter)
            same += len(shorter)
            heard_count += len(shorter)
            new = new[len(shorter) :]
        self._broken = True
        line = match.line
        for index in match.reworded:
            place = line.places[index]
            self._copies.reworded.add(place)
        same_objects = objects[:same]
        new_objects = objects[same:]
        written_objects = self.lists.renew(line, same_objects, heard_count, is_back)
        self._renew_markers(written_objects)
        for object, host_message in zip(new_objects, new, strict=True):
            self._add(host_message, object)
        self._broken = False
        no_compaction_is_undone = checkpoint_count == len(self.state.checkpoints)
        only_addition_is_gone = lost is not None and no_compaction_is_undone
        if only_addition_is_gone or not is_back:
            return None
        return heard_count

    def messages(self) -> list[Json]:
        """A new list of the messages to send: the host's own objects as it has them now, and
        copies of new ones.
        """
        own_list = self.lists.own
        format = self.reader.present_format
        outgoing, first_own = self.state.of_compaction(own_list.objects, format)
        copies = self._copies.of(outgoing, own_list.objects)
        history = HostList(
            objects=[*copies, *own_list.objects[first_own:]],
            places=[*self._copies.places, *own_list.places[first_own:]],
        )
        self.lists.returned = self._mended(history)
        objects = self._with_addition(self.lists.returned.objects)
        if self._parted_list.note is not None:
            objects = self._parted_list.note.put_back(objects)
        if self._parted_list.behind and objects:
            newest = objects[-1]
            joined = None
            if newest is not own_list.objects[-1]:
                joined = self._joined(newest, self._parted_list.behind)
            if joined is not None:
                return [*objects[:-1], joined]
        if not self._parted_list.behind:
            return list(objects)
        sent_list = [*objects, *self._parted_list.behind]
        places: list[int | None] = [None] * len(sent_list)
        return self._mended(HostList(sent_list, places)).objects

    def _mended(self, history: HostList) -> HostList:
        """The list without what the provider refuses in it."""
        if not self.mending.is_needed:
            return history
        return mended_list(history, self.mending, self.reader.present_format)

    def _joined(self, newest: Json, later: Sequence[Json]) -> Json | None:
        """The newest message and those behind it as one, where the API wants one; else None."""
        outgoing = [OutgoingMessage(newest)]
        for message in later:
            outgoing.append(OutgoingMessage(message))
        joined = self._format.finished(outgoing, self.state.path)
        if len(joined) == 1:
            return joined[0].object
        return None

    @property
    def _format(self) -> HostFormat:
        """The present format of the host's messages."""
        return FORMATS[self.reader.present_format]

    def _with_addition(self, objects: list[Json]) -> list[Json]:
        """With the addition to the newest message behind all, where that message is not sent as
        it is.
        """
        if not self._parted_list.inside or self._sends_newest_as_it_is():
            return objects
        addition = _user_message(self._parted_list.inside.strip())
        outgoing = list(self.state.shown)
        for record in self._format.new(addition):
            outgoing.append(OutgoingMessage(record))
        finished = self._format.finished(outgoing, self.state.path)
        return [self._current(message) for message in finished]

    def _sends_newest_as_it_is(self) -> bool:
        newest_place = len(self.state.path) - 1
        return any(message.at == newest_place and not message.made for message in self.state.shown)

    def sent_through(self, ids: Collection[str]) -> list[Json]:
        """What is sent now, up to the last of the host's messages that holds one of these."""
        stop = 0
        for index, outgoing in enumerate(self.state.shown):
            if outgoing.at is None:
                continue
            for message in self.state.path[outgoing.at].messages:
                if message.id in ids:
                    stop = index + 1
        return [self._current(outgoing) for outgoing in self.state.shown[:stop]]

    def given_list(self) -> list[Json]:
        """The host's messages as it has them now, to be heard again."""
        objects = self.lists.own.objects
        if self._parted_list.note is not None:
            objects = self._parted_list.note.put_back(objects)
        return [*objects, *self._parted_list.behind]

    def original(self) -> list[Json]:
        """Copies of the host's messages, from the first one, whatever was compacted."""
        copies: list[Json] = []
        present_objects = self.lists.own.objects
        for host_message, present in zip(self.state.path, present_objects, strict=False):
            if host_message.object is present:
                copies.append(deepcopy(dict(host_message.record)))
            else:
                copies.append(record_of(present))
        return copies

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
        later_messages: list[Message] = []
        for host_message in present.path[heard_count : present.heard]:
            later_messages += host_message.messages
        if later_messages:
            history = longer(compaction.before, later_messages)
            compacted = longer(compaction.after, later_messages)
            if violations(history, compacted):
                return "what was said meanwhile does not fit behind it"
        mark = Checkpoint.after(
            compaction,
            present.path[:heard_count],
            present.place,
            self.reader.present_format,
            compaction_id(self.log),
        )
        self.archive.update(compaction.sent.archive)
        for summary in summaries_of(compaction.sent):
            written_text = summary.lead + summary.text + summary.tail
            self.reader.written[written_text] = summary
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
            self.added = self.reader.count(_user_message(parted.added_text))
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

    def _renew_markers(self, written_objects: Sequence[Json]) -> None:
        """Take the cache markers that the host now has on messages that were written for it."""
        outgoing_messages = self.state.shown
        made_indices: list[int] = []
        for index, outgoing in enumerate(outgoing_messages):
            if outgoing.made:
                made_indices.append(index)
        for index, object in zip(made_indices, written_objects, strict=False):
            outgoing = outgoing_messages[index]
            shown_object = outgoing.object
            if object == shown_object:
                continue
            is_marked_otherwise = markers(object) != markers(shown_object)
            if is_marked_otherwise and key(object) == key(shown_object):
                outgoing_messages[index] = replace(outgoing, object=deepcopy(object))

    def _current(self, message: OutgoingMessage) -> Json:
        """A message as it is sent now."""
        if message.at is None:
            return deepcopy(message.object)
        host_object = self.lists.own.objects[message.at]
        if not message.made:
            return host_object
        return deepcopy(remarked(message.object, host_object))

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
            shorter: the first of these, where it is what was the newest message without what the
                host had added to it.
        """
        old_path = self.state.path
        path = [*old_path[:heard_count], *shorter]
        self.mending.doubted_until = min(self.mending.doubted_until, heard_count)
        only_addition_is_gone = (
            len(old_path) == heard_count + 1
            and not has_question(new[:1])
            and self.additions.is_behind(old_path[heard_count].record)
        )
        covered = len(old_path) if only_addition_is_gone else len(path)
        standing = [mark for mark in self.state.checkpoints if mark.covers <= covered]
        is_at_end = len(new) == len(shorter)
        while is_at_end and standing[-1].hides_result_at_end(path):
            standing.pop()
        has_later_question = has_question(new)
        format = self.reader.present_format
        marks = [mark.on(path, old_path, has_later_question, format) for mark in standing]
        state = State.at(tuple(marks), path)
        leaf = leaf_at(self.log, heard_count, old_path, marks)
        state.leaf = log_messages(self.log, shorter, leaf)
        self.state = state
        self.log.leaf = state.leaf
        if marks[-1] is not standing[-1]:
            log_compaction_again(self.log, standing[-1].entry, state)


def _user_message(text: str) -> UserMessage:
    return UserMessage(id="", blocks=(Text(text),))
