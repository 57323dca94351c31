"""Lists as they were recorded last, and what became of them since."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from workbench.engine.transcript.message import Json, Message
from workbench.live.identity import HostList
from workbench.live.saved_changes import ListChange
from workbench.recordings.importers.native import as_plain

Item = TypeVar("Item")

BLOCK = 256
"""So many places of a host's list are compared in one step where they are the same."""


class RecordedList(Generic[Item]):
    """The items of a list as they were recorded last; an item never changes."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    def dropped(self, present: Sequence[Item], same: int) -> list[Item]:
        """The recorded items that the present list no longer has; `same` of the first it has."""
        dropped = self.items[len(present) :]
        recorded_items = self.items[same:]
        present_items = present[same:]
        for recorded_item, item in zip(recorded_items, present_items, strict=False):
            if recorded_item is not item:
                dropped.append(recorded_item)
        return dropped

    def change(
        self, present: Sequence[Item], record: Callable[[Item], Json], same: int = 0
    ) -> ListChange | None:
        """What became of the list since, with a record of each item that is another now.

        Args:
            present: the list.
            record: writes an item down.
            same: how many of the first items are known to be the same.
        """
        recorded_count = len(self.items)
        is_shorter = len(present) < recorded_count
        items: dict[int, Json] = {}
        for index in range(same, len(present)):
            item = present[index]
            is_new = index >= recorded_count
            if is_new or self.items[index] is not item:
                items[index] = record(item)
        self.items[same:] = present[same:]
        if is_shorter or items:
            return ListChange(len(present), items, is_shorter)
        return None


class MadeMessages:
    """The messages that stages wrote, numbered as compactions refer to them."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._numbers: dict[int, int] = {}
        self._recorded = 0

    def reference(self, message: Message) -> str:
        """What stands for the message in a compaction."""
        identity = id(message)
        if identity not in self._numbers:
            self._numbers[identity] = len(self._messages)
            self._messages.append(message)
        number = self._numbers[identity]
        return f"@{number}"

    def change(self) -> ListChange | None:
        """The messages that were referred to for the first time."""
        items: dict[int, Json] = {}
        message_count = len(self._messages)
        for number in range(self._recorded, message_count):
            message = self._messages[number]
            items[number] = as_plain(message)
        self._recorded = message_count
        if not items:
            return None
        return ListChange(message_count, items)


class RecordedSlots:
    """A list that the host may hold, as it was recorded last.

    Each of its messages is known by its place among the host's own, or is one that was written for
    the host.
    """

    def __init__(self) -> None:
        self._slots: list[Json] = []

    def change(self, present: HostList) -> ListChange | None:
        """What became of the list since."""
        recorded = self._slots
        slots = _slots_of(present)
        items: dict[int, Json] = {}
        for start in range(0, len(slots), BLOCK):
            stop = start + BLOCK
            block = slots[start:stop]
            if block == recorded[start:stop]:
                continue
            for index, slot in enumerate(block, start):
                is_recorded = index < len(recorded)
                if is_recorded and recorded[index] == slot:
                    continue
                if isinstance(slot, int):
                    items[index] = {"at": slot}
                else:
                    items[index] = {"record": slot}
        self._slots = slots
        is_shorter = len(slots) < len(recorded)
        if items or is_shorter:
            return ListChange(len(slots), items, is_shorter)
        return None


def _slots_of(messages: HostList) -> list[Json]:
    """Of each message its place among the host's own, or the message where it is none of them."""
    slots: list[Json] = []
    for place, message in zip(messages.places, messages.objects, strict=True):
        if place is None:
            slots.append(message)
        else:
            slots.append(place)
    return slots
