"""Every format that is read, one file a format, asked in this order: what is peculiar comes before what is common."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.format import Importer
from workbench.importers.formats.adk import Adk
from workbench.importers.formats.aider import Aider
from workbench.importers.formats.anthropic_messages import AnthropicMessages
from workbench.importers.formats.atif import Atif
from workbench.importers.formats.claude_code import ClaudeCode
from workbench.importers.formats.cline import Cline
from workbench.importers.formats.codex import Codex
from workbench.importers.formats.copilot_cli import CopilotCli
from workbench.importers.formats.gemini_cli import GeminiCli
from workbench.importers.formats.inspect_ai import InspectAi
from workbench.importers.formats.langfuse import Langfuse
from workbench.importers.formats.openai_chat import OpenAIChat
from workbench.importers.formats.opencode import OpenCode
from workbench.importers.formats.openhands import OpenHands
from workbench.importers.formats.otel import Otel
from workbench.importers.formats.pi import Pi
from workbench.importers.formats.specstory import SpecStory
from workbench.importers.formats.swe_agent import SweAgent
from workbench.importers.formats.tau_bench import TauBench
from workbench.importers.native import Native

BUILTIN: Mapping[str, Importer] = {
    importer.name: importer
    for importer in (
        Native(), ClaudeCode(), Codex(), Pi(), OpenCode(), GeminiCli(), Cline(), Adk(), TauBench(), OpenHands(),
        SweAgent(), SpecStory(), Aider(), Langfuse(), InspectAi(), Atif(), CopilotCli(), Otel(), AnthropicMessages(),
        OpenAIChat(),
    )
}  # fmt: skip
