"""Agents and frameworks that keep their sessions in SQLite.

The OpenAI Agents SDK (0.2 to 0.24) keeps items of the Responses API in the file that its
`SQLiteSession` names. Goose keeps `~/.local/share/goose/sessions/sessions.db` since 1.10, Crush
`.crush/crush.db`, Hermes `~/.hermes/state.db`.
"""

from workbench.engine.transcript.message import Json, Usage
from workbench.recordings.importers.described import DescribedBuilder
from workbench.recordings.importers.formats.openai_responses import ResponsesBuilder
from workbench.recordings.importers.formats.terminals import GooseBuilder, HermesBuilder
from workbench.recordings.importers.reported_usage import with_last_usage
from workbench.recordings.importers.session_tables import (
    SessionTables,
    database_format,
)
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    as_object,
    label,
    objects,
    text,
)

OPENAI_AGENTS_TABLES = SessionTables(
    ("agent_sessions", "agent_messages", "session_id", "message_data"),
    "SELECT *, session_id AS id FROM agent_sessions ORDER BY created_at, session_id",
    "SELECT * FROM agent_messages WHERE session_id = ? ORDER BY id",
    json=("message_data",),
)
GOOSE_TABLES = SessionTables(
    ("sessions", "messages", "content_json", "created_timestamp", "working_dir"),
    "SELECT * FROM sessions ORDER BY created_at, id",
    "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id",
    json=("content_json", "metadata_json", "model_config_json"),
)
CRUSH_TABLES = SessionTables(
    ("sessions", "messages", "parent_session_id", "parts", "finished_at"),
    "SELECT * FROM sessions ORDER BY created_at, id",
    "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid",
    json=("parts",),
)
HERMES_TABLES = SessionTables(
    (
        "sessions",
        "messages",
        "tool_calls",
        "tool_call_id",
        "finish_reason",
        "model_config",
        "started_at",
    ),
    "SELECT * FROM sessions ORDER BY started_at, id",
    "SELECT * FROM messages WHERE session_id = ? ORDER BY timestamp, id",
    json=("tool_calls", "model_config"),
)


class AgentsBuilder(ResponsesBuilder):
    """Reads the items of one session."""

    about = {"id": "session_id"}

    def read(self, record: Record) -> None:
        """Read one row: an item, or what a compactor of this package knows of the items beside
        it.
        """
        time = self.source.time(record, "created_at")
        if time is not None:
            self.time = time
        item = as_object(record.get("message_data"), "message_data")
        if as_mapping(item.get("document")).get("workbench") == "compactor":
            self.source.note("is what a compactor keeps for itself, left out", field="document")
        else:
            super().read(item)


class GooseRowBuilder(GooseBuilder):
    """Reads the rows of one session."""

    def read(self, record: Record) -> None:
        """Read one row."""
        message = {
            "id": record.get("message_id"),
            "role": record.get("role"),
            "created": record["created_timestamp"],
            "content": record.get("content_json"),
            "metadata": record.get("metadata_json"),
        }
        super().read(message)


CRUSH_PARTS = {"reasoning": "thinking", "tool_call": "tool_call", "tool_result": "tool_result"}


CRUSH_LAST_USAGE = UsageFields("prompt_tokens", "completion_tokens")
"""What a session has of its last request (charmbracelet/crush, updateSessionTokenCounters)."""
CRUSH_APART_SINCE = 1769472000.0
"""27 January 2026 (5ddf9d106). Before it the completion had what was read from the cache, too, and
before 9 May 2025 both figures were sums of all requests.
"""


class CrushBuilder(DescribedBuilder):
    """Reads the rows of one session; a summary stands for all before it."""

    about = {"id": "id", "title": "title"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.last_usage: Usage | None = None
        self.updated_at: float | None = None
        self.answer_length = 0

    def begin(self, document: Record) -> None:
        """Read what is said of the session, and of its last request."""
        super().begin(document)
        self.last_usage = self.source.usage(CRUSH_LAST_USAGE, {"session": document}, "session")
        self.updated_at = self.source.time(document, "updated_at")

    def close(self) -> None:
        """Give the newest answer what the session says of the last request. A completion that is
        larger than the text of the answer holds more than its tokens.
        """
        usage = self.last_usage
        if usage is None:
            return
        is_old = self.updated_at is None or self.updated_at < CRUSH_APART_SINCE
        if is_old and usage.output > self.answer_length:
            self.source.note("is more than the last answer, not used", field="completion_tokens")
            return
        self.log = with_last_usage(self.log, usage)

    def read(self, record: Record) -> None:
        """Read one row."""
        parts: list[Json] = []
        stop = ""
        for part in objects(record, "parts"):
            if part.get("type") == "finish":
                stop = label(as_mapping(part.get("data")), "reason")
            shaped = _crush_part(part)
            if shaped:
                parts.append(shaped)
        if record.get("is_summary_message"):
            self.time = self.source.time(record, "created_at")
            words = "\n".join(label(part, "text") for part in parts).strip()
            self.compaction(words or None, model=text(record, "model"))
            return
        if label(record, "role") == "assistant":
            self.answer_length = len(str(parts))
        message = {
            "role": record.get("role"),
            "id": record.get("id"),
            "timestamp": record.get("created_at"),
            "model": record.get("model"),
            "finish_reason": stop,
            "content": parts,
        }
        super().read(message)


def _crush_part(part: Record) -> JsonObject:
    """A part as Anthropic would name its fields; empty for the end of an answer."""
    type_ = label(part, "type")
    data = as_mapping(part.get("data"))
    if type_ == "finish":
        return {}
    if type_ == "shell_command":
        command = text(data, "command")
        output = text(data, "output")
        words = f"$ {command}\n{output}\n(exit code {data.get('exit_code')})"
        return {"type": "text", "text": words}
    if type_ == "binary":
        return {"type": "file", "mime_type": data.get("MIMEType"), "data": data.get("Data")}
    return {**data, "type": CRUSH_PARTS.get(type_, type_)}


OPENAI_AGENTS_DATABASE = database_format(
    name="openai_agents_database",
    description="sessions of the OpenAI Agents SDK (SQLite)",
    carries=("calls", "thinking", "images", "compactions"),
    tables=OPENAI_AGENTS_TABLES,
    builder=AgentsBuilder,
)

GOOSE_DATABASE = database_format(
    name="goose_database",
    description="Goose's database since 1.10 (SQLite)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions"),
    tables=GOOSE_TABLES,
    builder=GooseRowBuilder,
)

CRUSH_DATABASE = database_format(
    name="crush_database",
    description="Crush's database (SQLite)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions"),
    tables=CRUSH_TABLES,
    builder=CrushBuilder,
)

HERMES_DATABASE = database_format(
    name="hermes_database",
    description="Hermes' database (SQLite)",
    carries=("calls", "thinking", "times", "model", "compactions", "system"),
    tables=HERMES_TABLES,
    builder=HermesBuilder,
)
