"""Every format that is read: how it is recognised, what it carries, and what reads it.

A file belongs to the first format that recognises it, so special formats come before general ones.
"""

from collections.abc import Iterator, Mapping

from workbench.engine.transcript.message import Json
from workbench.recordings.importers import native
from workbench.recordings.importers.format import Carries, Format, json_document, json_lines
from workbench.recordings.importers.formats import (
    aider,
    antigravity,
    autogen,
    claude_code,
    claude_stream,
    codex,
    codex_exec,
    databases,
    droid_stream,
    editors,
    exports,
    gemini_stream,
    inspect_ai,
    kimi_code,
    langchain,
    langfuse,
    langsmith,
    mini_swe_agent,
    opencode,
    openhands,
    otel,
    provider_messages,
    pydantic_ai,
    qwen,
    recognition,
    roo,
    sharegpt,
    smolagents,
    specstory,
    terminals,
    vercel,
    weave,
)
from workbench.recordings.importers.formats.atif import AtifBuilder
from workbench.recordings.importers.formats.chat_agents import (
    AmpBuilder,
    ClineBuilder,
    ContinueBuilder,
    CursorBuilder,
    DroidBuilder,
)
from workbench.recordings.importers.formats.copilot_cli import CopilotCliBuilder
from workbench.recordings.importers.formats.google import AdkBuilder, gemini_cli_sessions
from workbench.recordings.importers.formats.pi import PiBuilder
from workbench.recordings.importers.formats.swe_agent import SweAgentBuilder
from workbench.recordings.importers.message_lists import (
    chat_sessions,
    message_sessions,
    starts_with_messages,
)
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.session_tables import SessionTables
from workbench.recordings.importers.source import SourceFile

OPENCODE_ASIDE = (
    "messages.info.summary messages.parts.state.metadata messages.parts.state.title info.title"
)


def _database(
    name: str,
    description: str,
    carries: tuple[Carries, ...],
    tables: SessionTables,
    builder: type[SessionBuilder],
) -> Format:
    """The format of an agent that keeps its sessions in SQLite."""
    read = databases.database_sessions(tables, builder)
    aside = "title messages.parts.data.metadata"
    return Format(
        name, description, carries, tables.knows, read, values=tables.documents, aside=aside
    )


def _no_values(source: SourceFile) -> Iterator[Json]:
    """Our own format: nothing of a file is left unread."""
    yield from ()


