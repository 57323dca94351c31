"""Strands Agents (1.62) with its file session manager: the folder `session_<id>` has `session.json`,
which is the recording, and a file for each message of each agent.
"""

from collections.abc import Iterator

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.neighbours import by_number, files_beside, object_in
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import Record, as_mapping, count, mapping

STRANDS_USAGE = UsageFields(
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheWriteInputTokens",
    total="totalTokens",
)


def knows_strands(head: Head) -> bool:
    """Whether it is the file of a session, whose messages lie in folders beside it."""
    return head.is_object_with("session_id", "session_type", "created_at", "updated_at")


def strands_sessions(source: SourceFile) -> Iterator[Session]:
    """Reads the messages of each agent in the folder of a session."""
    session_id = source.identifier(source.object_with("session_id"), "session_id")
    agent_folders = files_beside(source, "agents/agent_*")
    for folder in agent_folders:
        builder = StrandsBuilder(source)
        builder.id = session_id
        if len(agent_folders) > 1:
            builder.id = f"{session_id}-{folder.name.removeprefix('agent_')}"
        for path in by_number(folder.glob("messages/message_*.json")):
            with source.at(field=path.stem):
                builder.read(object_in(source, path))
        state_file = folder / "agent.json"
        if state_file.is_file():
            with source.at(field=state_file.stem):
                builder.read_state(object_in(source, state_file))
        yield builder.session()
    if not agent_folders:
        raise FormatError(
            "its messages are not in the folder `agents` beside it", where=source.where
        )


def strands_values(source: SourceFile) -> Iterator[Json]:
    """Everything that the messages of a session hold."""
    for path in files_beside(source, "agents/agent_*/messages/message_*.json"):
        yield object_in(source, path)


class StrandsBuilder(ChatBuilder):
    """Reads the messages of one agent."""

    usage_fields = STRANDS_USAGE

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.numbers: dict[str, int] = {}

    def read(self, record: Record) -> None:
        """Read one file: a message, in the place of which another may have been sent."""
        message = mapping(record, "redact_message", "message")
        number = count(record, "message_id")
        message_count = len(self.log)
        time = record.get("created_at")
        figures = mapping(message, "metadata/usage")
        super().read({**message, "timestamp": time, "usage": figures or None})
        for entry_id in self.ids[message_count:]:
            self.numbers[entry_id] = number

    def read_state(self, agent: Record) -> None:
        """Read which of the first messages are sent no more, and the summary in their place."""
        state = mapping(agent, "conversation_manager_state")
        removed_count = count(state, "removed_message_count")
        if not removed_count:
            return
        kept_ids = [entry_id for entry_id in self.ids if self.numbers[entry_id] >= removed_count]
        summary_message = as_mapping(state.get("summary_message"))
        summary: str | None = None
        if summary_message:
            summary = self.summary_in(summary_message)
        self.compaction(summary, kept=tuple(kept_ids))


STRANDS = Format(
    name="strands",
    description="sessions of Strands Agents (a folder's `session.json`)",
    carries=("calls", "thinking", "images", "usage", "times", "compactions"),
    knows=knows_strands,
    sessions=strands_sessions,
    values=strands_values,
)
