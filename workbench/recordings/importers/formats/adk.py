"""Sessions of Google's Agent Development Kit: what its web page saves, and its databases.

Its `SqliteSessionService` keeps each event whole in `event_data`; its `DatabaseService` (0.x and
1.x) has a column for each of an event's fields.
"""

from dataclasses import replace

from workbench.recordings.importers.blocks import content
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format, json_document
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.session_tables import (
    SessionTables,
    TableVersions,
    database_format,
)
from workbench.recordings.importers.usage import GEMINI_USAGE
from workbench.recordings.importers.values import Record, as_object, identifier, mapping, text

_SESSIONS = "SELECT * FROM sessions ORDER BY create_time, id"
_EVENTS = "SELECT * FROM events WHERE session_id = ? ORDER BY timestamp, rowid"
_NAMES = ("app_states", "user_states", "sessions", "events", "invocation_id")
ADK_TABLES = TableVersions(
    (
        SessionTables((*_NAMES, "event_data"), _SESSIONS, _EVENTS, json=("event_data",)),
        SessionTables(
            (*_NAMES, "author", "content", "actions"),
            _SESSIONS,
            _EVENTS,
            json=("content", "usage_metadata"),
        ),
    )
)


class AdkBuilder(ChatBuilder):
    """Reads events of the Agent Development Kit and its web page: what was said, and what the
    tools answered.
    """

    about = {"id": "id", "project": "app_name appName"}

    def read(self, record: Record) -> None:
        """Read one event; those without content only change state, and partial ones come again
        whole.
        """
        holder = mapping(record, "content")
        if not holder or record.get("partial") is True:
            return
        parts = content(holder, "parts")
        self.time = self.source.time(record, "timestamp")
        event_id = identifier(record, "id")
        author = text(record, "author")
        parts.results = [replace(result, id=event_id) for result in parts.results]
        if text(holder, "role") == "user" and author in ("", "user"):
            self.say_content("user", parts, id=event_id)
            return
        self.say_content(
            "assistant",
            parts,
            id=event_id,
            name=author,
            model=text(record, "model_version", "modelVersion"),
            usage=self.source.usage(GEMINI_USAGE, record, "usage_metadata", "usageMetadata"),
            stop=text(record, "finish_reason", "finishReason"),
        )


class AdkRowBuilder(AdkBuilder):
    """Reads the rows of one session: an event whole, or a column for each of its fields."""

    def read(self, record: Record) -> None:
        """Read one row."""
        if "event_data" in record:
            super().read(as_object(record["event_data"], "event_data"))
        else:
            super().read({**record, "partial": record.get("partial") == 1})


def knows_adk(head: Head) -> bool:
    """Whether it is a session of an app and its user."""
    if head.is_object_with("app_name", "user_id", "events"):
        return True
    if head.is_object_with("appName", "userId", "events"):
        return True
    if not head.is_object_with("id", "events"):
        return False
    return '"invocation_id"' in head.text and '"author"' in head.text


ADK = Format(
    name="adk",
    description="Google ADK sessions (JSON)",
    carries=("calls", "thinking", "images", "usage", "times"),
    knows=knows_adk,
    sessions=json_document("events", AdkBuilder),
)

ADK_DATABASE = database_format(
    name="adk_database",
    description="sessions of Google's ADK (SQLite)",
    carries=("calls", "thinking", "images", "usage", "times", "model"),
    tables=ADK_TABLES,
    builder=AdkRowBuilder,
    aside="state create_time update_time messages.timestamp messages.actions "
    "messages.event_data.actions messages.grounding_metadata",
)
