"""Messages that a compaction wrote, as the host gets them: each is copied once, not for each request."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from workbench.live.formats.shape import OutgoingMessage
from workbench.live.identity import markers, remarked
from workbench.transcript.message import Json


@dataclass(slots=True)
class Copies:
    """What is sent of a compaction.

    A copy stays the same object from request to request. One that the host changed, or whose own message the host
    marked otherwise, is made anew: so nothing that a host does to what it got is sent again.

    Attributes:
        shown: what is sent, the host's own messages among what was written.
        places: for each the index of the host's message that it is; None for what was written.
        made: where in `shown` the written ones stand; the lists below have one for each.
        sources: the host's messages that they were made of; None for what is new.
        marked: the cache markers of those that have some.
        written: what they say, for nobody else to change.
        copies: what the host has.
    """

    shown: list[OutgoingMessage] = field(default_factory=list)
    places: list[int | None] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    sources: list[Json] = field(default_factory=list)
    marked: dict[int, list[Json]] = field(default_factory=dict)
    written: list[Json] = field(default_factory=list)
    copies: list[Json] = field(default_factory=list)

    def of(self, shown: list[OutgoingMessage], own: Sequence[Json]) -> list[Json]:
        """What is sent now, where the host's own messages are these."""
        if shown != self.shown:
            self._begin(shown)
        sources = [None if (at := shown[i].at) is None else own[at] for i in self.made]
        if sources != self.sources or self.copies != self.written:
            for n, source in enumerate(sources):
                if source != self.sources[n] or self.copies[n] != self.written[n]:
                    self._copy(n, source)
        for n in [n for n, marked in self.marked.items() if markers(sources[n]) != marked]:
            self._copy(n, sources[n])
        self.sources = sources
        objects = [None if at is None else own[at] for at in self.places]
        for i, copy in zip(self.made, self.copies, strict=True):
            objects[i] = copy
        return objects

    def _begin(self, shown: list[OutgoingMessage]) -> None:
        self.shown, self.marked = shown, {}
        self.places = [None if one.made else one.at for one in shown]
        self.made = [i for i, at in enumerate(self.places) if at is None]
        self.sources, self.copies = [None] * len(self.made), [None] * len(self.made)
        self.written = [shown[i].object for i in self.made]

    def _copy(self, n: int, source: Json) -> None:
        object = self.shown[self.made[n]].object
        self.marked.pop(n, None)
        if source is not None:
            object = remarked(object, source)
            if marked := markers(source):
                self.marked[n] = deepcopy(marked)
        self.written[n], self.copies[n] = deepcopy(object), deepcopy(object)
