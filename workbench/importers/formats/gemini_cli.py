"""Sessions of Gemini CLI: one JSON document of messages."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.blocks import Content, arguments, content, gemini_content, result_blocks
from workbench.importers.format import DocumentImporter
from workbench.importers.head import Head
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.usage import UsageFields
from workbench.importers.values import identifier, mapping, objects, text, timestamp
from workbench.transcript.message import Json, Thinking, ToolCall, ToolResult

NOTES = frozenset({"info", "error", "warning"})
USAGE = UsageFields(
    input=("input",), output=("output",), cache_read=("cached",), reasoning=("thoughts",), cache_in_input=True
)


class GeminiCliBuilder(SessionBuilder):
    """Reads messages; an answer holds its calls with their results."""

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message."""
        type_, message_id = text(record, "type"), identifier(record, "id")
        self.time = timestamp(record, "timestamp")
        plain = isinstance(record.get("content"), str)
        found = content(record) if plain else gemini_content(objects(record, "content"))
        self.source.unknown.update(found.unknown)
        if type_ == "user":
            self.user(found.said, id=message_id)
        elif type_ == "gemini":
            self._answer(record, message_id, found)
        elif type_ in NOTES:
            self.note(type_, found.words, id=message_id)
        else:
            self.source.unknown[f"message of type {type_!r}"] += 1

    def _answer(self, record: Mapping[str, Json], message_id: str, found: Content) -> None:
        thoughts = [
            Thinking(f"{text(thought, 'subject')}\n{text(thought, 'description')}".strip())
            for thought in objects(record, "thoughts")
        ]
        calls, results = [], []
        for record_of_call in objects(record, "toolCalls"):
            name, given = text(record_of_call, "name"), record_of_call.get("args")
            call = ToolCall(identifier(record_of_call, "id"), name, arguments(given))
            calls.append(call)
            results += _results(record_of_call, call)
        model, usage = text(record, "model"), USAGE.read(mapping(record, "tokens"))
        self.assistant([*thoughts, *found.blocks, *calls], id=message_id, model=model, usage=usage)
        for result in results:
            self.say(result)

    def describe(self, document: Mapping[str, Json]) -> None:
        """Read the session's id, its summary and its project."""
        self.id, self.title = identifier(document, "sessionId"), text(document, "summary")
        self.project = text(document, "projectHash")


class GeminiCli(DocumentImporter):
    """The files under `~/.gemini/tmp/<project>/chats`."""

    name = "gemini_cli"
    description = "Gemini CLI sessions (JSON)"
    carries = ("calls", "thinking", "images", "usage", "times", "model")
    records, builder = "messages", GeminiCliBuilder

    def knows(self, head: Head) -> bool:
        """Whether it begins with the CLI's own fields."""
        return head.is_object_with("sessionId", "projectHash")


def _results(record: Mapping[str, Json], call: ToolCall) -> list[ToolResult]:
    """One result a call: what the CLI sent back may be several parts."""
    status, given = text(record, "status"), record.get("result")
    found = gemini_content([part for part in given if isinstance(part, dict)]) if isinstance(given, list) else Content()
    blocks = tuple(block for result in found.results for block in result.blocks) + found.said
    if isinstance(given, str):
        blocks = result_blocks(given)
    if not blocks and given is None and status not in ("success", "error", "cancelled"):
        return []
    failed = status in ("error", "cancelled") or any(result.is_error for result in found.results)
    time = timestamp(record, "timestamp")
    return [
        ToolResult(id=f"{call.id}-result", call_id=call.id, blocks=blocks, name=call.name, is_error=failed, time=time)
    ]
