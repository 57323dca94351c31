"""Agno (2.3 and 3.1): runs, and in each the messages of its requests."""

from workbench.engine.transcript.message import Json
from workbench.recordings.importers.described import DescribedBuilder, MessageShape
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.session_tables import (
    SessionTables,
    TableVersions,
    database_format,
)
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    Record,
    as_list,
    as_mapping,
    as_object,
    identifier,
    label,
    mapping,
    objects,
)

AGNO_TABLES = TableVersions(
    (
        SessionTables(
            ("agno_sessions", "agno_runs", "run_data", "run_index"),
            "SELECT *, session_id AS id FROM agno_sessions ORDER BY created_at, session_id",
            "SELECT run_data AS runs FROM agno_runs WHERE session_id = ? ORDER BY run_index",
            json=("runs",),
        ),
        SessionTables(
            ("agno_sessions", "session_data", "agent_data", "runs"),
            "SELECT *, session_id AS id FROM agno_sessions ORDER BY created_at, session_id",
            "SELECT runs FROM agno_sessions WHERE session_id = ?",
            json=("runs",),
        ),
    )
)

AGNO_ASIDE = (
    "session_data agent_data team_data workflow_data metadata runs messages.runs.content "
    "messages.runs.tools messages.runs.session_state messages.runs.events"
)
"""What Agno keeps beside its messages; the content of a run repeats its answers, and `runs` of a
session all of `messages.runs`.
"""


class AgnoBuilder(DescribedBuilder):
    """Reads the runs of one session; a run of a team's member is a sub-agent's."""

    about = {"id": "session_id"}
    shape = MessageShape(time="created_at", failed="tool_call_error", usage_in="metrics")
    usage_fields = UsageFields(
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        reasoning="reasoning_tokens",
        cache_in_input=True,
    )

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.instructions = ""

    def read(self, record: Record) -> None:
        """Read one row: a run, or all of a session."""
        runs = decode_or(record.get("runs"), record.get("runs"))
        for run in as_list(runs):
            self._read_run(as_object(run, "runs"))

    def _read_run(self, run: Record) -> None:
        if identifier(run, "parent_run_id"):
            self.turn_to(identifier(run, "run_id"))
        messages = objects(run, "messages")
        for message in messages:
            if message.get("from_history") is not True:
                self._read_message_of(run, message)
        if not messages:
            self._read_unfinished(run)
        self.turn_to("")

    def _read_message_of(self, run: Record, message: Record) -> None:
        """Read a message that is new in this run; instructions are said once."""
        if message.get("role") == "system":
            instructions = label(message, "content")
            if instructions == self.instructions:
                return
            self.instructions = instructions
        named = {
            **message,
            "name": message.get("tool_name"),
            "model": run.get("model"),
            "metrics": _agno_usage(run, message),
        }
        super().read(named)

    def _read_unfinished(self, run: Record) -> None:
        """Read a run that no model answered: what was asked, and what the framework says of it."""
        self.time = self.source.time(run, "created_at")
        prompt = label(mapping(run, "input"), "input_content")
        if prompt:
            self.say_text("user", prompt)
        words = label(run, "content")
        if words:
            self.note(label(run, "status") or "run", words)


def _agno_usage(run: Record, message: Record) -> Json:
    """What an answer used; Anthropic's input is without what the cache held."""
    figures = as_mapping(message.get("metrics"))
    if label(run, "model_provider") != "Anthropic" or not figures:
        return figures or None
    input_tokens = 0
    for field in ("input_tokens", "cache_read_tokens", "cache_write_tokens"):
        figure = figures.get(field)
        if isinstance(figure, int):
            input_tokens += figure
    return {**figures, "input_tokens": input_tokens}


AGNO_DATABASE = database_format(
    name="agno_database",
    description="sessions of Agno 2 and 3 (SQLite)",
    carries=("calls", "thinking", "usage", "times", "model", "system"),
    tables=AGNO_TABLES,
    builder=AgnoBuilder,
    aside=AGNO_ASIDE,
)
