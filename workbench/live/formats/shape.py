"""What every format has in common: a host's entry as it was read, one as it is sent, and what a
format must know.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

from workbench.engine.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Image,
    Json,
    Message,
    SaidBlock,
    Summary,
    Text,
)
from workbench.live.formats.canonical import BODIES, key
from workbench.live.formats.parts import plain

Record: TypeAlias = Mapping[str, Json]
Covers: TypeAlias = Literal["", "answers", "all"]

GAP = "(earlier messages were left out here)"
"""Text of a user's turn that an API requires where the original turn was removed."""
EMPTY_RESULT = "(no output)"
SYSTEM_ROLES = frozenset({"system", "developer"})


def is_system(entry: Json) -> bool:
    """Whether the host's entry is a system prompt."""
    record = plain(entry)
    return isinstance(record, Mapping) and record.get("role") in SYSTEM_ROLES


def record_of(host_message: Json) -> dict[str, Json]:
    """A copy of a host's entry as plain data."""
    record = deepcopy(dict(plain(host_message)))
    for name, value in record.items():
        record[name] = [plain(part) for part in value] if isinstance(value, list) else plain(value)
    return record


def misfit(record: Record) -> tuple[str, str]:
    """The field of an entry that no format can read, and why; empty if there is none."""
    for name in BODIES:
        if isinstance(value := record.get(name), bytes | bytearray | int | float):
            return name, f"expected text or a list of parts, found {type(value).__name__}"
    calls = record.get("tool_calls")
    if calls and not (
        isinstance(calls, list | tuple) and all(isinstance(call, Mapping) for call in calls)
    ):
        return "tool_calls", "expected a list of calls"
    return "", ""


@dataclass(frozen=True)
class HostMessage:
    """One entry of the host's list: a message, or an item of one.

    Attributes:
        object: the host's own, to be sent back as it is where nothing in it was changed.
        record: our own copy of it.
        messages: what it says; several where it holds several tool results, none where a later
            entry has the rest of the same answer.
        sizes: their tokens.
        parts: the part of the record that each block or tool result was read from, by the identity
            of the latter.
        span: how many of the host's entries the messages were read from, this one the last of them.
        covers: whether it holds a compaction by the provider, which takes no notice of what came
            before it: of all, or of all but the user's messages.
    """

    object: Json
    record: Record
    messages: tuple[Message, ...] = ()
    sizes: tuple[int, ...] = ()
    parts: Mapping[int, Json] = field(default_factory=dict)
    span: int = 1
    covers: Covers = ""
    _rewritten: list[tuple[Sequence[Message], list[Record]]] = field(
        default_factory=list, init=False, compare=False, repr=False
    )

    def rewritten(
        self,
        group: Sequence[Message],
        write: Callable[[Sequence[Message], "HostMessage"], Iterable[Record]],
    ) -> list[Record]:
        """The entry with what stages made of its messages, written once for as long as that
        stays the same.
        """
        last_written = self._rewritten[-1:]
        if not last_written or [*map(id, last_written[0][0])] != [*map(id, group)]:
            last_written = [(group, [*write(group, self)])]
            self._rewritten[:] = last_written
        return last_written[0][1]

    @cached_property
    def key(self) -> bytes:
        """The same for entries that say the same."""
        return key(self.record)

    def says(self, present: Json) -> bool:
        """Whether the host's entry, as it is now, says what was read."""
        return bool(self.record == plain(present)) or self.key == key(present)


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """One entry as it is sent.

    Attributes:
        made: whether it is new and not the host's own object.
        at: which of the host's entries it is or was made of; None for what is new.
    """

    object: Json
    made: bool = True
    at: int | None = None

    @property
    def role(self) -> str:
        """Its role in the host's format; empty where it has none."""
        message = self.object
        named = (
            message.get("role")
            if isinstance(message, dict | Mapping)
            else getattr(message, "role", "")
        )
        return named if isinstance(named, str) else ""


