"""Anthropic messages: a list, or a request with `system` and `messages`."""

from __future__ import annotations

import re

from workbench.importers.formats.openai_chat import OpenAIChat, starts_with_messages
from workbench.importers.head import Head

_BLOCK = re.compile(r'"type":\s*"(?:tool_use|tool_result|thinking|redacted_thinking)"|"cache_control":\s*\{')


class AnthropicMessages(OpenAIChat):
    """Messages as Anthropic's API takes them, with the system prompt beside the list."""

    name = "anthropic_messages"
    description = 'Anthropic messages: a JSON list, {"system", "messages"}, or JSON lines of these'
    carries = ("calls", "thinking", "images", "usage", "model", "system")

    def knows(self, head: Head) -> bool:
        """Whether it starts with messages that have Anthropic's blocks or its system field."""
        if not starts_with_messages(head) or '"tool_calls"' in head.text or '"role": "tool"' in head.text:
            return False
        return "system" in head.keys or _BLOCK.search(head.text) is not None
