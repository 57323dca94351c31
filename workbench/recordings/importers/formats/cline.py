"""Sessions of Cline's SDK (to 3.0.65): `messages.json` files under `~/.cline/data/sessions`, and in a
`.compaction.json` beside each its newest compacted state.
"""

from workbench.engine.transcript.files import FileOps
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format, json_document
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.neighbours import object_beside
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    Record,
    identifier,
    label,
    mapping,
    objects,
    text,
    texts,
)

CLINE_STATE_LENGTH = "source_message_count"
"""How many messages a compacted state has seen."""


class ClineBuilder(ChatBuilder):
    """Reads messages in Anthropic's shape, and the summary or the mark of a compaction among
    them.
    """

    usage_fields = UsageFields(
        "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", cache_in_input=True
    )
    usage_in = "metrics"
    compacted = False

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.state: Record = {}
        self.message_count = 0
        self.entry_ids: dict[str, list[str]] = {}

    def begin(self, document: Record) -> None:
        """Read the system prompt and the id; a compacted state has its session's id, so its
        file's name is added.
        """
        self.id = identifier(document, "sessionId", "conversation_id")
        stem = self.source.stem
        if CLINE_STATE_LENGTH in document:
            self.id += "-compaction"
        else:
            self.state = object_beside(self.source, ".compaction.json")
        if self.id and stem not in ("session", self.id.removesuffix("-compaction")):
            self.id = f"{self.id}-{stem}"
        prompt = text(document, "system_prompt")
        if prompt:
            self.say_text("system", prompt, id="system")

    def read(self, record: Record) -> None:
        """Read one message, and behind the last that the compacted state has seen the compaction."""
        entry_count = len(self.log)
        self._read_message(record)
        if not self.state:
            return
        self.message_count += 1
        self.entry_ids[identifier(record, "id")] = list(self.ids[entry_count:])
        if self.message_count == self.state.get(CLINE_STATE_LENGTH):
            self._read_state()

    def _read_state(self) -> None:
        """Read the compaction that led to the compacted state."""
        kept_ids = list(self.system_ids)
        summary: Record = {}
        for message in objects(self.state, "messages"):
            message_id = identifier(message, "id")
            if label(mapping(message, "metadata"), "kind") == "compaction_summary":
                summary = message
            elif message_id in self.entry_ids:
                kept_ids += self.entry_ids[message_id]
            else:
                self.source.leave_record("message that only the compacted state has", message)
        if summary:
            self._summary(summary, mapping(summary, "metadata"), kept_ids=tuple(kept_ids))
        else:
            self.compaction(None, kept=tuple(kept_ids))

    def _read_message(self, record: Record) -> None:
        """Read one message. Before a compaction there is the system prompt alone, which none
        touches.
        """
        about = mapping(record, "metadata")
        mark = text(about, "kind")
        if mark == "compaction_summary":
            self._summary(record, about, kept_ids=self.ids)
            self.compacted = True
            return
        if mark == "compaction":
            if not self.compacted:
                self._mark(record, about)
        elif about.get("summary"):
            self.source.unknown["summary without the mark of a compaction"] += 1
        model = text(record, "modelInfo/id")
        super().read({**record, "timestamp": record.get("ts"), "model": model})
        self.compacted = self.compacted or mark == "compaction"

    def _mark(self, record: Record, about: Record) -> None:
        """Read the mark of a compaction whose summary is not shown."""
        self.time = self.source.time(record, "ts")
        entry_id = f"{identifier(record, 'id')}-compaction"
        self.compaction(
            None,
            hidden_summary=True,
            id=entry_id,
            kept=self.ids,
            reason=text(about, "reason"),
        )

    def _summary(self, message: Record, about: Record, *, kept_ids: tuple[str, ...]) -> None:
        details = mapping(about, "details")
        self.time = self.source.time(about, "generatedAt")
        self.compaction(
            text(about, "summary"),
            id=identifier(message, "id") or "compaction",
            files=FileOps(texts(details, "readFiles"), texts(details, "modifiedFiles")),
            kept=kept_ids,
            tokens_before=self.source.count(about, "tokensBefore"),
        )


def knows_cline(head: Head) -> bool:
    """Whether it is a session with its agent or its system prompt."""
    if head.is_object_with("version", "conversation_id", CLINE_STATE_LENGTH):
        return True
    if not head.is_object_with("version", "sessionId"):
        return False
    return bool({"agent", "system_prompt"} & head.keys) and '"role"' in head.text


CLINE = Format(
    name="cline",
    description="Cline sessions and their compacted states (JSON)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions", "system"),
    knows=knows_cline,
    sessions=json_document("messages", ClineBuilder),
)
