"""What changed in a saved compactor, as one JSON object.

Of each list it has the present length and the items that are new or others now, of each mapping the
keys that are, and every other field that has another value. Put into a document one after another,
changes make it the document that `Compactor.save` would return.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json

CHANGE = "compactor-change"
"""The field `workbench` of a change; that of a whole document says `compactor`."""


@dataclass(frozen=True, slots=True)
class ListChange:
    """What became of a list.

    Attributes:
        length: of the list now.
        items: by index, those that are new or others now.
        is_shorter: whether it was longer before.
    """

    length: int
    items: Mapping[int, Json]
    is_shorter: bool = False

    def record(self) -> dict[str, Json]:
        """The change as JSON."""
        items: dict[str, Json] = {}
        for index, item in self.items.items():
            items[str(index)] = item
        return {"length": self.length, "items": items}


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a document.

    Attributes:
        values: of the fields that have another value.
        mappings: by field, the keys that are new or have another value.
        lists: by field, what became of a list.
    """

    values: Mapping[str, Json] = field(default_factory=dict)
    mappings: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    lists: Mapping[str, ListChange] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is another now."""
        return not (self.values or self.mappings or self.lists)

    def record(self, number: int) -> dict[str, Json]:
        """The change as JSON; `number` counts the changes since the whole document, from 1."""
        lists: dict[str, Json] = {}
        for name, change in self.lists.items():
            lists[name] = change.record()
        return {
            "workbench": CHANGE,
            "number": number,
            "values": self.values,
            "mappings": self.mappings,
            "lists": lists,
        }


def document_of(records: Iterable[Json]) -> dict[str, Json]:
    """The document after all changes.

    Args:
        records: a whole document and the changes behind it, in order.

    Raises:
        FormatError: a change is missing, or does not fit.
    """
    document: dict[str, Json] = {}
    for number, record in enumerate(records):
        if number == 0:
            document = {name: copy(value) for name, value in record.items()}
            continue
        try:
            _expect(number, record)
            _put(record, document)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            objection = (
                f"change {number} of the saved compactor is damaged ({error}); what"
                " `Compactor.save_to` wrote, unchanged, would be accepted"
            )
            raise FormatError(objection) from None
    return document


def _expect(number: int, record: Json) -> None:
    is_change = record["workbench"] == CHANGE
    if not is_change or record["number"] != number:
        raise ValueError("it is another record")


def _put(record: Json, document: dict[str, Json]) -> None:
    """Put a change into the document."""
    document.update(record["values"])
    for name, changed in record["mappings"].items():
        mapping: dict[str, Json] = document.setdefault(name, {})
        mapping.update(changed)
    for name, change in record["lists"].items():
        items: list[Json] = document.setdefault(name, [])
        length = change["length"]
        del items[length:]
        for index, item in change["items"].items():
            _set_item(items, int(index), item)


def _set_item(items: list[Json], index: int, item: Json) -> None:
    if index == len(items):
        items.append(item)
    else:
        items[index] = item
