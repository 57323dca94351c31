"""One entry of a request as it is sent, in the host's format."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.engine.transcript.message import Json
from workbench.live.formats.canonical import is_result_part
from workbench.live.formats.parts import plain, type_of
from workbench.live.formats.shape import Record
from workbench.live.formats.table import MessageFormat
from workbench.live.identity import HostList
from workbench.recordings.importers.values import label

TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
"""Types of parts that hold nothing but words."""
TEXT_TYPE: Mapping[MessageFormat, str] = {
    "openai": "text",
    "anthropic": "text",
    "responses": "input_text",
}
"""The type of a part with a user's words; Gemini's parts have none."""


@dataclass(frozen=True, slots=True)
class SentEntry:
    """A message or an item.

    Attributes:
        object: the host's own, or one that was written for it.
        place: which of the host's messages it is or was made of; None for what is new.
        is_made: whether it is not the host's own object.
    """

    object: Json
    place: int | None = None
    is_made: bool = True

    @property
    def record(self) -> Record:
        """Its fields."""
        record: Record = plain(self.object)
        return record

    @property
    def role(self) -> str:
        """Its role; `assistant` for Gemini's `model`, empty where it has none."""
        role = label(self.record, "role")
        if role == "model":
            return "assistant"
        return role

    @property
    def has_calls(self) -> bool:
        """Whether it is an answer with calls that want results."""
        record = self.record
        if record.get("tool_calls") or record.get("function_call"):
            return True
        parts = parts_of(self)
        return any(map(is_call, parts))

    @property
    def has_results(self) -> bool:
        """Whether it holds results of calls."""
        if self.role in ("tool", "function"):
            return True
        parts = parts_of(self)
        return any(map(is_result_part, parts))

    def with_fields(self, **fields: Json) -> "SentEntry":
        """The same with other fields."""
        record = {**self.record, **fields}
        return replace(self, object=record, is_made=True)

    def without_fields(self, names: Collection[str]) -> "SentEntry":
        """The same without some fields."""
        other_fields: dict[str, Json] = {}
        for name, value in self.record.items():
            if name not in names:
                other_fields[name] = value
        return replace(self, object=other_fields, is_made=True)


def entries_of(history: HostList, start: int = 0, stop: int | None = None) -> list[SentEntry]:
    """The entries of a list or a part of it; those without a place are not the host's own."""
    entries: list[SentEntry] = []
    objects = history.objects[start:stop]
    places = history.places[start:stop]
    for object, place in zip(objects, places, strict=True):
        entry = SentEntry(object, place, is_made=place is None)
        entries.append(entry)
    return entries


def history_of(entries: Sequence[SentEntry]) -> HostList:
    """The list of these entries, of which those that were made are not the host's own."""
    history = HostList()
    for entry in entries:
        place = entry.place
        if entry.is_made:
            place = None
        history.objects.append(entry.object)
        history.places.append(place)
    return history


Mend: TypeAlias = Callable[[Sequence[SentEntry], MessageFormat], list[SentEntry]]
"""Returns the entries with one kind of defect mended: the very same where there is none."""


def body_name(format: MessageFormat) -> str:
    """The field of what a message says."""
    if format == "gemini":
        return "parts"
    return "content"


def parts_of(entry: SentEntry) -> list[Json]:
    """The parts of what it says; none where that is one text."""
    for name in ("content", "parts"):
        body = entry.record.get(name)
        if isinstance(body, list):
            return [plain(part) for part in body]
    return []


def is_call(part: Json) -> bool:
    """Whether a part is a call."""
    if type_of(part) == "tool_use":
        return True
    if not isinstance(part, Mapping):
        return False
    return "functionCall" in part or "function_call" in part


def text_part(text: str, format: MessageFormat) -> Record:
    """A part with a user's words."""
    if format == "gemini":
        return {"text": text}
    return {"type": TEXT_TYPE[format], "text": text}


def said_by_user(text: str, format: MessageFormat) -> SentEntry:
    """A new message of the user."""
    record: dict[str, Json] = {"role": "user", "content": text}
    if format == "gemini":
        part = text_part(text, format)
        record = {"role": "user", "parts": [part]}
    elif format == "responses":
        record["type"] = "message"
    return SentEntry(record)


def joined(entry: SentEntry, later: SentEntry, format: MessageFormat) -> SentEntry:
    """Two messages of one role as one, with all that both say and the fields of both."""
    name = body_name(format)
    body = entry.record.get(name)
    later_body = later.record.get(name)
    if isinstance(body, str) and isinstance(later_body, str):
        joined_body: Json = f"{body}\n\n{later_body}"
    elif not body or not later_body:
        joined_body = body or later_body
    else:
        parts = _as_parts(body, format)
        later_parts = _as_parts(later_body, format)
        joined_body = parts + later_parts
    record = {**entry.record, **later.record, name: joined_body}
    return SentEntry(record, later.place)


def _as_parts(body: Json, format: MessageFormat) -> list[Json]:
    if isinstance(body, str):
        return [text_part(body, format)]
    return list(body)
