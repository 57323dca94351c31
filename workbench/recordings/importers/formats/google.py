"""Google's agents: Gemini CLI's documents under `~/.gemini/tmp/<project>/chats`, and the sessions of its ADK."""

from collections.abc import Mapping
from dataclasses import replace

from workbench.engine.transcript.message import Json, Thinking, ToolCall, ToolResult
from workbench.recordings.importers.blocks import Content, content, tool_call
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.usage import GEMINI_USAGE, UsageFields
from workbench.recordings.importers.values import identifier, mapping, objects, text

NOTES = frozenset({"info", "error", "warning"})
USAGE = UsageFields("input", "output", "cached", reasoning="thoughts", cache_in_input=True)


class AdkBuilder(SessionBuilder):
    """Reads events of the Agent Development Kit and its web page: what was said, and what the tools answered."""

    about = {"id": "id", "project": "app_name appName"}

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one event; those without content only change state, and partial ones come again whole."""
        holder = mapping(record, "content")
        if not holder or record.get("partial") is True:
            return
        found = content(holder, "parts")
        self.time, event_id, author = (
            self.source.time(record, "timestamp"),
            identifier(record, "id"),
            text(record, "author"),
        )
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
            usage=self.source.usage(GEMINI_USAGE, record, "usage_metadata", "usageMetadata"),
            stop=text(record, "finish_reason", "finishReason"),
        )


class GeminiCliBuilder(SessionBuilder):
    """Reads messages; an answer holds its calls with their results."""

    about = {"id": "sessionId", "title": "summary", "project": "projectHash"}

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message."""
        type_, message_id, found = text(record, "type"), identifier(record, "id"), content(record)
        self.time = self.source.time(record, "timestamp")
        if type_ == "user":
            for field in ("thoughts", "toolCalls"):
                self.source.unknown[f"{field} of a user"] += bool(record.get(field))
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
            result = self._result(made, call)
            found.blocks.append(call)
            found.results += [result] if result is not None else []
        model, usage = self.source.name(record, "model"), self.source.usage(USAGE, record, "tokens")
        self.say_content("assistant", found, id=message_id, model=model, usage=usage)

    def _result(self, record: Mapping[str, Json], call: ToolCall) -> ToolResult | None:
        """A call's result, which may be several parts; None where the recording has none."""
        status, given = text(record, "status"), record.get("result")
        found = content(record, "result") if isinstance(given, str | list) else Content()
        blocks = tuple(block for result in found.results for block in result.blocks) + found.said
        if not blocks and given is None and status not in ("success", "error", "cancelled"):
            return None
        failed = status in ("error", "cancelled") or any(result.is_error for result in found.results)
        result_id, time = f"{call.id}-result", self.source.time(record, "timestamp")
        return ToolResult(id=result_id, call_id=call.id, blocks=blocks, name=call.name, is_error=failed, time=time)
