"""Qwen Code (0.3 and newer), which keeps `~/.qwen/projects/*/chats/*.jsonl`."""

from dataclasses import replace

from workbench.recordings.importers.blocks import content
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.told_again import ACKNOWLEDGEMENT, ids_told_again, places_of
from workbench.recordings.importers.usage import GEMINI_USAGE
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
        elif subtype == "custom_title":
            self.title = text(payload, "customTitle")
        elif record.get("message") or "compressedHistory" in payload:
            self.source.leave_record(f"record of subtype {subtype!r:.40}", record)

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
        )
        if added and added[0][0] == "assistant":
            _, acknowledgement = added.pop(0)
            self.note(ACKNOWLEDGEMENT, acknowledgement.words)
        for role, parts in added:
            if role == "user":
                self.say_content("user", parts, synthetic=True)
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
