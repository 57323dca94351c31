"""How OpenAI's chat completions and Anthropic's messages write new messages, and what shows them."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from workbench.engine.transcript.message import (
    AssistantMessage,
    Json,
    Message,
    ToolCall,
    ToolResult,
)
from workbench.live.formats.chat import Chat
from workbench.live.formats.chat_answers import function_of
from workbench.live.formats.parts import type_of
from workbench.live.formats.shape import Record, said_by_name, sealed_records, text_of

_ANTHROPIC = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "compaction"}
)
"""Kinds of parts that only Anthropic has."""


class OpenAIChat(Chat):
    """Calls beside the content, each result a message of its own."""

    name: ClassVar[str] = "openai"

    def shows(self, record: Record) -> bool:
        """Whether it has a call or a result, or a picture's address."""
        if record.get("role") in ("tool", "function"):
            return True
        if record.get("tool_calls") or record.get("function_call"):
            return True
        content = record.get("content")
        if not isinstance(content, list):
            return False
        return any(type_of(part) == "image_url" for part in content)

    def new(self, message: Message) -> tuple[Record]:
        """The message as OpenAI writes it."""
        text = text_of(message.blocks)
        record: dict[str, Json] = {"role": message.role}
        if message.role == "tool":
            record["tool_call_id"] = message.call_id
        elif message.role == "summary":
            record["role"] = message.said_by
            if message.name:
                record["name"] = message.name
        record["content"] = text
        if message.role == "assistant" and message.calls:
            record["content"] = text or None
            record["tool_calls"] = list(map(_new_call, message.calls))
        return (record,)


def _new_call(call: ToolCall) -> Record:
    return {"id": call.id, "type": "function", "function": function_of(call)}


class Anthropic(Chat):
    """Calls, thoughts and results as parts of the content; the system prompt stands beside the
    messages.
    """

    name: ClassVar[str] = "anthropic"

    def shows(self, record: Record) -> bool:
        """Whether a part of its content is of a kind of Anthropic's, or marked for its cache."""
        content = record.get("content")
        return isinstance(content, list) and any(map(_is_of_anthropic, content))

    def new(self, message: Message) -> Sequence[Record]:
        """The message as Anthropic writes it."""
        sealed = sealed_records(message, self.name)
        if sealed:
            return sealed
        text = said_by_name(message)
        if message.role == "tool":
            return ({"role": "user", "content": [_new_result(message, text)]},)
        if message.role == "assistant" and message.calls:
            return ({"role": "assistant", "content": _new_parts(message, text)},)
        role: str = message.role
        if message.role == "summary":
            role = message.said_by
        elif message.role == "system":
            role = "user"
        return ({"role": role, "content": text},)


def _new_result(result: ToolResult, text: str) -> Record:
    """A tool's result as a part of Anthropic's."""
    part: dict[str, Json] = {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": text,
    }
    if result.is_error:
        part["is_error"] = True
    return part


def _new_parts(answer: AssistantMessage, text: str) -> list[Record]:
    """The text and the calls of an answer as parts of Anthropic's."""
    parts: list[Record] = []
    if text:
        parts.append({"type": "text", "text": text})
    for call in answer.calls:
        part = {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": dict(call.arguments),
        }
        parts.append(part)
    return parts


def _is_of_anthropic(part: Json) -> bool:
    """Whether a part is of a kind of Anthropic's, or marked for its cache."""
    if type_of(part) in _ANTHROPIC:
        return True
    return isinstance(part, Mapping) and "cache_control" in part
