"""OpenAI's chat completions."""

from __future__ import annotations

from typing import ClassVar

from workbench.live.formats.chat import Chat, function_of
from workbench.live.formats.parts import type_of
from workbench.live.formats.shape import Record, text_of
from workbench.transcript.message import Message


class OpenAIChat(Chat):
    """Calls beside the content, each result a message of its own."""

    name: ClassVar[str] = "openai"

    def shows(self, record: Record) -> bool:
        """Whether it has a call or a result, or a picture's address."""
        content = record.get("content")
        if record.get("role") in ("tool", "function") or record.get("tool_calls") or record.get("function_call"):
            return True
        return any(type_of(part) == "image_url" for part in content) if isinstance(content, list) else False

    def new(self, message: Message) -> tuple[Record]:
        """The message as OpenAI writes it."""
        text = text_of(message.blocks)
        if message.role == "tool":
            return ({"role": "tool", "tool_call_id": message.call_id, "content": text},)
        if message.role == "assistant" and message.calls:
            calls = [{"id": call.id, "type": "function", "function": function_of(call)} for call in message.calls]
            return ({"role": "assistant", "content": text or None, "tool_calls": calls},)
        if message.role != "summary":
            return ({"role": message.role, "content": text},)
        named = {"name": message.name} if message.name else {}
        return ({"role": message.said_by, **named, "content": text},)
