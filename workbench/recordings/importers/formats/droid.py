"""Sessions of Factory's Droid (to 0.225): events in `~/.factory/sessions/*/*.jsonl`, and in a
`.settings.json` beside each what the last request used.
"""

from workbench.engine.transcript.message import Usage, UserMessage
from workbench.recordings.importers.blocks import content, text_block
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.neighbours import object_beside
from workbench.recordings.importers.reported_usage import with_last_usage
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import Record, identifier, mapping, text

DROID_USAGE = UsageFields(
    "inputTokens",
    "outputTokens",
    "cacheReadTokens",
    "cacheCreationTokens",
    "thinkingTokens",
)
FORKED = "says that it is a fork: requests before it are those of the session that it names"
DROID_NOTES = frozenset({"todo_state", "agent_turn_outcome", "session_end"})


class DroidBuilder(ChatBuilder):
    """Reads a session's start, its messages and its compactions, behind which the next messages
    hang on old ones.
    """

    about = {"id": "id", "cwd": "cwd", "title": "title sessionTitle"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.newer: dict[str | None, str] = {}

    def read(self, record: Record) -> None:
        """Read one event."""
        match text(record, "type"):
            case "session_start":
                self.begin(record)
                if record.get("forkedAtMessageId"):
                    self.source.note(FORKED, field="forkedAtMessageId")
            case "message":
                parent = text(record, "parentId")
                if parent in self.log:
                    self.log.leaf = self.newer.get(parent, parent)
                message = dict(mapping(record, "message"))
                message["id"] = record.get("id")
                message["timestamp"] = record.get("timestamp")
                message["model"] = message.get("model") or message.get("modelId")
                if message.get("visibility") == "user_only":
                    self.time = self.source.time(message, "timestamp")
                    notice = content(message).words
                    self.note("notice", notice, id=identifier(record, "id"))
                else:
                    super().read(message)
            case "compaction_state":
                self._compaction(record)
            case type_ if (
                type_ not in DROID_NOTES or record.get("message") or record.get("summaryText")
            ):
                self.source.unknown[f"event of type {type_!r}"] += 1

    def _compaction(self, record: Record) -> None:
        """Read a summary; the message that it names is the last that it replaces."""
        anchor = record.get("anchorMessage")
        last_replaced = text(anchor, "id") if isinstance(anchor, dict) else anchor
        first_kept: str | None = None
        is_behind = False
        for entry in self.log.path():
            if is_behind:
                first_kept = entry.id
                break
            is_behind = entry.id == last_replaced
        old_leaf = self.log.leaf
        summary = text(record, "summaryText") or None
        self.time = self.source.time(record, "timestamp")
        entry_id = self.compaction(summary, id=identifier(record, "id"), first_kept=first_kept)
        about_machine = text(record, "systemInfoText")
        if about_machine:
            entry_id = self.say(
                UserMessage(
                    id=f"{entry_id}-system-info",
                    blocks=tuple(text_block(about_machine)),
                    synthetic=True,
                )
            )
        self.newer[old_leaf] = entry_id

    def close(self) -> None:
        """Give the newest answer what the file beside the recording says of the last request."""
        usage = self._last_usage()
        if usage is not None:
            self.log = with_last_usage(self.log, usage)

    def _last_usage(self) -> Usage | None:
        """What the last request used; None where no file says it."""
        settings = object_beside(self.source, ".settings.json")
        return self.source.usage(DROID_USAGE, settings, "lastCallTokenUsage")


def knows_droid(head: Head) -> bool:
    """Whether it begins with the start of a session."""
    record = head.first_record
    return record.get("type") == "session_start" and "id" in record


DROID = Format(
    name="droid",
    description="Factory Droid sessions (JSON lines)",
    carries=("tree", "calls", "thinking", "usage", "times", "model", "compactions"),
    knows=knows_droid,
    sessions=json_lines(DroidBuilder),
    aside="title sessionTitle todos",
)
