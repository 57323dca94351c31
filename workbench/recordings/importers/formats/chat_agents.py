"""Agents whose files are messages in a chat API's shape, each with fields of its own beside them.

Cline's SDK (to 3.0.65) writes `messages.json` files under `~/.cline/data/sessions`, and in a
`.compaction.json` beside each its newest compacted state. Continue keeps documents under `~/.continue/sessions` (source: continuedev/continue,
core/index.d.ts, ChatHistoryItem). Cursor writes `agent-transcripts/*.jsonl` under
`~/.cursor/projects`, with calls and without their results. Amp keeps a thread as one document under
`~/.local/share/amp/threads`. Droid (to 0.225) appends events to `~/.factory/sessions/*/*.jsonl`,
and keeps what its last request used in a `.settings.json` beside them.
"""

import glob

from workbench.base.errors import FormatError
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Json, Usage, UserMessage
from workbench.recordings.importers.blocks import text_block
from workbench.recordings.importers.chat import ROLES, ChatBuilder
from workbench.recordings.importers.format import Format, json_document, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.last_usage import with_last_usage
from workbench.recordings.importers.neighbours import files_beside, object_in
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import OPENAI_USAGE, UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    block_texts,
    identifier,
    items,
    label,
    mapping,
    objects,
    text,
    texts,
)

CLINE_STATE_LENGTH = "source_message_count"
"""How many messages a compacted state has seen."""
DROID_USAGE = UsageFields(
    "inputTokens",
    "outputTokens",
    "cacheReadTokens",
    "cacheCreationTokens",
    "thinkingTokens",
)
DROID_NOTES = frozenset({"todo_state", "agent_turn_outcome", "session_end"})
CONTINUE_FAILED = frozenset({"errored", "canceled"})
AMP_FAILED = frozenset({"error", "cancelled", "rejected-by-user"})


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
            self.state = beside(self.source, ".compaction.json")
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
        kept = list(self.system_ids)
        summary: Record = {}
        for message in objects(self.state, "messages"):
            message_id = identifier(message, "id")
            if label(mapping(message, "metadata"), "kind") == "compaction_summary":
                summary = message
            elif message_id in self.entry_ids:
                kept += self.entry_ids[message_id]
            else:
                self.source.leave_record("message that only the compacted state has", message)
        if summary:
            self._summary(summary, mapping(summary, "metadata"), kept=tuple(kept))
        else:
            self.compaction(None, kept=tuple(kept))

    def _read_message(self, record: Record) -> None:
        """Read one message. Before a compaction there is the system prompt alone, which none
        touches.
        """
        about = mapping(record, "metadata")
        mark = text(about, "kind")
        if mark == "compaction_summary":
            self._summary(record, about, kept=self.ids)
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
            id=entry_id,
            kept=self.ids,
            reason=text(about, "reason"),
        )

    def _summary(self, message: Record, about: Record, *, kept: tuple[str, ...]) -> None:
        details = mapping(about, "details")
        self.time = self.source.time(about, "generatedAt")
        self.compaction(
            text(about, "summary"),
            id=identifier(message, "id") or "compaction",
            files=FileOps(texts(details, "readFiles"), texts(details, "modifiedFiles")),
            kept=kept,
            tokens_before=self.source.count(about, "tokensBefore"),
        )


class ContinueBuilder(ChatBuilder):
    """Reads items: a message, what was attached to it, and the states of its calls."""

    about = {
        "id": "sessionId",
        "title": "title",
        "cwd": "workspaceDirectory",
        "model": "chatModelTitle",
    }
    usage_fields = UsageFields(
        "promptTokens",
        "completionTokens",
        "promptTokensDetails/cachedTokens",
        "promptTokensDetails/cacheWriteTokens",
    )

    def read(self, record: Record) -> None:
        """Read one item. A thought is a message of its own; a summary stands for all before it
        and the item itself.
        """
        message = mapping(record, "message")
        attached = "\n\n".join(text(item, "content") for item in objects(record, "contextItems"))
        if attached:
            self.say_text("user", attached, synthetic=True)
        if text(message, "role") == "thinking":
            thought = text(message, "content") or block_texts(message, "content")
            part = {"type": "thinking", "thinking": thought}
            message = {"role": "assistant", "content": [part]}
        shaped = {
            **message,
            "tool_calls": message.get("toolCalls"),
            "tool_call_id": message.get("toolCallId"),
            "model": message.get("model") or as_mapping(message.get("usage")).get("model"),
        }
        super().read(shaped)
        for state in objects(record, "toolCallStates"):
            self._call_state(state)
        summary = text(record, "conversationSummary")
        if summary:
            self.compaction(summary, kept=self.system_ids)

    def usage(self, record: Record) -> Usage | None:
        """The figures by the editor's names, or by OpenAI's, which the command line keeps."""
        return super().usage(record) or self.source.usage(OPENAI_USAGE, record, self.usage_in)

    def _call_state(self, state: Record) -> None:
        """Read the result in the state of a call; none where the call has not ended."""
        words = "\n".join(text(output, "content") for output in objects(state, "output"))
        status = text(state, "status")
        failed = status in CONTINUE_FAILED
        if words or failed or status == "done":
            call_id = text(state, "toolCallId")
            blocks = text_block(words)
            self.say_result(call_id, blocks, failed=failed)


