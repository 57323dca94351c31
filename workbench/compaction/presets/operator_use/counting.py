"""How Operator-Use estimates: characters by four, at least one a message, on top of the provider's last count."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.transcript.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)

IMAGE_CHARS = 4_800
FAILED = frozenset({"error", "aborted", "abort"})


def operator_tokens(message: Message) -> int:
    """One message: texts, thoughts and calls, no overhead. Pictures count where a person sent them."""
    chars = 0
    for block in message.blocks:
        if isinstance(block, Text | Thinking):
            chars += len(block.text)
        elif isinstance(block, ToolCall):
            chars += len(block.name) + len(json.dumps(block.arguments, ensure_ascii=False))
        elif isinstance(block, Image) and not isinstance(message, ToolResult):
            chars += IMAGE_CHARS
    return max(1, chars // 4)


def usage_tokens(usage: Usage) -> int:
    """All four parts of a report together."""
    return usage.input + usage.output + usage.cache_read + usage.cache_write


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a context takes: `tokens` are the last report's and those of what came after it.

    Attributes:
        last_usage_index: of the message with that report; None where all is estimated.
    """

    tokens: int
    usage_tokens: int
    trailing_tokens: int
    last_usage_index: int | None


def context_estimate(messages: Sequence[Message]) -> Estimate:
    """The newest report of an answer that came to its end, and an estimate of what follows; else of everything."""
    for i in range(len(messages) - 1, -1, -1):
        message = messages[i]
        if not isinstance(message, AssistantMessage) or message.usage is None or message.stop in FAILED:
            continue
        reported = usage_tokens(message.usage)
        if reported:
            trailing = sum(map(operator_tokens, messages[i + 1 :]))
            return Estimate(reported + trailing, reported, trailing, i)
    total = sum(map(operator_tokens, messages))
    return Estimate(total, 0, total, None)


def after_compaction(messages: Sequence[Message]) -> int:
    """The size of a rebuilt context: by estimate alone, since kept answers carry reports of what went before."""
    return sum(map(operator_tokens, messages))