@dataclass(slots=True)
class Entry:
    """What a format reads messages from.

    Attributes:
        records: the host's entries of one answer, or one entry.
        pinned: whether the host wants it to stay.
        names: the tools' names by the ids of their calls, so far.
        written: our own summaries by their text, in case the host hands one back.
        open_calls: the calls before it that no result has answered, by id and name.
        new_id: gives each message its id.
        sealed_budget: tokens up to which a provider's own compaction is pinned; a larger one may be
            taken out.
        parts, covers: filled while reading, see `HostMessage`.
    """

    records: Sequence[Record]
    pinned: bool
    names: dict[str, str]
    written: Mapping[str, Summary]
    open_calls: Sequence[tuple[str, str]]
    new_id: Callable[[], str]
    sealed_budget: int
    parts: dict[int, Json] = field(default_factory=dict)
    covers: Covers = ""

    def waiting_call(self, name: str) -> str:
        """The id of the first open call of that tool, or of any where the name is empty; empty
        if there is none.
        """
        return next((id for id, of_call in self.open_calls if not name or of_call == name), "")

    def own_summary(self, content: Json) -> Summary | None:
        """Our own summary, where the host hands one back."""
        summary = self.written.get(content) if isinstance(content, str) else None
        return None if summary is None else replace(summary, id=self.new_id())


def sealed_records(message: Message, format: str) -> list[Record]:
    """The records of a provider's own compaction, if the message is one in this format, and what
    is sent below it.
    """
    if message.role != "summary" or not message.sealed:
        return []
    document = json.loads(message.sealed)
    if document["format"] != format:
        return []
    records: list[Record] = list(document["records"])
    if message.tail.strip():
        records.append({"role": "user", "content": message.tail.strip()})
    return records


def said_by_name(message: Message) -> str:
    """The text of a message, for formats that have no field for its author: a summary's name
    stands above it.
    """
    text = text_of(message.blocks)
    return f"[{message.name}]\n{text}" if message.role == "summary" and message.name else text


class HostFormat(ABC):
    """One API's shape of a conversation: to our messages and back."""

    name: ClassVar[str]

    @abstractmethod
    def shows(self, record: Record) -> bool:
        """Whether an entry has what only this format has."""

    @abstractmethod
    def problem(self, record: Record) -> tuple[str, str]:
        """The field for which an entry cannot be read, and why; empty if it can."""

    def joins(self, record: Record) -> bool:
        """Whether an entry is a piece of an answer, to be read together with its neighbours that
        are pieces too.
        """
        return False

    @abstractmethod
    def read(self, entry: Entry) -> list[Message]:
        """The messages that an entry, or all pieces of one answer, hold."""

    @abstractmethod
    def rewritten(self, group: Sequence[Message], host_message: HostMessage) -> Iterable[Record]:
        """The host's entry with the parts that a stage changed or removed."""

    @abstractmethod
    def new(self, message: Message) -> Iterable[Record]:
        """A message that the host never had."""

    def finished(
        self, outgoing: list[OutgoingMessage], path: Sequence[HostMessage]
    ) -> list[OutgoingMessage]:
        """All that is sent, with what the API requires of the whole."""
        return outgoing


def own_parts(
    blocks: Sequence[AnswerBlock], host_message: HostMessage, words: Record
) -> list[Record]:
    """The host's own parts where nothing changed; a part of these words for other blocks that
    say something.
    """
    parts_and_texts = ((host_message.parts.get(id(block)), text_of([block])) for block in blocks)
    parts = (
        (part if isinstance(part, Mapping) else text and {**words, "text": text})
        for part, text in parts_and_texts
    )
    return [part for part in parts if part]


def content_of(blocks: Sequence[AnswerBlock], host_message: HostMessage, words: Record) -> Json:
    """Text where there is only text and no part of the host's, else a list of parts; what was
    there is never empty.
    """
    if any(
        block.type != "text" or isinstance(host_message.parts.get(id(block)), Mapping)
        for block in blocks
    ):
        return own_parts(blocks, host_message, words) or EMPTY_RESULT
    return text_of(blocks) or EMPTY_RESULT


def thoughts_of(message: AssistantMessage) -> list[int]:
    """The identities of an answer's thoughts."""
    return [id(block) for block in message.blocks if block.type == "thinking"]


def text_of(blocks: Sequence[AnswerBlock | SaidBlock]) -> str:
    """The words of blocks, a line each, with a note where a picture cannot be sent as text."""
    texts = (
        block.text if block.type == "text" else f"[{block.media_type} left out]"
        for block in blocks
        if isinstance(block, Text | Image)
    )
    return "\n".join(text for text in texts if text.strip())
