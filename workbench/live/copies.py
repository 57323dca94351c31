"""Messages that a compaction wrote, as the host gets them: each is copied once, not for each
request.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from workbench.engine.transcript.message import Json
from workbench.live.formats.shape import OutgoingMessage
from workbench.live.identity import markers, remarked


@dataclass(slots=True)
class Copies:
    """What is sent of a compaction.

    A copy stays the same object from request to request. One that the host changed, or whose own
    message the host marked otherwise, is made anew: so nothing that a host does to what it got is
    sent again.

    Attributes:
        shown: what is sent, the host's own messages among what was written.
        places: for each the index of the host's message that it is; None for what was written.
        made: where in `shown` the written ones stand; the lists below have one for each.
        sources: where in the host's messages those stand that they were made of; None for what is
            new.
        reworded: the host's messages, by their place, that it passes in another form than when they
            were copied.
        marked: the cache markers of those that have some.
        written: what they say, for nobody else to change.
        copies: what the host has.
    """

    shown: list[OutgoingMessage] = field(default_factory=list)
    places: list[int | None] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    sources: list[int | None] = field(default_factory=list)
    reworded: set[int | None] = field(default_factory=set)
    marked: dict[int, list[Json]] = field(default_factory=dict)
    written: list[Json] = field(default_factory=list)
    copies: list[Json] = field(default_factory=list)

    def of(self, shown: list[OutgoingMessage], own: Sequence[Json]) -> list[Json]:
        """What is sent now, where the host's own messages are these."""
        if shown != self.shown:
            self._begin(shown)
        if self.reworded or self.copies != self.written:
            for n, source in enumerate(self.sources):
                if self.copies[n] != self.written[n] or (
                    source is not None and source in self.reworded
                ):
                    self._copy(n, own)
        for n in [
            n for n, marked in self.marked.items() if markers(own[self.sources[n] or 0]) != marked
        ]:
            self._copy(n, own)
        self.reworded = set()
        objects = [None if at is None else own[at] for at in self.places]
        for i, copy in zip(self.made, self.copies, strict=True):
            objects[i] = copy
        return objects

    def _begin(self, shown: list[OutgoingMessage]) -> None:
        known = {id(self.shown[i].object): n for n, i in enumerate(self.made)}
        copies, written, marked = self.copies, self.written, self.marked
        self.places = [None if one.made else one.at for one in shown]
        self.made = [i for i, at in enumerate(self.places) if at is None]
        self.sources = [shown[i].at for i in self.made]
        before = [known.get(id(shown[i].object)) for i in self.made]
        self.copies = [None if old is None else copies[old] for old in before]
        self.written = [
            shown[i].object if old is None else written[old]
            for i, old in zip(self.made, before, strict=True)
        ]
        self.marked = {n: marked[old] for n, old in enumerate(before) if old in marked}
        self.shown = shown

    def _copy(self, n: int, own: Sequence[Json]) -> None:
        object, at = self.shown[self.made[n]].object, self.sources[n]
        self.marked.pop(n, None)
        if at is not None:
            object = remarked(object, own[at])
            if marked := markers(own[at]):
                self.marked[n] = deepcopy(marked)
        self.written[n], self.copies[n] = deepcopy(object), deepcopy(object)
