"""Qwen Code (0.3 and newer), which keeps `~/.qwen/projects/*/chats/*.jsonl`."""

from dataclasses import replace

from workbench.engine.transcript.message import Usage
from workbench.recordings.importers.blocks import content
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.told_again import CLIENT_ANSWER, ids_told_again, places_of
from workbench.recordings.importers.usage import GEMINI_USAGE, UsageFields
from workbench.recordings.importers.values import (
    Record,
    as_mapping,
    label,
    mapping,
    objects,
    text,
)

QWEN_CLIENT = frozenset(
    {"notification", "cron", "background_task_completed", "goal_runtime", "agent_launch_prompt"}
)
"""Subtypes of a user's records that the client wrote."""


TELEMETRY_USAGE = UsageFields(
    "input_token_count",
    "output_token_count",
    "cached_content_token_count",
    reasoning="thoughts_token_count",
    tool_input="tool_token_count",
    total="total_token_count",
    cache_in_input=True,
)
OF_A_SUB_AGENT = "is of a sub-agent, whose messages are in no file: its request is in no bill"
WITHOUT_ANSWER = "is of a request whose answer is in no file: it is in no bill"


def knows_qwen(head: Head) -> bool:
    """Whether a line has a message in Gemini's shape, or the client's own record, with its place
    in a tree.
    """
    return any(_is_qwen_record(record) for record in head.records)


def _is_qwen_record(record: Record) -> bool:
    if not {"uuid", "parentUuid", "sessionId"} <= set(record):
        return False
    return "systemPayload" in record or "parts" in as_mapping(record.get("message"))


class QwenBuilder(SessionBuilder):
    """Reads records of a tree; a compression lists what the model is sent from now on."""

    about = {"id": "sessionId", "cwd": "cwd"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.places: dict[str, str | None] = {}
        self.unanswered_usage: Usage | None = None

    def read(self, record: Record) -> None:
        """Read one record, behind its parent."""
        if not self.id:
            self.begin(record)
        self.time = self.source.time(record, "timestamp")
        parent = text(record, "parentUuid")
        uuid = text(record, "uuid")
        if parent in self.places:
            self.log.leaf = self.places[parent]
        match text(record, "type"):
            case "assistant":
                self.unanswered_usage = None
                usage = self.source.usage(GEMINI_USAGE, record, "usageMetadata")
                parts = content(mapping(record, "message"), "parts")
                model = self.source.name(record, "model")
                self.say_content(
                    "assistant",
                    parts,
                    id=uuid,
                    model=model,
                    usage=usage,
                )
            case "user" | "tool_result":
                synthetic = label(record, "subtype") in QWEN_CLIENT
                parts = content(mapping(record, "message"), "parts")
                parts.results = [replace(result, id=uuid) for result in parts.results]
                self.say_content(
                    "user",
                    parts,
                    id=uuid,
                    synthetic=synthetic,
                )
            case "system":
                self._system(record, uuid)
            case type_:
                self.source.leave_record(f"record of type {type_!r:.40}", record)
        self.places[uuid] = self.log.leaf

    def _system(self, record: Record, uuid: str) -> None:
        subtype = text(record, "subtype")
        payload = mapping(record, "systemPayload")
        if subtype == "chat_compression":
            self._compression(payload, uuid)
        elif subtype == "ui_telemetry":
            self._telemetry(mapping(payload, "uiEvent"))
        elif subtype == "custom_title":
            self.title = text(payload, "customTitle")
        elif record.get("message") or "compressedHistory" in payload:
            self.source.leave_record(f"record of subtype {subtype!r:.40}", record)

    def _telemetry(self, event: Record) -> None:
        """Read what a request used. It is told before its answer; one that no answer follows was
        that of a compaction. A sub-agent's messages are in no file.
        """
        if label(event, "event.name") != "qwen-code.api_response":
            return
        usage = self.source.usage(TELEMETRY_USAGE, {"event": event}, "event")
        if label(event, "subagent_name"):
            self.source.note(OF_A_SUB_AGENT, field="systemPayload.uiEvent")
            return
        if self.unanswered_usage is not None:
            self.source.note(WITHOUT_ANSWER, field="systemPayload.uiEvent")
        self.unanswered_usage = usage

    def _compression(self, payload: Record, uuid: str) -> None:
        """Read a compaction: contents that are in the log already were kept, the first other one
        is the summary.
        """
        places = places_of(self.log)
        kept_ids: list[str] = []
        added: list[tuple[str, Content]] = []
        for record in objects(payload, "compressedHistory"):
            parts = content(record, "parts")
            role = "assistant" if record.get("role") == "model" else "user"
            ids = ids_told_again(places, role, parts)
            kept_ids += ids
            if not ids:
                added.append((role, parts))
        info = mapping(payload, "info")
        tokens_before = self.source.count(info, "originalTokenCount")
        tokens_after = self.source.count(info, "newTokenCount")
        summary: str | None = None
        if added:
            _, summary_parts = added.pop(0)
            summary = summary_parts.words
        self.compaction(
            summary,
            id=uuid,
            kept=tuple(kept_ids),
            tokens_before=tokens_before,
            tokens_after=tokens_after,
            usage=self.unanswered_usage,
        )
        self.unanswered_usage = None
        for role, parts in added:
            if role == "user":
                self.say_content("user", parts, synthetic=True)
            elif not parts.calls:
                self.note(CLIENT_ANSWER, parts.words)
            else:
                self.say_content("assistant", parts)


QWEN_CODE = Format(
    name="qwen_code",
    description="Qwen Code sessions (JSON lines)",
    carries=("tree", "calls", "thinking", "images", "usage", "times", "model", "compactions"),
    knows=knows_qwen,
    sessions=json_lines(QwenBuilder),
    aside="toolCallResult systemPayload",
)
