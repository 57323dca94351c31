"""Sessions of Gemini CLI, the files under `~/.gemini/tmp/<project>/chats`: one JSON document of messages."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.blocks import Content, content, tool_call
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.usage import UsageFields
from workbench.importers.values import identifier, mapping, objects, text, timestamp
from workbench.transcript.message import Json, Thinking, ToolCall, ToolResult

NOTES = frozenset({"info", "error", "warning"})
USAGE = UsageFields("input", "output", "cached", reasoning="thoughts", cache_in_input=True)


class GeminiCliBuilder(SessionBuilder):
    """Reads messages; an answer holds its calls with their results."""

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message."""
        type_, message_id, found = text(record, "type"), identifier(record, "id"), content(record)
        self.time = timestamp(record, "timestamp")
        if type_ == "user":
            self.say_content("user", found, id=message_id)
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
        found.blocks = [*thoughts, *found.blocks]
        for made in objects(record, "toolCalls"):
            call = tool_call(made)
            result = _result(made, call)
            found.blocks.append(call)
            found.results += [result] if result is not None else []
        model, usage = text(record, "model"), USAGE.read(mapping(record, "tokens"))
        self.say_content("assistant", found, id=message_id, model=model, usage=usage)

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the session's id, its summary and its project."""
        self.id, self.title = identifier(document, "sessionId"), text(document, "summary")
        self.project = text(document, "projectHash")


def _result(record: Mapping[str, Json], call: ToolCall) -> ToolResult | None:
    """A call's result, which may be several parts; None where the recording has none."""
    status, given = text(record, "status"), record.get("result")
    found = content(record, "result") if isinstance(given, str | list) else Content()
    blocks = tuple(block for result in found.results for block in result.blocks) + found.said
    if not blocks and given is None and status not in ("success", "error", "cancelled"):
        return None
    failed = status in ("error", "cancelled") or any(result.is_error for result in found.results)
    result_id, time = f"{call.id}-result", timestamp(record, "timestamp")
    return ToolResult(id=result_id, call_id=call.id, blocks=blocks, name=call.name, is_error=failed, time=time)
