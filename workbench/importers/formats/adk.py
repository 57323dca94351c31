"""Sessions that Google's Agent Development Kit and its web page save: one JSON document of events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.importers.blocks import content
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.usage import GEMINI_USAGE
from workbench.importers.values import identifier, mapping, text, timestamp
from workbench.transcript.message import Json


class AdkBuilder(SessionBuilder):
    """Reads events: what was said, and what the tools answered."""

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the session's id and its app."""
        self.id, self.project = identifier(document, "id"), text(document, "app_name", "appName")

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one event; those without content only change state, and partial ones come again whole."""
        holder = mapping(record, "content")
        if not holder or record.get("partial") is True:
            return
        found = content(holder, "parts")
        self.time, event_id, author = timestamp(record, "timestamp"), identifier(record, "id"), text(record, "author")
        found.results = [replace(result, id=event_id) for result in found.results]
        if text(holder, "role") == "user" and author in ("", "user"):
            self.say_content("user", found, id=event_id)
            return
        self.say_content(
            "assistant",
            found,
            id=event_id,
            name=author,
            model=text(record, "model_version", "modelVersion"),
            usage=GEMINI_USAGE.read(mapping(record, "usage_metadata", "usageMetadata")),
            stop=text(record, "finish_reason", "finishReason"),
        )
