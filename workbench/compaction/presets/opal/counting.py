"""How Opal estimates: bytes by four with an overhead a message, on top of what the provider last reported."""

from __future__ import annotations

import json
from collections.abc import Iterable

from workbench.transcript.message import AssistantMessage, Message, image_tokens, plain_text

PER_MESSAGE = 10
PER_CALL = 10


def size_in_bytes(text: str) -> int:
    """UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def text_tokens(text: str | None) -> int:
    """A quarter of the bytes, rounded down; 0 for nothing."""
    return size_in_bytes(text) // 4 if text else 0


def opal_tokens(message: Message) -> int:
    """One message: its words, its calls, and an overhead for each. Thoughts are not counted, pictures are."""
    calls = message.calls if isinstance(message, AssistantMessage) else ()
    return (
        text_tokens(plain_text(message))
        + PER_MESSAGE
        + sum(text_tokens(call.name) + text_tokens(_json(call.arguments)) + PER_CALL for call in calls)
        + image_tokens(message)
    )


def _json(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def hybrid(last_prompt_tokens: int, since: Iterable[Message], whole: Iterable[Message] = ()) -> int:
    """What the next prompt will take: the last reported prompt and what came after it.

    Args:
        last_prompt_tokens: as the provider reported; 0 if it has not yet, or since the last compaction.
        since: the messages that came after that report, the answer to it among them.
        whole: everything that would be sent, system prompt included; looked at only without a report.
    """
    if last_prompt_tokens > 0:
        return last_prompt_tokens + sum(map(opal_tokens, since))
    return sum(map(opal_tokens, whole))
