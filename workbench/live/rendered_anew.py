"""Messages that a host renders anew with each request: a head before all others, such as a list of
files, and a note before the newest question, such as an open file.

A note is sent, and is no part of the history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.engine.transcript.message import Json
from workbench.live.formats.shape import HostMessage, has_question, is_system
from workbench.live.identity import Additions, HostList, text_of


@dataclass(frozen=True, slots=True)
class Note:
    """The message, and the one that it stands before."""

    object: Json
    next: Json

    def put_back(self, history: HostList) -> HostList:
        """The list with the note in its place, or at the end where that place is gone."""
        objects = list(history.objects)
        places = list(history.places)
        note_index = len(objects)
        for index in range(len(objects) - 1, -1, -1):
            if objects[index] is self.next:
                note_index = index
                break
        objects.insert(note_index, self.object)
        places.insert(note_index, None)
        return HostList(objects, places)


def take_note(additions: Additions, objects: list[Json]) -> Note | None:
    """Take the newest note out of the list; None where there is none."""
    if not additions.note:
        return None
    for index in range(len(objects) - 2, -1, -1):
        if additions.is_note(objects[index]):
            note = objects.pop(index)
            return Note(note, objects[index])
    return None


def learns_note(
    additions: Additions, later_path: Sequence[HostMessage], messages: Sequence[Json]
) -> bool:
    """Learn a message that is gone from its place before a question, while that question is the
    same and a message that begins so is there or stands later.

    Args:
        additions: take it in.
        later_path: what was heard from the message on.
        messages: the host's present messages from there on.
    """
    if len(later_path) < 2:
        return False
    note, question = later_path[:2]
    if not has_question([question]):
        return False
    if not any(map(question.says, messages[:2])):
        return False
    return additions.learn_note(note.record, messages)


def learn_head(
    additions: Additions,
    path: Sequence[HostMessage],
    heard_count: int,
    later_messages: Sequence[Json],
) -> None:
    """Learn a first message that is another one now, where the message behind it is the same.

    Args:
        additions: take it in.
        path: what was heard.
        heard_count: how many of these are the same.
        later_messages: the host's present messages behind those.
    """
    is_first = all(is_system(host_message.record) for host_message in path[:heard_count])
    later_path = path[heard_count : heard_count + 2]
    if not is_first or len(later_path) < 2 or len(later_messages) < 2:
        return
    old_head, old_next = later_path
    head, next_message = later_messages[:2]
    if old_next.says(next_message):
        additions.learn_head(old_head.record, head)


@dataclass(slots=True)
class PartedList:
    """A host's list of messages, and what it adds to each request.

    Attributes:
        objects: its messages without an addition behind them, and without a note.
        bare: the same without an addition in the last of them.
        behind: the messages behind all others that are an addition.
        inside: the addition in the last message.
        note: the one that was taken out.
    """

    objects: list[Json] = field(default_factory=list)
    bare: list[Json] = field(default_factory=list)
    behind: Sequence[Json] = ()
    inside: str = ""
    note: Note | None = None

    @property
    def added_text(self) -> str:
        """The words of all that is no part of the history."""
        text = self.inside
        for message in self.behind:
            text += text_of(message) or ""
        if self.note is not None:
            text += text_of(self.note.object) or ""
        return text


def parted_list(additions: Additions, messages: Sequence[Json]) -> PartedList:
    """The messages and the additions of a list that a host passes."""
    objects = list(messages)
    parted = PartedList(note=take_note(additions, objects))
    has_others = len(objects) > 1
    if has_others and additions.is_behind(objects[-1]):
        newest = objects.pop()
        parted.behind = [newest]
    parted.objects = parted.bare = objects
    if objects:
        newest = objects[-1]
        shorter, parted.inside = additions.split(newest)
        if parted.inside:
            parted.bare = [*objects[:-1], shorter]
    return parted
