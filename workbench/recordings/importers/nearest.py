"""The format that a refused file looks most like, and what it lacks to be one of these."""

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decodable
from workbench.recordings.importers.sqlite import MAGIC

FIELDS: Mapping[str, tuple[str, ...]] = {
    "adk": ("app_name", "user_id", "events"),
    "amp": ("v", "created", "messages"),
    "antigravity": ("step_index", "source", "type", "created_at"),
    "anthropic_messages": ("role", "content", "system"),
    "atif": ("agent", "steps"),
    "claude_code": ("uuid", "parentUuid", "sessionId", "message"),
    "cline": ("version", "sessionId", "messages"),
    "codex": ("timestamp", "type", "payload"),
    "continue": ("sessionId", "history"),
    "copilot_cli": ("type", "data", "parentId"),
    "cursor": ("role", "message"),
    "droid": ("type", "id", "message"),
    "gemini_cli": ("sessionId", "projectHash", "startTime", "messages"),
    "inspect_ai": ("version", "status", "eval", "samples"),
    "kiro": ("conversation_id", "history", "transcript"),
    "kiro_lines": ("kind", "data", "version"),
    "langfuse": ("trace", "observations"),
    "mini_swe_agent": ("info", "messages", "trajectory_format"),
    "managed_agents": ("id", "type", "processed_at", "model_usage"),
    "muse": ("stream", "payload_type", "payload", "recorded_at"),
    "openai_chat": ("role", "content"),
    "openai_responses": ("input", "output"),
    "opencode": ("info", "messages"),
    "openhands": ("instance_id", "history"),
    "openhands_events": ("id", "source", "kind"),
    "otel": ("resourceSpans",),
    "pi": ("type", "cwd", "timestamp", "parentId", "message"),
    "strands": ("session_id", "session_type", "created_at", "updated_at"),
    "swe_agent": ("trajectory", "history"),
    "tau_bench": ("task_id", "reward", "info", "traj"),
    "vscode_chat": ("sessionId", "requests"),
    "windsurf": ("type", "status"),
    "bedrock": ("system", "messages"),
    "chatgpt_export": ("conversation_id", "current_node", "mapping"),
    "claude_export": ("uuid", "name", "chat_messages"),
    "claude_stream": ("type", "session_id", "parent_tool_use_id", "message"),
    "codex_exec": ("type", "thread_id"),
    "gemini_contents": ("contents", "systemInstruction"),
    "goose": ("role", "content", "created", "metadata"),
    "grok": ("type", "content", "model_id"),
    "hermes": ("role", "content", "timestamp", "platform"),
    "kimi": ("role", "content", "id"),
    "gemini_stream": ("type", "session_id", "model", "tool_name", "tool_id"),
    "droid_stream": ("type", "session_id", "toolName", "parameters"),
    "smolagents": ("steps", "state", "output"),
    "autogen": ("messages", "stop_reason"),
    "weave": ("op_name", "trace_id", "inputs", "output"),
    "kimi_code": ("type", "protocol_version", "created_at"),
    "llama_index": ("role", "blocks", "additional_kwargs"),
    "langchain": ("type", "content", "additional_kwargs"),
    "langsmith": ("run_type", "trace_id", "inputs", "outputs"),
    "pydantic_ai": ("kind", "parts", "instructions"),
    "qwen_code": ("uuid", "parentUuid", "sessionId", "systemPayload"),
    "roo_task": ("role", "content", "ts", "condenseParent"),
    "sharegpt": ("conversations", "id"),
    "vercel": ("role", "content"),
    "vercel_ui": ("id", "role", "parts"),
}
"""Fields of the document, or of its records, by which people would know a format of JSON; a
format looks closer.
"""
OWN_FORMAT = "docs/own-format.md says how to read a format of your own"
NONE_NEAR = "no format is near it"
LEAST_SHARE = 0.5
"""Of a format's fields that a file has to be near it: fewer, such as `version`, are of any file."""
SHOWN = 6
"""Fields or tables of the file that are named."""
DISPLAY = (
    ", which is what Cline, Roo Code or Kilo Code show of a task; "
    "`api_conversation_history.json` beside it is what the model was sent"
)
KIMI_SCREEN = (
    ", which is what Kimi CLI tells its own screen; `context.jsonl` beside it is what the model "
    "was sent, and is read with the usage of this one"
)
EXPORTS = {
    re.compile(r"_Exported on .+ from Cursor \("): (
        "Cursor's export for readers, without calls and results; the transcripts under "
        "`~/.cursor/projects` are read"
    ),
    re.compile(r"\[GitHub Copilot CLI\]\(|\A# \W*Copilot CLI Session"): (
        "Copilot's export for readers; `events.jsonl` in the session's folder under "
        "`~/.copilot/session-state` is read"
    ),
    re.compile(r"^\*\*Session ID:\*\* ses_", re.MULTILINE): (
        "OpenCode's export for readers; `opencode export` prints what is read"
    ),
    re.compile(r"\s*\*\*User:\*\*\s+<task>"): (
        "an export for readers of Cline, Roo Code or Kilo Code; `api_conversation_history.json` "
        "in the task's folder is read"
    ),
}
"""What agents export as Markdown, by how it is known, and what to give instead."""
_TABLE = re.compile(r"CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?[\"'`\[]?(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NearestFormat:
    """A format, and the fields of it that a file has and lacks."""

    name: str
    present: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def share(self) -> float:
        """How much of the format is there."""
        present_count = len(self.present)
        return present_count / (present_count + len(self.missing))


def nearest_format(head: Head) -> NearestFormat | None:
    """The format most of whose fields the start of a file has; None where it has less than half
    of any.
    """
    names = set(head.keys)
    names.update(*head.records)
    candidates: list[NearestFormat] = []
    for name, fields in FIELDS.items():
        candidate = _compared(name, fields, names)
        candidates.append(candidate)
    nearest = max(candidates, key=_likeness)
    if nearest.share < LEAST_SHARE:
        return None
    return nearest


def _likeness(candidate: NearestFormat) -> tuple[float, int]:
    return candidate.share, len(candidate.present)


def _compared(name: str, fields: tuple[str, ...], names: Set[str]) -> NearestFormat:
    present: list[str] = []
    missing: list[str] = []
    for field in fields:
        if field in names:
            present.append(field)
        else:
            missing.append(field)
    return NearestFormat(name, tuple(present), tuple(missing))


def refusal(head: Head) -> str:
    """Why no format was recognised: what the file looks like, what it lacks, and where to read
    on.
    """
    cause = _likely_cause(head)
    return f"no importer recognises this content{cause}; {OWN_FORMAT}"


def _likely_cause(head: Head) -> str:
    if head.text.startswith(MAGIC):
        tables = _TABLE.findall(head.text)[:SHOWN]
        return f", an SQLite database with {_named_tables(tables)}: {NONE_NEAR}"
    if _is_display(head):
        return DISPLAY
    if is_kimi_screen(head):
        return KIMI_SCREEN
    for mark, words in EXPORTS.items():
        if not head.records and mark.search(head.text):
            return f", which is {words}"
    nearest = nearest_format(head)
    if nearest is None:
        return f"{_named_fields(head)}: {NONE_NEAR}"
    if nearest.missing:
        missing = _quoted(nearest.missing)
        return f"; nearest is {nearest.name}, but it lacks {missing}"
    return (
        f"; nearest is {nearest.name}, whose fields it has, but not where {nearest.name} has them"
    )


def _named_fields(head: Head) -> str:
    """What fields a file has that looks like no format."""
    if head.keys:
        names = sorted(head.keys)
        return f", whose fields are {_quoted(names[:SHOWN])}"
    if head.is_list:
        return ", a JSON list without an object in it"
    if decodable(head.text) is not None:
        return ", which is JSON without a field"
    return ", which is no JSON"


def _named_tables(tables: list[str]) -> str:
    if not tables:
        return "no table"
    return f"the tables {_quoted(tables)}"


def _is_display(head: Head) -> bool:
    """Whether it is what Cline and its descendants show of a task."""
    return {"ts", "type"} <= head.keys and bool({"say", "ask"} & head.keys)


def is_kimi_screen(head: Head) -> bool:
    """Whether it is Kimi CLI's `wire.jsonl`: events in envelopes, behind the protocol's version."""
    if "protocol_version" not in head.first_record:
        return False
    return any({"timestamp", "message"} <= set(record) for record in head.records)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
