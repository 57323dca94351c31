"""A format described by the names of its fields: who speaks, and where a record has what a
message has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from workbench.engine.transcript.message import Json
from workbench.recordings.importers.chat import ROLES, ChatBuilder
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    block_texts,
    first_value,
    mapping,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageShape:
    """Where a format's records have what a message has.

    Fields are named by spaces between them: the first that holds something counts. `a/b` is `b`
    inside `a`.

    Attributes:
        inside: objects that hold the message; without them the record is it.
        role: who speaks.
        roles: OpenAI's role for each of the format's own, where they differ.
        notes: roles of records that no model was sent; their words become notes.
        content: words, or parts.
        id, time, model, stop, name: what else a message has.
        thinking: what the model thought, as text beside its words.
        calls: the calls of an answer, where they are not among its parts.
        call_id: the call that a tool's message answers.
        failed: a field of a tool's message, and behind `=` its value where the tool failed.
        synthetic: likewise, where a user's message is the client's.
        summary: likewise, where a message is the summary of all before it.
        usage: what the provider reported, in the object `usage_in`.
        system: the system prompt, in the object that holds the list of messages.
    """

    inside: str = ""
    role: str = "role"
    roles: Mapping[str, str] = field(default_factory=dict)
    notes: frozenset[str] = frozenset()
    content: str = "content parts"
    id: str = "id uuid"
    time: str = "timestamp"
    model: str = "model"
    stop: str = "stop_reason finish_reason"
    name: str = "name"
    thinking: str = "reasoning_content reasoning"
    calls: str = "tool_calls"
    call_id: str = "tool_call_id"
    failed: str = ""
    synthetic: str = ""
    summary: str = ""
    usage: UsageFields | None = None
    usage_in: str = "usage"
    system: str = ""


class DescribedBuilder(ChatBuilder):
    """Reads the messages of a described format.

    Attributes:
        shape: the description.
    """

    shape: ClassVar[MessageShape] = MessageShape()

    def begin(self, document: Record) -> None:
        """Read what the object around the messages says of the session, and its system prompt."""
        super().begin(document)
        prompt = first_value(document, self.shape.system)
        if isinstance(prompt, str):
            self.say_text("system", prompt, id="system")

    def read(self, record: Record) -> None:
        """Read one record: a message, the summary of a compaction, or a note."""
        shape = self.shape
        message = record
        if shape.inside:
            message = mapping(record, *shape.inside.split()) or record
        role = self.role_of(record, message)
        if role in shape.notes:
            self._read_time(message)
            self.note(role, _words(first_value(message, shape.content)))
        elif shape.summary and is_value(message, shape.summary):
            self._read_time(message)
            summary = self.summary_in({"content": first_value(message, shape.content)})
            self.compaction(summary, kept=self.system_ids)
        else:
            self.synthetic = bool(shape.synthetic) and is_value(message, shape.synthetic)
            self.read_message(self.shaped(message, role))

    def _read_time(self, message: Record) -> None:
        time = first_value(message, self.shape.time)
        self.time = self.source.time({"time": time}, "time")

    def role_of(self, record: Record, message: Record) -> str:
        """Who speaks, as OpenAI names it where it is known."""
        shape = self.shape
        role = first_value(message, shape.role) or first_value(record, shape.role)
        if not isinstance(role, str):
            return shape.roles.get("", "")
        return shape.roles.get(role, role)

    def read_message(self, message: Record) -> None:
        """Read a message in the shape of a chat API."""
        super().read(message)

    def shaped(self, message: Record, role: str) -> JsonObject:
        """The message in the shape of a chat API."""
        shape = self.shape
        return {
            "role": role,
            "content": first_value(message, shape.content),
            "id": first_value(message, shape.id),
            "timestamp": first_value(message, shape.time),
            "model": first_value(message, shape.model),
            "finish_reason": first_value(message, shape.stop),
            "name": first_value(message, shape.name),
            "reasoning_content": first_value(message, shape.thinking),
            "tool_calls": first_value(message, shape.calls),
            "tool_call_id": first_value(message, shape.call_id),
            "is_error": bool(shape.failed) and is_value(message, shape.failed),
            "usage": first_value(message, shape.usage_in),
        }


def _words(value: Json) -> str:
    """The words of a content: a text, or the texts of a list of blocks."""
    if isinstance(value, list):
        return block_texts({"content": value}, "content")
    return value if isinstance(value, str) else ""


def is_value(record: Record, condition: str) -> bool:
    """Whether a field has the value behind `=`, or is true where there is none."""
    name, _, expected = condition.partition("=")
    value = first_value(record, name)
    if expected:
        return bool(value == expected)
    return value is True


def described(shape: MessageShape, **about: str) -> type[DescribedBuilder]:
    """The builder of a described format; `about` names the fields that tell of the whole
    session.
    """
    members: dict[str, Any] = {"shape": shape, "usage_fields": shape.usage, "about": about}
    return type("DescribedBuilder", (DescribedBuilder,), members)


def speaks(record: Record, shape: MessageShape) -> bool:
    """Whether a record has a role that the format knows, for recognising it."""
    message: Record = record
    for name in shape.inside.split():
        message = as_mapping(record.get(name)) or message
    role = message.get(shape.role) or record.get(shape.role)
    if not isinstance(role, str):
        return False
    return role in ROLES or role in shape.roles or role in shape.notes
