"""Foreign recordings to sessions; their oddities end here."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.anthropic_messages import AnthropicMessages
from workbench.importers.claude_code import ClaudeCode
from workbench.importers.native import Native
from workbench.importers.openai_chat import OpenAIChat
from workbench.importers.pi import Pi
from workbench.importers.source import Importer

BUILTIN: Mapping[str, Importer] = {
    Native.name: Native(),
    ClaudeCode.name: ClaudeCode(),
    Pi.name: Pi(),
    AnthropicMessages.name: AnthropicMessages(),
    OpenAIChat.name: OpenAIChat(),
}
"""By name, the one that is asked first on top: what is peculiar comes before what is common."""
