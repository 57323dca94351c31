"""Sessions of the Cline SDK: one JSON document of Anthropic-like messages, before or after a compaction."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.chat import ChatBuilder
from workbench.importers.format import DocumentImporter
from workbench.importers.head import Head
from workbench.importers.values import count, identifier, mapping, optional_count, text, texts, timestamp
from workbench.transcript.files import FileOps
from workbench.transcript.message import Json, Text


class ClineBuilder(ChatBuilder):
    """Reads messages, and the summary or the mark of a compaction among them."""

    compacted = False

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the system prompt."""
        prompt = text(document, "system_prompt")
        if prompt:
            self.system([Text(prompt)], id="system")

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message. Before a compaction there is the system prompt alone, which none touches."""
        about = mapping(record, "metadata")
        mark = text(about, "kind")
        if mark == "compaction_summary":
            self._summary(record, about)
            self.compacted = True
            return
        if mark == "compaction" and not self.compacted:
            self.time, entry_id = timestamp(record, "ts"), f"{identifier(record, 'id')}-compaction"
            self.compaction(None, id=entry_id, kept=self.ids, reason=text(about, "reason"))
        self.read_message(_in_chat_shape(record))
        self.compacted = self.compacted or mark == "compaction"

    def _summary(self, message: Mapping[str, Json], about: Mapping[str, Json]) -> None:
        details = mapping(about, "details")
        files = FileOps(texts(details, "readFiles"), texts(details, "modifiedFiles"))
        self.time = timestamp(about, "generatedAt")
        self.compaction(
            text(about, "summary"),
            id=identifier(message, "id") or "compaction",
            files=files,
            kept=self.ids,
            tokens_before=optional_count(about, "tokensBefore"),
        )

    def describe(self, document: Mapping[str, Json]) -> None:
        """Read the session's id; its compacted states have the same one, so their file's name is added."""
        given, stem = identifier(document, "sessionId"), self.source.stem
        self.id = f"{given}-{stem}" if given and stem not in ("session", given) else given


class Cline(DocumentImporter):
    """The `messages.json` files under `~/.cline/data/sessions`, and their compacted states."""

    name = "cline"
    description = "Cline sessions and their compacted states (JSON)"
    carries = ("calls", "thinking", "images", "usage", "times", "model", "compactions", "system")
    records, builder = "messages", ClineBuilder

    def knows(self, head: Head) -> bool:
        """Whether it is a versioned list of messages with Cline's session id."""
        listed = bool({"messages", "agent"} & head.keys) and '"role"' in head.text
        return head.is_object_with("version", "sessionId") and listed


def _in_chat_shape(message: Mapping[str, Json]) -> dict[str, Json]:
    """The message in Anthropic's shape, with files as text and figures under `usage`."""
    shaped = {name: value for name, value in message.items() if name in ("id", "role", "content")}
    if isinstance(shaped.get("content"), list):
        shaped["content"] = [_part(part) for part in shaped["content"]]
    shaped["timestamp"] = message.get("ts")
    shaped["model"] = text(mapping(message, "modelInfo"), "id")
    metrics = mapping(message, "metrics")
    read, written = count(metrics, "cacheReadTokens"), count(metrics, "cacheWriteTokens")
    if metrics:
        shaped["usage"] = {
            "input_tokens": max(count(metrics, "inputTokens") - read - written, 0),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": count(metrics, "outputTokens"),
        }
    return shaped


def _part(part: Json) -> Json:
    if isinstance(part, dict) and part.get("type") == "file":
        return {"type": "text", "text": f"{text(part, 'path')}\n{text(part, 'content')}"}
    return part
