"""Sessions of Google's Agent Development Kit: one JSON document of events."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.blocks import gemini_content
from workbench.importers.format import DocumentImporter
from workbench.importers.head import Head
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.usage import GEMINI_USAGE
from workbench.importers.values import identifier, mapping, objects, text, timestamp
from workbench.transcript.message import Json


class AdkBuilder(SessionBuilder):
    """Reads events: what was said, and what the tools answered."""

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one event; those without content only change state, and partial ones come again whole."""
        content = mapping(record, "content")
        if not content or record.get("partial") is True:
            return
        found = gemini_content(objects(content, "parts"))
        self.source.unknown.update(found.unknown)
        self.time, event_id, author = timestamp(record, "timestamp"), identifier(record, "id"), text(record, "author")
        for one in found.results:
            self.result(one.call_id, one.blocks, id=event_id, name=one.name, is_error=one.is_error)
        if found.results and not found.blocks:
            return
        if text(content, "role") == "user" and author in ("", "user"):
            self.user(found.said, id=event_id)
            return
        self.assistant(
            found.blocks,
            id=event_id,
            name=author,
            model=text(record, "model_version", "modelVersion"),
            usage=GEMINI_USAGE.read(mapping(record, "usage_metadata", "usageMetadata")),
            stop=text(record, "finish_reason", "finishReason"),
        )

    def describe(self, document: Mapping[str, Json]) -> None:
        """Read the session's id and its app."""
        self.project = text(document, "app_name", "appName")
        self.id = identifier(document, "id")


class Adk(DocumentImporter):
    """What ADK's session service and its web page save."""

    name = "adk"
    description = "Google ADK sessions (JSON)"
    carries = ("calls", "thinking", "images", "usage", "times")
    records, builder = "events", AdkBuilder

    def knows(self, head: Head) -> bool:
        """Whether the document names an app and a user."""
        return head.is_object_with("app_name", "user_id") or head.is_object_with("appName", "userId")
