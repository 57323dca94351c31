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
class Copies:
    """What is sent of a compaction.

    A copy stays the same object from request to request. One that the host changed, or whose own
    message the host marked otherwise, is made anew: so nothing that a host does to what it got is
    sent again.

    Attributes:
        outgoing: what is sent, the host's own messages among what was written.
        places: for each the index of the host's message that it is; None for what was written.
        made_indices: where in `outgoing` the written ones stand; the lists below have one for each.
        sources: where in the host's messages those stand that they were made of; None for what is
            new.
        reworded: the host's messages, by their place, that it passes in another form than when they
            were copied.
        marked: the cache markers of those that have some.
        contents: what they say, for nobody else to change.
        copies: what the host has.
    """

    outgoing: list[OutgoingMessage] = field(default_factory=list)
    places: list[int | None] = field(default_factory=list)
    made_indices: list[int] = field(default_factory=list)
    sources: list[int | None] = field(default_factory=list)
    reworded: set[int | None] = field(default_factory=set)
    marked: dict[int, list[tuple[str, Json]]] = field(default_factory=dict)
    contents: list[Json] = field(default_factory=list)
    copies: list[Json] = field(default_factory=list)

    def of(self, outgoing: list[OutgoingMessage], host_messages: Sequence[Json]) -> list[Json]:
        """What is sent now, where the host's own messages are these."""
        if outgoing != self.outgoing:
            self._begin(outgoing)
        if self.reworded or self.copies != self.contents:
            self._renew_changed(host_messages)
        for number in self._marked_otherwise(host_messages):
            self._copy(number, host_messages)
        self.reworded = set()
        unused_copies = iter(self.copies)
        objects: list[Json] = []
        for place in self.places:
            if place is None:
                copy = next(unused_copies)
                objects.append(copy)
            else:
                objects.append(host_messages[place])
        return objects

    def _begin(self, outgoing: list[OutgoingMessage]) -> None:
        """Copy what is new among these; what was written before keeps its copy."""
        old_numbers: dict[int, int] = {}
        for number, index in enumerate(self.made_indices):
            old_message = self.outgoing[index]
            old_numbers[id(old_message.object)] = number
        old_copies = self.copies
        old_contents = self.contents
        old_marked = self.marked
        self.places = []
        self.made_indices = []
        for index, message in enumerate(outgoing):
            self.places.append(message.place)
            if message.place is None:
                self.made_indices.append(index)
        self.sources = []
        self.copies = []
        self.contents = []
        self.marked = {}
        for number, index in enumerate(self.made_indices):
            message = outgoing[index]
            old_number = old_numbers.get(id(message.object))
            self.sources.append(message.at)
            copy: Json = None
            content = message.object
            if old_number is not None:
                copy = old_copies[old_number]
                content = old_contents[old_number]
            self.copies.append(copy)
            self.contents.append(content)
            if old_number in old_marked:
                self.marked[number] = old_marked[old_number]
        self.outgoing = outgoing

    def _renew_changed(self, host_messages: Sequence[Json]) -> None:
        """Copy those anew that the host changed, or whose own message it passes in another form."""
        for number, source in enumerate(self.sources):
            is_changed = self.copies[number] != self.contents[number]
            is_reworded = source is not None and source in self.reworded
            if is_changed or is_reworded:
                self._copy(number, host_messages)

    def _marked_otherwise(self, host_messages: Sequence[Json]) -> list[int]:
        """Those whose own message the host marks otherwise now."""
        numbers: list[int] = []
        for number, marked in self.marked.items():
            source = self.sources[number] or 0
            present_markers = markers(host_messages[source])
            if present_markers != marked:
                numbers.append(number)
        return numbers

    def _copy(self, number: int, host_messages: Sequence[Json]) -> None:
        """Copy a message anew, with the markers that the host has on its own now."""
        index = self.made_indices[number]
        rewritten = self.outgoing[index].object
        source = self.sources[number]
        self.marked.pop(number, None)
        if source is not None:
            host_message = host_messages[source]
            rewritten = remarked(rewritten, host_message)
            present_markers = markers(host_message)
            if present_markers:
                self.marked[number] = deepcopy(present_markers)
        self.contents[number] = deepcopy(rewritten)
        self.copies[number] = deepcopy(rewritten)