FORMATS = (
    Format("native", "the workbench's own sessions (JSON lines), read and written without loss",
        ("tree", "calls", "thinking", "images", "usage", "times", "model", "compactions", "system"),
        recognition.knows_native, native.sessions, values=_no_values),
    Format("qwen_code", "Qwen Code sessions (JSON lines)",
        ("tree", "calls", "thinking", "images", "usage", "times", "model", "compactions"),
        qwen.knows_qwen, json_lines(qwen.QwenBuilder), aside="toolCallResult systemPayload"),
    Format("claude_code", "Claude Code session files (JSON lines)",
        ("tree", "calls", "thinking", "images", "usage", "times", "model", "compactions"),
        recognition.knows_claude_code, json_lines(claude_code.ClaudeCodeBuilder),
        aside="toolUseResult lastPrompt summary customTitle hookInfos attachment.command "
        "attachment.stdout data.command message.content.content.resultDisplay"),
    Format("droid_stream", "stream JSON of `droid exec` (JSON lines)", ("calls", "thinking", "times", "model"),
        droid_stream.knows_droid_stream, json_lines(droid_stream.DroidStreamBuilder)),
    Format("claude_stream", "Claude Code's stream JSON, and its GitHub action's output (JSON lines or a list)",
        ("calls", "thinking", "images", "usage", "times", "model", "compactions"),
        claude_stream.knows, claude_stream.sessions, aside="result tools"),
    Format("codex_exec", "events of `codex exec --json` (JSON lines; they hold no prompt)", ("calls", "thinking"),
        codex_exec.knows_codex_exec, json_lines(codex_exec.CodexExecBuilder)),
    Format("kimi", "Kimi CLI contexts (JSON lines)", ("calls", "thinking", "images", "system"),
        terminals.knows_kimi, message_sessions(terminals.KimiBuilder)),
    Format("kimi_code", "Kimi Code's records (`wire.jsonl`)",
        ("calls", "thinking", "images", "usage", "times", "model", "compactions", "system"),
        kimi_code.knows_kimi_code, json_lines(kimi_code.KimiCodeBuilder), aside=kimi_code.ASIDE),
    Format("gemini_stream", "stream JSON of Gemini CLI (JSON lines)", ("calls", "times", "model"),
        gemini_stream.knows_gemini_stream, json_lines(gemini_stream.GeminiStreamBuilder)),
    Format("smolagents", "runs and steps of smolagents (JSON)",
        ("calls", "images", "usage", "times", "model", "system"),
        smolagents.knows_smolagents, message_sessions(smolagents.SmolagentsBuilder, smolagents.LISTS),
        aside=smolagents.ASIDE),
    Format("autogen", "results and states of AutoGen (JSON)",
        ("calls", "thinking", "images", "usage", "times", "system"),
        autogen.knows_autogen, autogen.autogen_sessions, aside="stop_reason"),
    Format("hermes", "Hermes sessions (JSON lines, or JSON)",
        ("calls", "thinking", "times", "model", "compactions", "system"),
        terminals.knows_hermes, message_sessions(terminals.HermesBuilder), aside="tools"),
    Format("grok", "sessions of Grok's CLI (JSON lines)", ("calls", "thinking", "images", "model", "system"),
        terminals.knows_grok, json_lines(terminals.GrokBuilder)),
    Format("goose", "Goose sessions before 1.10 (JSON lines), and exports (JSON)",
        ("calls", "thinking", "images", "usage", "times", "model", "compactions"),
        terminals.knows_goose, message_sessions(terminals.GooseBuilder)),
    _database("openai_agents_database", "sessions of the OpenAI Agents SDK (SQLite)",
        ("calls", "thinking", "images", "compactions"), databases.OPENAI_AGENTS_TABLES, databases.AgentsBuilder),
    _database("goose_database", "Goose's database since 1.10 (SQLite)",
        ("calls", "thinking", "images", "usage", "times", "model", "compactions"), databases.GOOSE_TABLES,
        databases.GooseRowBuilder),
    _database("crush_database", "Crush's database (SQLite)",
        ("calls", "thinking", "images", "times", "model", "compactions"), databases.CRUSH_TABLES,
        databases.CrushBuilder),
    _database("hermes_database", "Hermes' database (SQLite)",
        ("calls", "thinking", "times", "model", "compactions", "system"), databases.HERMES_TABLES,
        terminals.HermesBuilder),
    Format("codex", "OpenAI Codex rollouts (JSON lines)",
        ("calls", "thinking", "images", "usage", "times", "model", "compactions", "system"),
        recognition.knows_codex, json_lines(codex.CodexBuilder),
        aside="payload.changes payload.aggregated_output payload.parsed_cmd payload.result payload.tools "
        "payload.dynamic_tools"),
    Format("droid", "Factory Droid sessions (JSON lines)",
        ("tree", "calls", "thinking", "times", "model", "compactions"),
        recognition.knows_droid, json_lines(DroidBuilder), aside="title sessionTitle todos"),
    Format("pi", "pi coding agent sessions, version 1 and 3 (JSON lines)",
        ("tree", "calls", "thinking", "images", "usage", "times", "model", "compactions"),
        recognition.knows_pi, json_lines(PiBuilder),
        aside="message.details message.content.partialJson message.diagnostics message.errorMessage"),
    Format("opencode", "OpenCode exports (JSON)",
        ("calls", "thinking", "images", "usage", "times", "model", "compactions"),
        recognition.knows_opencode, json_document("messages", opencode.OpenCodeBuilder), aside=OPENCODE_ASIDE),
    Format("opencode_database", "OpenCode's database (SQLite)",
        ("calls", "thinking", "images", "usage", "times", "model", "compactions"),
        opencode.knows_database, opencode.database_sessions, aside=OPENCODE_ASIDE, values=opencode.database_values),
    Format("amp", "Amp threads (JSON)", ("calls", "thinking", "usage", "times", "model"),
        recognition.knows_amp, json_document("messages", AmpBuilder), aside="title meta"),
    Format("cursor", "Cursor agent transcripts (JSON lines; they hold no tool results)", ("calls",),
        recognition.knows_cursor, json_lines(CursorBuilder)),
    Format("continue", "Continue sessions (JSON)", ("calls", "thinking", "usage", "model", "compactions", "system"),
        recognition.knows_continue, json_document("history", ContinueBuilder),
        aside="title history.promptLogs history.editorState history.toolCallStates.output.description"),
    Format("windsurf", "Windsurf Cascade transcripts (JSON lines)", ("calls", "thinking"),
        recognition.knows_windsurf, json_lines(editors.WindsurfBuilder),
        aside=" ".join(f"code_action.{name}" for name in editors.WINDSURF_CLIENT)),
    Format("antigravity", "Antigravity transcripts (`transcript_full.jsonl`)",
        ("calls", "thinking", "usage", "times", "model", "compactions"),
        antigravity.knows_antigravity, json_lines(antigravity.AntigravityBuilder)),
    Format("vscode_chat", "VS Code Copilot chats (JSON, or a log of changes as JSON lines)",
        ("calls", "thinking", "usage", "times", "model", "compactions"),
        recognition.knows_vscode_chat, editors.vscode_sessions, values=editors.vscode_values,
        aside="customTitle requests.message requests.response requests.agent requests.variableData requests.followups "
        "requests.result.metadata.codeBlocks requests.result.details"),
    Format("gemini_cli", "Gemini CLI sessions (JSON, or JSON lines since 0.40)",
        ("tree", "calls", "thinking", "images", "usage", "times", "model", "compactions"),
        recognition.knows_gemini_cli, gemini_cli_sessions,
        aside="messages.toolCalls.resultDisplay messages.toolCalls.description messages.displayContent "
        "toolCalls.resultDisplay toolCalls.description displayContent $set.summary"),
    Format("cline", "Cline sessions and their compacted states (JSON)",
        ("calls", "thinking", "images", "usage", "times", "model", "compactions", "system"),
        recognition.knows_cline, json_document("messages", ClineBuilder)),
    Format("adk", "Google ADK sessions (JSON)", ("calls", "thinking", "images", "usage", "times"),
        recognition.knows_adk, json_document("events", AdkBuilder)),
    Format("tau_bench", "tau-bench results (JSON)", ("calls", "system"),
        recognition.knows_tau_bench, chat_sessions, aside="info"),
    Format("openhands", "OpenHands evaluation output (JSON lines), and trajectories (JSON)",
        ("calls", "images", "usage", "times", "model", "compactions", "system"),
        openhands.knows, openhands.sessions,
        aside="history.message history.args.tools history.extras test_result message args.tools extras "
        "args.translated_ipython_code history.args.translated_ipython_code history.kernel_init_code git_patch "
        "result_explanation instruction issue"),
    Format("mini_swe_agent", "mini-swe-agent trajectories (JSON)", ("calls", "usage", "times", "model", "system"),
        mini_swe_agent.knows, mini_swe_agent.sessions, aside=mini_swe_agent.ASIDE),
    Format("swe_agent", "SWE-agent trajectories, old and new (JSON)", ("calls", "thinking", "system"),
        recognition.knows_swe_agent, json_document("history", SweAgentBuilder),
        aside="trajectory info replay_config environment history.action"),
    Format("specstory", "SpecStory markdown exports", ("tree", "calls", "thinking", "times", "model", "compactions"),
        recognition.knows_specstory, specstory.sessions),
    Format("aider", "aider chat histories (markdown)", ("usage", "times", "model"),
        recognition.knows_aider, aider.sessions),
    Format("langfuse", "Langfuse traces (JSON)", ("tree", "calls", "thinking", "usage", "times", "model", "system"),
        recognition.knows_langfuse, json_document("observations", langfuse.LangfuseBuilder),
        aside="trace observations.metadata observations.name observations.input.tools "
        "observations.input.content.function"),
    Format("inspect_ai", "Inspect evaluation logs (.eval and JSON)",
        ("calls", "thinking", "images", "usage", "model", "compactions", "system"),
        recognition.knows_inspect, inspect_ai.sessions, values=inspect_ai.values,
        aside="events scores target store attachments"),
    Format("atif", "ATIF trajectories (JSON)", ("calls", "thinking", "images", "usage", "times", "model", "system"),
        recognition.knows_atif, json_document("steps", AtifBuilder)),
    Format("copilot_cli", "GitHub Copilot CLI events (JSON lines)",
        ("tree", "calls", "thinking", "usage", "times", "model", "compactions", "system"),
        recognition.knows_copilot_cli, json_lines(CopilotCliBuilder), aside="data.result.detailedContent"),
    Format("otel", "OpenTelemetry GenAI traces (OTLP JSON or JSON lines)",
        ("tree", "calls", "thinking", "usage", "times", "model", "system"),
        recognition.knows_otel, otel.sessions),
    Format("langsmith", "LangSmith runs (JSON or JSON lines)", ("tree", "calls", "thinking", "usage", "times", "model",
        "system"),
        langsmith.knows_langsmith, langsmith.langsmith_sessions, aside="extra serialized events error"),
    Format("weave", "calls of Weave (JSON or JSON lines)",
        ("tree", "calls", "thinking", "usage", "times", "model", "system"),
        weave.knows_weave, weave.weave_sessions, aside="attributes summary display_name inputs.tools inputs.self"),
    Format("chatgpt_export", "ChatGPT's export (`conversations.json`)",
        ("tree", "calls", "thinking", "images", "times", "model", "system"),
        exports.knows_chatgpt, exports.chatgpt_sessions, values=exports.chatgpt_values,
        aside="mapping.message.metadata title _project_name"),
    Format("claude_export", "Claude's export (`conversations.json`)", ("tree", "calls", "thinking", "times"),
        exports.knows_claude, message_sessions(exports.ClaudeExportBuilder, exports.CLAUDE_LISTS),
        aside="chat_messages.text summary chat_messages.content.display_content chat_messages.content.summaries "
        "chat_messages.content.message"),
    Format("langchain", "LangChain messages: of `messages_to_dict`, `dumpd` or `model_dump` (JSON or JSON lines)",
        ("calls", "thinking", "images", "usage", "model", "compactions", "system"),
        langchain.knows_langchain, message_sessions(langchain.LangChainBuilder)),
    Format("pydantic_ai", "pydantic-ai messages (JSON)",
        ("calls", "thinking", "images", "usage", "times", "model", "system"),
        pydantic_ai.knows_pydantic, message_sessions(pydantic_ai.PydanticBuilder)),
    Format("vercel_ui", "UI messages of the Vercel AI SDK (JSON)", ("calls", "thinking", "images", "times", "system"),
        vercel.knows_vercel_ui, message_sessions(vercel.VercelUiBuilder)),
    Format("vercel", "model messages of the Vercel AI SDK (JSON)", ("calls", "thinking", "images", "system"),
        vercel.knows_vercel, message_sessions()),
    Format("bedrock", "messages of Bedrock's Converse (JSON)", ("calls", "thinking", "system"),
        provider_messages.knows_bedrock, message_sessions()),
    Format("gemini_contents", "Gemini contents: a list, or an object with `contents` (JSON)",
        ("calls", "thinking", "images", "system"),
        provider_messages.knows_gemini,
        message_sessions(provider_messages.GeminiBuilder, provider_messages.GEMINI_LISTS)),
    Format("sharegpt", "ShareGPT conversations, and Hermes trajectories (JSON or JSON lines)",
        ("calls", "thinking", "system"),
        sharegpt.knows_sharegpt, message_sessions(sharegpt.ShareGptBuilder, sharegpt.SHAREGPT_LISTS)),
    Format("roo_task", "tasks of Roo Code, Kilo Code and Cline (`api_conversation_history.json`)",
        ("calls", "thinking", "images", "usage", "times", "model", "compactions"),
        roo.knows_roo, message_sessions(roo.RooBuilder)),
    Format("openai_responses", "OpenAI Responses items: a list, or an object with `input` and `output` (JSON)",
        ("calls", "thinking", "images", "usage", "model", "compactions", "system"),
        codex.knows_responses, codex.responses_sessions, aside="tools"),
    Format("anthropic_messages", 'Anthropic messages: a JSON list, {"system", "messages"}, or JSON lines of these',
        ("calls", "thinking", "images", "usage", "model", "system"),
        recognition.knows_anthropic, chat_sessions, is_general=True),
    Format("openai_chat", 'OpenAI chat messages: a JSON list, {"messages": [...]}, or JSON lines of these',
        ("calls", "thinking", "images", "usage", "times", "model", "system"),
        starts_with_messages, chat_sessions, is_general=True),
)  # fmt: skip
BUILTIN: Mapping[str, Format] = {format.name: format for format in FORMATS}
