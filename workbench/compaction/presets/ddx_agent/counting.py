"""How the DDx agent estimates: bytes by four, rounded up for each part of a message."""

from __future__ import annotations

import json
from collections.abc import Iterable

from workbench.compaction.clip import boundary
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    ToolResult,
    Usage,
    image_tokens,
    plain_text,
)


def size_in_bytes(text: str) -> int:
    """UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def first_bytes(text: str, most: int) -> str:
    """As many whole characters as fit into that many bytes."""
    if size_in_bytes(text) <= most:
        return text
    head = text.encode("utf-8", "surrogatepass")[: max(most, 0)].decode("utf-8", "ignore")
    return text[: boundary(text, len(head))]


def text_tokens(text: str) -> int:
    """A quarter of the bytes, rounded up."""
    return -(-size_in_bytes(text) // 4)


def role(message: Message) -> str:
    """The role under which it is sent."""
    return message.said_by if isinstance(message, Summary) else message.role


def ddx_tokens(message: Message) -> int:
    """One message: role, words, names and arguments of calls, and the id of the call that a result answers."""
    calls = message.calls if isinstance(message, AssistantMessage) else ()
    return (
        text_tokens(role(message))
        + text_tokens(plain_text(message))
        + sum(text_tokens(call.name) + text_tokens(_json(call.arguments)) for call in calls)
        + (text_tokens(message.call_id) if isinstance(message, ToolResult) else 0)
        + image_tokens(message)
    )


def _json(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def conversation_tokens(messages: Iterable[Message]) -> int:
    """All messages together."""
    return sum(map(ddx_tokens, messages))


def prefix_tokens(system_prompt: str) -> int:
    """What the system prompt takes, which is no message of the history."""
    return text_tokens("system") + text_tokens(system_prompt)


def effective_tokens(usage: Usage) -> int:
    """What a request took of the window, as the provider reports it: all four parts."""
    return usage.input + usage.output + usage.cache_read + usage.cache_write
