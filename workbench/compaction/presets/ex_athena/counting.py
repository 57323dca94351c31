"""How ExAthena estimates: bytes by four and an overhead a message, and calls only where no words stand beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from workbench.transcript.message import AssistantMessage, Message, Text, ToolResult, plain_text
from workbench.transcript.tokens import TokenCounter

PER_TEXT = 8
PER_CALL = 64
OTHERWISE = 16


def size_in_bytes(text: str) -> int:
    """UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def athena_tokens(message: Message) -> int:
    """One message, by the first rule that fits: calls without words, a result, words, anything else.

    Calls are not counted where words stand beside them; thoughts and pictures never are.
    """
    blocks = message.blocks
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        overhead = OTHERWISE if isinstance(message, ToolResult) else PER_TEXT
        return size_in_bytes(blocks[0].text) // 4 + overhead
    texts = [block.text for block in blocks if isinstance(block, Text)]
    calls = message.calls if isinstance(message, AssistantMessage) else ()
    if calls and not texts:
        return sum(PER_CALL + size_in_bytes(_json(call.arguments)) // 4 for call in calls)
    if isinstance(message, ToolResult):
        return OTHERWISE + size_in_bytes(plain_text(message)) // 4
    return size_in_bytes("\n".join(texts)) // 4 + PER_TEXT if texts else OTHERWISE


def athena_tokens_0_5(message: Message) -> int:
    """The same in v0.5, where a result counts 16 whatever its size."""
    return OTHERWISE if isinstance(message, ToolResult) else athena_tokens(message)


def request_tokens(messages: Iterable[Message], system_prompt: str = "", count: TokenCounter = athena_tokens) -> int:
    """A whole request: a quarter of the system prompt's bytes, rounded down, and all messages."""
    return size_in_bytes(system_prompt) // 4 + sum(map(count, messages))


def _json(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
