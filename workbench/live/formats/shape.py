"""What every format has in common: a host's entry as it was read, one as it is sent, and what a
format must know.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
    is_real_user,
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
        if isinstance(value, list):
            record[name] = [plain(part) for part in value]
        else:
            record[name] = plain(value)
    return record


def misfit(record: Record) -> tuple[str, str]:
    """The field of an entry that no format can read, and why; empty if there is none."""
    for name in BODIES:
        value = record.get(name)
        if isinstance(value, bytes | bytearray | int | float):
            return name, f"expected text or a list of parts, found {type(value).__name__}"
    calls = record.get("tool_calls")
    if calls and not _are_calls(calls):
        return "tool_calls", "expected a list of calls"
    return "", ""


def _are_calls(value: Json) -> bool:
    if not isinstance(value, list | tuple):
        return False
    return all(isinstance(call, Mapping) for call in value)


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


def has_question(host_messages: Iterable[HostMessage]) -> bool:
    """Whether a person says something in them."""
    messages: list[Message] = []
    for host_message in host_messages:
        messages += host_message.messages
    return any(map(is_real_user, messages))


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
    def place(self) -> int | None:
        """Which of the host's entries it is; None for what was written."""
        if self.made:
            return None
        return self.at

    @property
    def role(self) -> str:
        """Its role in the host's format; empty where it has none."""
        message = self.object
        is_mapping = isinstance(message, dict | Mapping)
        role = message.get("role") if is_mapping else getattr(message, "role", "")
        if isinstance(role, str):
            return role
        return ""


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
        unreadable: the marks of such compactions that the provider cannot read any more.
        parts, covers: filled while reading, see `HostMessage`.
    """

    records: Sequence[Record]
    pinned: bool
    names: dict[str, str]
    written: Mapping[str, Summary]
    open_calls: Sequence[tuple[str, str]]
    new_id: Callable[[], str]
    sealed_budget: int
    unreadable: Collection[str] = ()
    parts: dict[int, Json] = field(default_factory=dict)
    covers: Covers = ""

    def waiting_call(self, name: str) -> str:
        """The id of the first open call of that tool, or of any where the name is empty; empty
        if there is none.
        """
        for call_id, tool_name in self.open_calls:
            if not name or tool_name == name:
                return call_id
        return ""

    def own_summary(self, content: Json) -> Summary | None:
        """Our own summary, where the host hands one back."""
        if not isinstance(content, str) or content not in self.written:
            return None
        return replace(self.written[content], id=self.new_id())


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
    if message.role == "summary" and message.name:
        return f"[{message.name}]\n{text}"
    return text


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
    parts: list[Record] = []
    for block in blocks:
        host_part = host_message.parts.get(id(block))
        text = text_of([block])
        if isinstance(host_part, Mapping):
            if host_part:
                parts.append(host_part)
        elif text:
            parts.append({**words, "text": text})
    return parts


def content_of(blocks: Sequence[AnswerBlock], host_message: HostMessage, words: Record) -> Json:
    """Text where there is only text and no part of the host's, else a list of parts; what was
    there is never empty.
    """
    for block in blocks:
        is_host_part = isinstance(host_message.parts.get(id(block)), Mapping)
        if block.type != "text" or is_host_part:
            return own_parts(blocks, host_message, words) or EMPTY_RESULT
    return text_of(blocks) or EMPTY_RESULT


def thoughts_of(message: AssistantMessage) -> list[int]:
    """The identities of an answer's thoughts."""
    return [id(block) for block in message.blocks if block.type == "thinking"]


def text_of(blocks: Sequence[AnswerBlock | SaidBlock]) -> str:
    """The words of blocks, a line each, with a note where a picture cannot be sent as text."""
    texts: list[str] = []
    for block in blocks:
        if isinstance(block, Text):
            texts.append(block.text)
        elif isinstance(block, Image):
            texts.append(f"[{block.media_type} left out]")
    return "\n".join(text for text in texts if text.strip())