class CursorBuilder(ChatBuilder):
    """Reads lines of a role and a message."""

    def read(self, record: Record) -> None:
        """Read one line."""
        if record.get("type") == "turn_ended":
            words = (label(record, "status"), label(record, "error"))
            self.note("turn_ended", " ".join(filter(None, words)))
        else:
            super().read({**mapping(record, "message"), "role": record.get("role")})


class AmpBuilder(ChatBuilder):
    """Reads a thread's messages; what a tool run returned is a field of its own."""

    about = {"id": "id", "title": "title"}
    usage_fields = UsageFields(
        "inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"
    )

    def begin(self, document: Record) -> None:
        """Read the thread's id, its title and the first folder that was open."""
        super().begin(document)
        folders = objects(mapping(document, "env/initial"), "trees")
        self.cwd = text(folders[0], "uri") if folders else ""

    def read(self, record: Record) -> None:
        """Read one message; those of the client itself are notes."""
        role = text(record, "role")
        figures = self.source.report(record, "usage")
        self.window = self.source.count(figures, "maxInputTokens") or self.window
        parts: list[Json] = []
        for part in items(record, "content"):
            parts.append(_amp_part(part) if isinstance(part, dict) else part)
        if role not in ROLES:
            words = [label(part, "text") for part in parts if isinstance(part, dict)]
            self.note(role, "\n".join(words))
            return
        message = {
            "role": role,
            "content": parts,
            "timestamp": figures.get("timestamp") or mapping(record, "meta").get("sentAt"),
            "usage": figures,
            "model": figures.get("model"),
            "stop_reason": text(record, "state/stopReason"),
        }
        super().read(message)


def _amp_part(part: JsonObject) -> JsonObject:
    """A part as Anthropic would name its fields."""
    if part.get("type") != "tool_result" or "run" not in part:
        return part
    run = mapping(part, "run")
    result = run.get("result")
    if result is None:
        result = run.get("error")
    return {
        "type": "tool_result",
        "tool_use_id": part.get("toolUseID"),
        "content": result,
        "is_error": text(run, "status") in AMP_FAILED,
    }


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
            case "message":
                parent = text(record, "parentId")
                if parent in self.log:
                    self.log.leaf = self.newer.get(parent, parent)
                message = dict(mapping(record, "message"))
                message["id"] = record.get("id")
                message["timestamp"] = record.get("timestamp")
                message["model"] = message.get("model") or message.get("modelId")
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
        settings = beside(self.source, ".settings.json")
        return self.source.usage(DROID_USAGE, settings, "lastCallTokenUsage")


def beside(source: SourceFile, ending: str) -> JsonObject:
    """The JSON object in the file beside a recording that has its name and this ending; empty
    where there is none, or none that can be read.
    """
    for path in files_beside(source, glob.escape(source.stem) + ending):
        try:
            return object_in(source, path)
        except FormatError as error:
            source.leave_unused(error)
    return {}


def knows_droid(head: Head) -> bool:
    """Whether it begins with the start of a session."""
    record = head.first_record
    return record.get("type") == "session_start" and "id" in record


def knows_amp(head: Head) -> bool:
    """Whether it is a thread."""
    return head.is_object_with("v", "created", "messages") and '"messageId"' in head.text


def knows_cursor(head: Head) -> bool:
    """Whether a line is a role and a message, and nothing of Claude Code's."""
    record = head.first_record
    if "role" not in record or "type" in record:
        return False
    return "content" in as_mapping(record.get("message"))


def knows_continue(head: Head) -> bool:
    """Whether it is a session whose items have something attached."""
    return head.is_object_with("sessionId", "history") and '"contextItems"' in head.text


def knows_cline(head: Head) -> bool:
    """Whether it is a session with its agent or its system prompt."""
    if head.is_object_with("version", "conversation_id", CLINE_STATE_LENGTH):
        return True
    if not head.is_object_with("version", "sessionId"):
        return False
    return bool({"agent", "system_prompt"} & head.keys) and '"role"' in head.text


DROID = Format(
    name="droid",
    description="Factory Droid sessions (JSON lines)",
    carries=("tree", "calls", "thinking", "usage", "times", "model", "compactions"),
    knows=knows_droid,
    sessions=json_lines(DroidBuilder),
    aside="title sessionTitle todos",
)

AMP = Format(
    name="amp",
    description="Amp threads (JSON)",
    carries=("calls", "thinking", "usage", "times", "model"),
    knows=knows_amp,
    sessions=json_document("messages", AmpBuilder),
    aside="title meta",
)

CURSOR = Format(
    name="cursor",
    description="Cursor agent transcripts (JSON lines; they hold no tool results)",
    carries=("calls",),
    knows=knows_cursor,
    sessions=json_lines(CursorBuilder),
)

CONTINUE = Format(
    name="continue",
    description="Continue sessions (JSON)",
    carries=("calls", "thinking", "usage", "model", "compactions", "system"),
    knows=knows_continue,
    sessions=json_document("history", ContinueBuilder),
    aside="title history.promptLogs history.editorState history.toolCallStates.output.description",
)

CLINE = Format(
    name="cline",
    description="Cline sessions and their compacted states (JSON)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions", "system"),
    knows=knows_cline,
    sessions=json_document("messages", ClineBuilder),
)
