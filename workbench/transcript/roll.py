"""Who stands in a context, followed from each context to the one that grows out of it: only changes are looked at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from workbench.transcript.context import Context
from workbench.transcript.message import Message, is_real_user
from workbench.transcript.pairing import has_partners, protected


class Roll:
    """The ids, the pinned messages and the users' messages of one context.

    Attributes:
        ids: how often each id stands there.
        pinned, users: places of the pinned messages, and of those that a person wrote; in order.
    """

    __slots__ = ("_messages", "ids", "pinned", "users")

    def __init__(self) -> None:
        self._messages: tuple[Message, ...] = ()
        self.ids: dict[str, int] = {}
        self.pinned: list[int] = []
        self.users: list[int] = []

    def follow(self, messages: tuple[Message, ...], head: int, tail: int) -> None:
        """Speak of these messages from now on, whose first `head` and last `tail` are those of before."""
        old_end, new_end = _end(self._messages, head, tail), _end(messages, head, tail)
        gone, come = self._messages[head:old_end], messages[head:new_end]
        for message in gone:
            left = self.ids.pop(message.id) - 1
            if left:
                self.ids[message.id] = left
        for message in come:
            self.ids[message.id] = self.ids.get(message.id, 0) + 1
        pinned = [i for i, message in enumerate(come, head) if message.pinned]
        users = [i for i, message in enumerate(come, head) if is_real_user(message)]
        self.pinned = _moved(self.pinned, head, old_end, new_end, pinned)
        self.users = _moved(self.users, head, old_end, new_end, users)
        self._messages = messages

    def apart_from(self, gone: Iterable[Message], come: Iterable[Message]) -> bool:
        """Whether no id stands twice, and those that come for some messages have ids of theirs or ids that are new."""
        if len(self.ids) != len(self._messages):
            return False
        own = {message.id for message in gone}
        return self.ids.keys().isdisjoint([message.id for message in come if message.id not in own])

    def protected(self) -> set[int]:
        """The indices that no strategy may lose, as `pairing.protected` finds them."""
        if self.pinned and has_partners([self._messages[i] for i in self.pinned]):
            return protected(self._messages)
        return {*self.pinned, *self.users[-1:]}


def followed(context: Context) -> Roll | None:
    """The roll of a context, or of one that it grew out of, now followed to it; None where nobody called one."""
    own = context.lineage.steps[0][0]
    for mark, head, tail in context.lineage.steps:
        roll = mark.roll
        if roll is not None:
            if mark is not own:
                mark.roll, own.roll = None, roll
                roll.follow(context.messages, head, tail)
            return roll
    return None


def called(context: Context) -> Roll:
    """The roll of a context, begun if nobody did: worth it where many contexts will grow out of it."""
    roll = followed(context)
    if roll is None:
        roll = context.lineage.steps[0][0].roll = Roll()
        roll.follow(context.messages, 0, 0)
    return roll


def _end(messages: Sequence[Message], head: int, tail: int) -> int:
    """Where the last `tail` messages begin, which the first `head` are none of."""
    return max(len(messages) - tail, head)


def _moved(places: list[int], head: int, old_end: int, new_end: int, come: Sequence[int]) -> list[int]:
    """Places after the messages from `head` to `old_end` were replaced by others, up to `new_end`, at places `come`."""
    low, high, shift = bisect_left(places, head), bisect_left(places, old_end), new_end - old_end
    if shift == 0:
        places[low:high] = come
        return places
    return [*places[:low], *come, *(place + shift for place in places[high:])]
