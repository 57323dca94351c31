"""Every format that is read, in the order in which a file is tried: it belongs to the first that
recognises it, so special formats come before general ones.

A format is described at the end of its own module: how it is recognised, what it carries, and what
reads it.
"""

from collections.abc import Mapping

from workbench.recordings.importers.format import Format
from workbench.recordings.importers.formats.adk import ADK, ADK_DATABASE
from workbench.recordings.importers.formats.agno import AGNO_DATABASE
from workbench.recordings.importers.formats.aider import AIDER
from workbench.recordings.importers.formats.antigravity import ANTIGRAVITY
from workbench.recordings.importers.formats.atif import ATIF
from workbench.recordings.importers.formats.autogen import AUTOGEN
from workbench.recordings.importers.formats.chat_agents import AMP, CONTINUE, CURSOR
from workbench.recordings.importers.formats.chat_lists import (
    ANTHROPIC_MESSAGES,
    OPENAI_CHAT,
)
from workbench.recordings.importers.formats.claude_code import CLAUDE_CODE
from workbench.recordings.importers.formats.claude_stream import CLAUDE_STREAM
from workbench.recordings.importers.formats.cline import CLINE
from workbench.recordings.importers.formats.codex import CODEX
from workbench.recordings.importers.formats.codex_exec import CODEX_EXEC
from workbench.recordings.importers.formats.copilot_cli import COPILOT_CLI
from workbench.recordings.importers.formats.cursor_store import CURSOR_STORE
from workbench.recordings.importers.formats.databases import (
    CRUSH_DATABASE,
    GOOSE_DATABASE,
    HERMES_DATABASE,
    OPENAI_AGENTS_DATABASE,
)
from workbench.recordings.importers.formats.droid import DROID
from workbench.recordings.importers.formats.droid_stream import DROID_STREAM
from workbench.recordings.importers.formats.editors import VSCODE_CHAT, WINDSURF
from workbench.recordings.importers.formats.exports import CHATGPT_EXPORT, CLAUDE_EXPORT
from workbench.recordings.importers.formats.gemini_stream import GEMINI_STREAM
from workbench.recordings.importers.formats.google import GEMINI_CLI
from workbench.recordings.importers.formats.inspect_ai import INSPECT_AI
from workbench.recordings.importers.formats.kimi_code import KIMI_CODE
from workbench.recordings.importers.formats.kiro import KIRO, KIRO_DATABASE
from workbench.recordings.importers.formats.kiro_lines import KIRO_LINES
from workbench.recordings.importers.formats.langchain import LANGCHAIN
from workbench.recordings.importers.formats.langfuse import LANGFUSE
from workbench.recordings.importers.formats.langgraph_checkpoints import LANGGRAPH_DATABASE
from workbench.recordings.importers.formats.langsmith import LANGSMITH
from workbench.recordings.importers.formats.llama_index import LLAMA_INDEX, LLAMA_INDEX_DATABASE
from workbench.recordings.importers.formats.llm_database import LLM_DATABASE
from workbench.recordings.importers.formats.llm_responses import LLM_RESPONSES
from workbench.recordings.importers.formats.managed_agents import MANAGED_AGENTS
from workbench.recordings.importers.formats.mini_swe_agent import MINI_SWE_AGENT
from workbench.recordings.importers.formats.muse import MUSE
from workbench.recordings.importers.formats.openai_responses import OPENAI_RESPONSES
from workbench.recordings.importers.formats.opencode import OPENCODE, OPENCODE_DATABASE
from workbench.recordings.importers.formats.openhands import OPENHANDS
from workbench.recordings.importers.formats.openhands_events import OPENHANDS_EVENTS
from workbench.recordings.importers.formats.otel import OTEL
from workbench.recordings.importers.formats.own_sessions import NATIVE
from workbench.recordings.importers.formats.pi import PI
from workbench.recordings.importers.formats.provider_messages import BEDROCK, GEMINI_CONTENTS
from workbench.recordings.importers.formats.pydantic_ai import PYDANTIC_AI
from workbench.recordings.importers.formats.qwen import QWEN_CODE
from workbench.recordings.importers.formats.roo import ROO_TASK
from workbench.recordings.importers.formats.sharegpt import SHAREGPT
from workbench.recordings.importers.formats.smolagents import SMOLAGENTS
from workbench.recordings.importers.formats.specstory import SPECSTORY
from workbench.recordings.importers.formats.strands import STRANDS
from workbench.recordings.importers.formats.swe_agent import SWE_AGENT
from workbench.recordings.importers.formats.tau_bench import TAU_BENCH
from workbench.recordings.importers.formats.terminals import GOOSE, GROK, HERMES, KIMI
from workbench.recordings.importers.formats.vercel import VERCEL, VERCEL_UI
from workbench.recordings.importers.formats.weave import WEAVE

FORMATS = (
    NATIVE,
    QWEN_CODE,
    CLAUDE_CODE,
    DROID_STREAM,
    CLAUDE_STREAM,
    MANAGED_AGENTS,
    CODEX_EXEC,
    KIMI,
    KIMI_CODE,
    KIRO,
    MUSE,
    GEMINI_STREAM,
    SMOLAGENTS,
    AUTOGEN,
    HERMES,
    GROK,
    GOOSE,
    OPENAI_AGENTS_DATABASE,
    GOOSE_DATABASE,
    CRUSH_DATABASE,
    KIRO_DATABASE,
    KIRO_LINES,
    HERMES_DATABASE,
    LLM_DATABASE,
    LLM_RESPONSES,
    AGNO_DATABASE,
    ADK_DATABASE,
    LLAMA_INDEX_DATABASE,
    LANGGRAPH_DATABASE,
    CODEX,
    DROID,
    PI,
    OPENCODE,
    OPENCODE_DATABASE,
    AMP,
    CURSOR,
    CURSOR_STORE,
    CONTINUE,
    WINDSURF,
    ANTIGRAVITY,
    VSCODE_CHAT,
    GEMINI_CLI,
    CLINE,
    ADK,
    TAU_BENCH,
    OPENHANDS,
    OPENHANDS_EVENTS,
    STRANDS,
    MINI_SWE_AGENT,
    SWE_AGENT,
    SPECSTORY,
    AIDER,
    LANGFUSE,
    INSPECT_AI,
    ATIF,
    COPILOT_CLI,
    OTEL,
    LANGSMITH,
    WEAVE,
    CHATGPT_EXPORT,
    CLAUDE_EXPORT,
    LLAMA_INDEX,
    LANGCHAIN,
    PYDANTIC_AI,
    VERCEL_UI,
    VERCEL,
    BEDROCK,
    GEMINI_CONTENTS,
    SHAREGPT,
    ROO_TASK,
    OPENAI_RESPONSES,
    ANTHROPIC_MESSAGES,
    OPENAI_CHAT,
)
BUILTIN: Mapping[str, Format] = {format.name: format for format in FORMATS}
