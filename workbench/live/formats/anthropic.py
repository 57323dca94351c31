"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from workbench.live.formats.chat import Chat
from workbench.live.formats.parts import type_of
from workbench.live.formats.shape import Record, said_by_name
from workbench.transcript.message import Json, Message

_OWN = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "compaction"})
"""Kinds of parts that only this format has."""


class Anthropic(Chat):
    """Calls, thoughts and results as parts of the content; the system prompt stands beside the messages."""

    name: ClassVar[str] = "anthropic"

    def shows(self, record: Record) -> bool:
        """Whether a part of its content is of a kind of Anthropic's, or marked for its cache."""
        content = record.get("content")
        return isinstance(content, list) and any(
            type_of(part) in _OWN or (isinstance(part, Mapping) and "cache_control" in part) for part in content
        )

    def new(self, message: Message) -> tuple[Record]:
        """The message as Anthropic writes it."""
        text = said_by_name(message)
        if message.role == "tool":
            part = {"type": "tool_result", "tool_use_id": message.call_id, "content": text}
            return ({"role": "user", "content": [{**part, "is_error": True} if message.is_error else part]},)
        if message.role == "assistant" and message.calls:
            parts: list[Json] = [{"type": "text", "text": text}] if text else []
            uses = [{"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)} for c in message.calls]
            return ({"role": "assistant", "content": parts + uses},)
        if message.role == "summary":
            return ({"role": message.said_by, "content": text},)
        return ({"role": "user" if message.role == "system" else message.role, "content": text},)
