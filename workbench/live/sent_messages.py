"""The messages of a state as they are sent now, with the host's present objects among them."""

from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

from workbench.engine.transcript.message import Json, Text, UserMessage
from workbench.live.cache_markers import markers, remarked
from workbench.live.formats.canonical import key
from workbench.live.formats.shape import HostFormat, HostMessage, OutgoingMessage, record_of
from workbench.live.identity import HostList
from workbench.live.state import State


@dataclass(frozen=True, slots=True)
class SentMessages:
    """What is sent.

    Attributes:
        state: what is sent, in the host's shape.
        host_objects: the host's messages as it has them now, from the first one.
        format: of new messages.
    """

    state: State
    host_objects: Sequence[Json]
    format: HostFormat

    def through(self, ids: Collection[str]) -> list[Json]:
        """What is sent, up to the last of the host's messages that holds one of these."""
        stop = 0
        for index, outgoing in enumerate(self.state.shown):
            if outgoing.at is None:
                continue
            host_message = self.state.path[outgoing.at]
            for message in host_message.messages:
                if message.id in ids:
                    stop = index + 1
        messages = self.state.shown[:stop]
        return self._present_objects(messages)

    def with_addition(self, text: str) -> HostList:
        """What is sent, and behind all a text of the user's."""
        addition = user_message(text)
        outgoing = list(self.state.shown)
        for record in self.format.new(addition):
            message = OutgoingMessage(record)
            outgoing.append(message)
        finished = self.format.finished(outgoing, self.state.path)
        objects = self._present_objects(finished)
        places = [message.place for message in finished]
        return HostList(objects, places)

    @property
    def has_newest_as_it_is(self) -> bool:
        """Whether the host's newest message is sent as it is."""
        newest_place = len(self.state.path) - 1
        return any(message.place == newest_place for message in self.state.shown)

    def joined(self, newest: Json, later_messages: Sequence[Json]) -> Json | None:
        """The newest message and those behind it as one, where the API wants one; else None."""
        newest_message = OutgoingMessage(newest)
        outgoing = [newest_message]
        for later_message in later_messages:
            message = OutgoingMessage(later_message)
            outgoing.append(message)
        joined = self.format.finished(outgoing, self.state.path)
        if len(joined) == 1:
            return joined[0].object
        return None

    def _present_objects(self, messages: Sequence[OutgoingMessage]) -> list[Json]:
        """These messages as they are sent now."""
        objects: list[Json] = []
        for message in messages:
            present = self._present_object(message)
            objects.append(present)
        return objects

    def _present_object(self, message: OutgoingMessage) -> Json:
        if message.at is None:
            return deepcopy(message.object)
        host_object = self.host_objects[message.at]
        if not message.made:
            return host_object
        marked = remarked(message.object, host_object)
        return deepcopy(marked)


def originals(path: Sequence[HostMessage], host_objects: Sequence[Json]) -> list[Json]:
    """Copies of the host's messages, from the first one, whatever was compacted."""
    copies: list[Json] = []
    for host_message, present in zip(path, host_objects, strict=False):
        if host_message.object is present:
            record = dict(host_message.record)
            copy = deepcopy(record)
        else:
            copy = record_of(present)
        copies.append(copy)
    return copies


def renew_markers(messages: list[OutgoingMessage], written_objects: Sequence[Json]) -> None:
    """Take the cache markers that the host now has on messages that were written for it.

    Args:
        messages: all that are sent.
        written_objects: as the host has the first written ones now.
    """
    made_indices: list[int] = []
    for index, message in enumerate(messages):
        if message.made:
            made_indices.append(index)
    for index, object in zip(made_indices, written_objects, strict=False):
        message = messages[index]
        if object == message.object:
            continue
        is_marked_otherwise = markers(object) != markers(message.object)
        if is_marked_otherwise and key(object) == key(message.object):
            marked = deepcopy(object)
            messages[index] = replace(message, object=marked)


def user_message(text: str) -> UserMessage:
    """A message with this text of the user's."""
    block = Text(text)
    return UserMessage(id="", blocks=(block,))
