"""Sessions of Google's Agent Development Kit: one JSON document of events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.fields import epoch, inner, known_id, objects, words
from workbench.importers.gemini_parts import gemini_usage, parts_of
from workbench.importers.growth import Growth, main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source, kind
from workbench.transcript.message import AssistantMessage, Json, ToolResult, UserMessage
from workbench.transcript.session import Session


class Adk:
    """What ADK's session service and its web page save."""

    name: ClassVar[str] = "adk"
    description: ClassVar[str] = "Google ADK sessions (JSON)"
    carries: ClassVar[tuple[Carries, ...]] = ("calls", "thinking", "images", "usage", "times")

    def knows(self, head: str) -> bool:
        """Whether an app, a user and events stand at the top."""
        keys = seen(head).keys
        named = {"app_name", "user_id"} <= keys or {"appName", "userId"} <= keys
        return not seen(head).is_list and named

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        document = source.document()
        if not isinstance(document, dict):
            raise FormatError(f"expected an object with `events`, found {kind(document)}", where=source.where)
        growth = Growth()
        events: list[dict[str, Json]] = []
        with source.at():
            events = objects(document, "events")
        for i, event in enumerate(events):
            with source.at(field=f"events[{i}]"):
                _hear(source, growth, event)
        with source.at():
            app = words(document, "app_name") or words(document, "appName")
            yield Session(
                id=known_id(document, "id") or source.stem,
                log=growth.log,
                model=main_model(growth.log),
                project=app or project("", source.folder),
            )


def _hear(source: Source, growth: Growth, event: Mapping[str, Json]) -> None:
    """One event; those without content only change state, and partial ones come again whole."""
    content = inner(event, "content")
    if not content or event.get("partial") is True:
        return
    found = parts_of(objects(content, "parts"))
    source.unknown.update(found.unknown)
    said_id, time = known_id(event, "id"), epoch(event, "timestamp")
    author = words(event, "author")
    for call_id, name, blocks, failed in found.results:
        growth.say(ToolResult(id=said_id, call_id=call_id, blocks=blocks, name=name, is_error=failed, time=time))
    if found.results and not found.blocks:
        return
    if words(content, "role") == "user" and author in ("", "user"):
        growth.say(UserMessage(id=said_id, blocks=found.said, time=time))
        return
    growth.say(
        AssistantMessage(
            id=said_id,
            blocks=tuple(found.blocks),
            name=author,
            model=words(event, "model_version") or words(event, "modelVersion"),
            usage=gemini_usage(inner(event, "usage_metadata") or inner(event, "usageMetadata")),
            stop=words(event, "finish_reason") or words(event, "finishReason"),
            time=time,
        )
    )
