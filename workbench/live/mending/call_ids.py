"""Ids of calls, which some providers want to be unique in a request, or short.

Source:
    Anthropic: "`tool_use` ids must be unique" (claude-code#20901).
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TypeAlias

from workbench.engine.transcript.message import Json
from workbench.live.formats.canonical import is_output
from workbench.live.formats.parts import plain, type_of
from workbench.live.formats.table import MessageFormat
from workbench.live.mending.sent_entry import SentEntry, parts_of
from workbench.recordings.importers.values import label

SHORT = 9
"""Letters and digits of an id, as Mistral wants them."""
NewId: TypeAlias = Callable[[str], str]
"""The id in the place of one."""


class _NewIds:
    """The ids of calls, each given once: one that comes again gets a number behind it.

    A result takes the id that its call got, in the order of the calls.
    """

    def __init__(self) -> None:
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.open: defaultdict[str, list[str]] = defaultdict(list)

    def of_call(self, call_id: str) -> str:
        """The id of the next call that has this one."""
        self.counts[call_id] += 1
        number = self.counts[call_id]
        new_id = call_id
        if number > 1:
            new_id = f"{call_id}_{number}"
        self.open[call_id].append(new_id)
        return new_id

    def of_result(self, call_id: str) -> str:
        """The id of the call that this result answers."""
        waiting = self.open[call_id]
        if not waiting:
            return call_id
        if len(waiting) == 1:
            return waiting[0]
        return waiting.pop(0)

    def begin_answer(self) -> None:
        """Results behind a new answer are of its calls."""
        self.open.clear()


def with_unique_ids(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With another id for each call whose id an earlier one has, and for its results."""
    ids = _NewIds()
    if format == "responses":
        return _with_unique_items(entries, ids)
    if format == "gemini":
        return list(entries)
    mended: list[SentEntry] = []
    for entry in entries:
        if entry.role == "assistant":
            ids.begin_answer()
        renamed = _renamed(entry, ids.of_call, ids.of_result)
        mended.append(renamed)
    return mended


def with_short_ids(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With ids of nine letters and digits, which every provider takes, in the place of others."""
    if format == "gemini":
        return list(entries)
    return [_renamed(entry, _short_id, _short_id) for entry in entries]


def _short_id(call_id: str) -> str:
    """The id itself if it is such a one, else one that is always the same for it."""
    if len(call_id) == SHORT and call_id.isalnum():
        return call_id
    encoded_id = call_id.encode()
    digest = blake2b(encoded_id).hexdigest()
    return digest[:SHORT]


def _renamed(entry: SentEntry, id_of_call: NewId, id_of_result: NewId) -> SentEntry:
    """A message or an item with the new ids of its calls or results; itself where all are the
    same.
    """
    fields: dict[str, Json] = {}
    record = entry.record
    if record.get("tool_calls"):
        calls: list[Json] = []
        for call in map(plain, record["tool_calls"]):
            renamed_call = _renamed_part(call, "id", id_of_call)
            calls.append(renamed_call)
        fields["tool_calls"] = calls
    if record.get("tool_call_id"):
        fields["tool_call_id"] = id_of_result(record["tool_call_id"])
    if record.get("call_id"):
        new_id = id_of_call
        if is_output(record):
            new_id = id_of_result
        fields["call_id"] = new_id(record["call_id"])
    parts: list[Json] = []
    for part in parts_of(entry):
        part_type = type_of(part)
        if part_type == "tool_use":
            part = _renamed_part(part, "id", id_of_call)
        elif part_type == "tool_result":
            part = _renamed_part(part, "tool_use_id", id_of_result)
        parts.append(part)
    if parts:
        fields["content"] = parts
    for name, value in fields.items():
        if record[name] != value:
            return entry.with_fields(**fields)
    return entry


def _renamed_part(part: Json, name: str, new_id: NewId) -> Json:
    """A call or a result with the new id in this field; without one it stays as it is."""
    call_id = part.get(name)
    if not isinstance(call_id, str) or not call_id:
        return part
    return {**part, name: new_id(call_id)}


def _with_unique_items(entries: Sequence[SentEntry], ids: _NewIds) -> list[SentEntry]:
    """Items without those that come twice, and with another id for each call whose id an earlier
    one has.
    """
    mended: list[SentEntry] = []
    first_items: dict[str, Json] = {}
    for entry in entries:
        record = entry.record
        item_id = label(record, "id")
        is_repeated = bool(item_id) and item_id in first_items
        if is_repeated and first_items[item_id] == record:
            continue
        if is_repeated:
            entry = entry.without_fields(["id"])
        elif item_id:
            first_items[item_id] = record
        renamed = _renamed(entry, ids.of_call, ids.of_result)
        mended.append(renamed)
    return mended
