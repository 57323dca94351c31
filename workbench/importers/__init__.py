"""Foreign recordings to sessions; their oddities end here."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.adk import Adk
from workbench.importers.aider import Aider
from workbench.importers.anthropic_messages import AnthropicMessages
from workbench.importers.atif import Atif
from workbench.importers.claude_code import ClaudeCode
from workbench.importers.cline import Cline
from workbench.importers.codex import Codex
from workbench.importers.copilot_cli import CopilotCli
from workbench.importers.gemini_cli import GeminiCli
from workbench.importers.inspect_ai import InspectAi
from workbench.importers.langfuse import Langfuse
from workbench.importers.native import Native
from workbench.importers.openai_chat import OpenAIChat
from workbench.importers.opencode import OpenCode
from workbench.importers.openhands import OpenHands
from workbench.importers.otel import Otel
from workbench.importers.pi import Pi
from workbench.importers.source import Importer
from workbench.importers.specstory import SpecStory
from workbench.importers.swe_agent import SweAgent
from workbench.importers.tau_bench import TauBench

BUILTIN: Mapping[str, Importer] = {
    Native.name: Native(),
    ClaudeCode.name: ClaudeCode(),
    Codex.name: Codex(),
    Pi.name: Pi(),
    OpenCode.name: OpenCode(),
    GeminiCli.name: GeminiCli(),
    Cline.name: Cline(),
    Adk.name: Adk(),
    TauBench.name: TauBench(),
    OpenHands.name: OpenHands(),
    SweAgent.name: SweAgent(),
    SpecStory.name: SpecStory(),
    Aider.name: Aider(),
    Langfuse.name: Langfuse(),
    InspectAi.name: InspectAi(),
    Atif.name: Atif(),
    CopilotCli.name: CopilotCli(),
    Otel.name: Otel(),
    AnthropicMessages.name: AnthropicMessages(),
    OpenAIChat.name: OpenAIChat(),
}
"""By name, the one that is asked first on top: what is peculiar comes before what is common."""
