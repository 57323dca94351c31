"""The lists of messages that a host may hold, and how far a list that it passes is one of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.engine.transcript.message import Json
from workbench.live.formats.canonical import key
from workbench.live.formats.shape import HostMessage
from workbench.live.identity import HostList, common
from workbench.live.state import State


@dataclass(frozen=True, slots=True)
class ListMatch:
    """How far the host's present list is one that it had before.

    Attributes:
        line: the earlier list.
        same: how many of its first messages are the same.
        heard_count: how many of the host's messages, from the first one, these are.
        reworded: the indexes of those that say the same in another form.
    """

    line: HostList
    same: int
    heard_count: int
    reworded: Sequence[int] = ()


class HostLists:
    """What the host may go on from.

    Attributes:
        own: its messages from the first one, with its objects as it has them now.
        passed: the list that it passed last, if another.
        returned: the list that it got last.
    """

    def __init__(self) -> None:
        self.own = HostList()
        self.passed = HostList()
        self.returned = HostList()

    @property
    def present(self) -> tuple[HostList, HostList, HostList]:
        """All of them, the host's own first."""
        return self.own, self.passed, self.returned

    def begin_anew(self, path: Sequence[HostMessage]) -> None:
        """Forget all but the host's own messages, as they were read."""
        objects = [host_message.object for host_message in path]
        places: list[int | None] = [*range(len(path))]
        self.own = HostList(objects, places)
        self.passed = HostList()
        self.returned = HostList()

    def match(self, messages: list[Json], state: State) -> ListMatch:
        """How far these are a list that the host had before: the one that they go on from."""
        best = ListMatch(self.own, same=0, heard_count=0)
        for line in self.present:
            same, reworded = _same(line, messages, state.path)
            if self._goes_on(line, same, best):
                return ListMatch(line, same, state.heard, reworded)
            heard_count = line.heard(same)
            # a piece of an answer whose rest is gone is not the same
            while heard_count and not state.path[heard_count - 1].messages:
                heard_count -= 1
                same -= 1
            if heard_count and same > best.same:
                best = ListMatch(line, same, heard_count, reworded)
        return best

    def _goes_on(self, line: HostList, same: int, best: ListMatch) -> bool:
        """Whether the host goes on from this list, of which so many messages are the same."""
        if same < len(line.objects):
            return False
        if same == 0 and self.own.objects:
            return False
        return line is self.own or same > best.same

    def renew(
        self, line: HostList, objects: list[Json], heard_count: int, is_back: bool
    ) -> list[Json]:
        """Take the host's present objects for the messages that it has heard before.

        Args:
            line: the list that these messages go on from.
            objects: those of them that are the same.
            heard_count: how many of the host's own messages these are.
            is_back: whether the host went back.

        Returns:
            The objects of the messages that were written for the host.
        """
        places = line.places[: len(objects)]
        renewed = HostList(objects, places)
        if line is self.own:
            self.own = renewed
            self.passed = HostList()
            if is_back:
                self.returned = HostList()
            return []
        if is_back or line is self.returned:
            self.returned = HostList(
                objects=list(objects),
                places=list(places),
            )
        self.own = HostList(
            objects=self.own.objects[:heard_count],
            places=self.own.places[:heard_count],
        )
        self.passed = renewed
        written_objects: list[Json] = []
        for place, object in zip(places, objects, strict=True):
            if place is None:
                written_objects.append(object)
            else:
                self.own.objects[place] = object
        return written_objects

    def replace(self, place: int, object: Json) -> None:
        """Put another object in the place of one of the host's first messages."""
        for line in self.present:
            is_in_line = place < len(line.places)
            if is_in_line and line.places[place] == place:
                line.objects[place] = object

    def append(self, object: Json, place: int) -> None:
        """Add a message of the host to each list that it may hold."""
        for line in self.present:
            if line.objects or line is self.own:
                line.objects.append(object)
                line.places.append(place)


def _same(
    line: HostList, messages: list[Json], path: Sequence[HostMessage]
) -> tuple[int, list[int]]:
    """How many of the line's messages are the same, and which of them in another form.

    The newest two may have been changed in place.
    """

    def key_of(index: int) -> bytes:
        place = line.places[index]
        if place is None:
            return key(line.objects[index])
        return path[place].key

    same, reworded = common(line.objects, messages, key_of)
    line_length = len(line.objects)
    first_of_newest = max(line_length - 2, 0)
    for index in range(first_of_newest, same):
        place = line.places[index]
        if place is None:
            continue
        message = messages[index]
        if not path[place].says(message):
            return index, reworded
    return same, reworded
