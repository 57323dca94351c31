"""Anthropic messages: a list, or a request with `system` and `messages`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from workbench.importers.heads import seen
from workbench.importers.openai_chat import chats, says_messages
from workbench.importers.source import Carries, Source
from workbench.transcript.session import Session

_BLOCK = re.compile(r'"type":\s*"(?:tool_use|tool_result|thinking|redacted_thinking)"|"cache_control":\s*\{')


class AnthropicMessages:
    """Messages as Anthropic's API takes them, with the system prompt beside the list."""

    name: ClassVar[str] = "anthropic_messages"
    description: ClassVar[str] = 'Anthropic messages: a JSON list, {"system", "messages"}, or JSON lines of these'
    carries: ClassVar[tuple[Carries, ...]] = ("calls", "thinking", "images", "usage", "model", "system")

    def knows(self, head: str) -> bool:
        """Whether messages stand at the start that have Anthropic's blocks or its system field."""
        start = seen(head)
        if not says_messages(start, head) or '"tool_calls"' in head or '"role": "tool"' in head:
            return False
        return "system" in start.keys or _BLOCK.search(head) is not None

    def sessions(self, source: Source) -> Iterator[Session]:
        """One session a list of messages."""
        yield from chats(source)
