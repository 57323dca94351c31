"""Messages that a compaction wrote, as the host gets them: each is copied once, not for each
request.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from workbench.engine.transcript.message import Json
from workbench.live.cache_markers import markers, remarked
from workbench.live.formats.shape import OutgoingMessage


@dataclass(slots=True)
class _WrittenMessage:
    """A message that a compaction wrote.

    Attributes:
        object: as the compaction wrote it.
        source: where in the host's messages the one stands that it was made of; None for what is
            new.
        content: what it says, for nobody else to change.
        copy: what the host has; None before it has one.
        markers: the cache markers that its source had when it was copied.
    """

    object: Json
    source: int | None
    content: Json
    copy: Json = None
    markers: list[tuple[str, Json]] = field(default_factory=list)

    def copy_anew(self, host_messages: Sequence[Json]) -> None:
        """Copy it, with the markers that the host has on its source now."""
        rewritten = self.object
        self.markers = []
        if self.source is not None:
            host_message = host_messages[self.source]
            rewritten = remarked(rewritten, host_message)
            self.markers = deepcopy(markers(host_message))
        self.content = deepcopy(rewritten)
        self.copy = deepcopy(rewritten)

    def is_marked_otherwise(self, host_messages: Sequence[Json]) -> bool:
        """Whether its source was marked, and is marked otherwise now."""
        if not self.markers or self.source is None:
            return False
        return markers(host_messages[self.source]) != self.markers


@dataclass(slots=True)
class Copies:
    """What is sent of a compaction.

    A copy stays the same object from request to request. One that the host changed, or whose own
    message the host marked otherwise, is made anew: so nothing that a host does to what it got is
    sent again.

    Attributes:
        outgoing: what is sent, the host's own messages among what was written.
        places: for each the index of the host's message that it is; None for what was written.
        messages: those that were written, in their order.
        reworded: the host's messages, by their place, that it passes in another form than when they
            were copied.
    """

    outgoing: list[OutgoingMessage] = field(default_factory=list)
    places: list[int | None] = field(default_factory=list)
    messages: list[_WrittenMessage] = field(default_factory=list)
    reworded: set[int | None] = field(default_factory=set)

    def of(self, outgoing: list[OutgoingMessage], host_messages: Sequence[Json]) -> list[Json]:
        """What is sent now, where the host's own messages are these."""
        if outgoing != self.outgoing:
            self._begin(outgoing)
        for message in self.messages:
            if self._is_stale(message, host_messages):
                message.copy_anew(host_messages)
        self.reworded = set()
        unused = iter(self.messages)
        objects: list[Json] = []
        for place in self.places:
            if place is None:
                message = next(unused)
                objects.append(message.copy)
            else:
                objects.append(host_messages[place])
        return objects

    def _begin(self, outgoing: list[OutgoingMessage]) -> None:
        """Take these to send; what was written before keeps its copy."""
        old_messages: dict[int, _WrittenMessage] = {}
        for old_message in self.messages:
            old_messages[id(old_message.object)] = old_message
        self.outgoing = outgoing
        self.places = []
        self.messages = []
        for message in outgoing:
            self.places.append(message.place)
            if message.place is not None:
                continue
            new_message = _WrittenMessage(message.object, message.at, message.object)
            old = old_messages.get(id(message.object))
            if old is not None:
                new_message.content = old.content
                new_message.copy = old.copy
                new_message.markers = old.markers
            self.messages.append(new_message)

    def _is_stale(self, message: _WrittenMessage, host_messages: Sequence[Json]) -> bool:
        """Whether the host changed a copy, or passes or marks its source otherwise now."""
        if message.copy != message.content:
            return True
        if message.source is not None and message.source in self.reworded:
            return True
        return message.is_marked_otherwise(host_messages)
