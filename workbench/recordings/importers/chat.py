"""Messages in the shape of a chat API, OpenAI's or Anthropic's: one list of them to a straight
log.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from workbench.engine.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    Message,
    ToolCall,
    ToolResult,
    Usage,
)
from workbench.recordings.importers.blocks import (
    content,
    result_blocks,
    text_block,
    thought_block,
)
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_call, tool_calls
from workbench.recordings.importers.usage import UsageFields, provider_fields
from workbench.recordings.importers.values import (
    Record,
    as_mapping,
    identifier,
    label,
    mapping,
    text,
)

ROLES: Mapping[str, str] = {
    **dict.fromkeys(("assistant", "ai", "model"), "assistant"),
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
"""Our role for each that a chat API or a framework has."""
_WITH_CALLS = frozenset({"content", "parts", "tool_calls"})
"""Fields of an answer whose calls are read."""


CONTINUED = "This session is being continued from a previous conversation"
"""How Claude Code begins the summary that stands for all before it."""


class ChatBuilder(SessionBuilder):
    """Reads messages one after another into a log, and gives each result its call.

    Attributes:
        usage_fields: the names of an answer's figures in its field `usage_in`; None for OpenAI's or
            Anthropic's.
        synthetic: whether the next user's message comes from the client.
    """

    usage_fields: ClassVar[UsageFields | None] = None
    usage_in: ClassVar[str] = "usage"
    synthetic = False

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.open_calls: dict[str, None] = {}
        self.calls_without_id: set[str] = set()
        self.repeats: dict[str, int] = {}

    def read(self, record: Record) -> None:
        """Read one message."""
        role = ROLES.get(label(record, "role"))
        if role is None:
            self.source.leave_record(f"message of role {record.get('role')!r:.40}", record)
            return
        self.time = self.source.time(record, "timestamp")
        field = "content" if record.get("parts") is None else "parts"
        parts = content(self._after_compaction(record), field)
        message_id = identifier(record, "id", "uuid")
        if role == "system":
            self.say_content("system", parts, id=message_id)
        elif role == "user":
            name = text(record, "name")
            self.say_content(
                "user",
                parts,
                id=message_id,
                name=name,
                synthetic=self.synthetic,
            )
        elif role == "tool":
            result = self._result(message_id, record, parts)
            self.say_content("user", result, id=message_id)
        else:
            self._add_beside(parts, record)
            self.say_content(
                "assistant",
                parts,
                id=message_id,
                model=self.source.name(record, "model"),
                usage=self.usage(record),
                stop=self.source.name(record, "stop_reason", "finish_reason"),
            )

    def _add_beside(self, parts: Content, record: Record) -> None:
        """Add what an answer has beside its content: a thought, a refusal, and calls."""
        thought = text(record, "reasoning_content") or label(record, "reasoning")
        refusal = text(record, "refusal")
        parts.blocks[:0] = thought_block(thought)
        parts.blocks += text_block(refusal)
        shown_ids = {call.id for call in parts.calls}
        for call in tool_calls(record):
            if not call.id or call.id not in shown_ids:
                parts.blocks.append(call)
        old_call = mapping(record, "function_call")
        if old_call:
            parts.blocks.append(tool_call(old_call))
        for name, value in record.items():
            if name not in _WITH_CALLS and _holds_calls(value):
                self.source.unknown[f"list of calls {name!r}"] += 1

    def _after_compaction(self, record: Record) -> Record:
        """The message without Anthropic's block of a compaction, whose summary stands for all
        before it.
        """
        parts = record.get("content")
        if not isinstance(parts, list):
            return record
        other_parts: list[Json] = []
        for part in parts:
            if isinstance(part, dict) and part.get("type") == "compaction":
                self.compaction(text(part, "content") or None, kept=self.system_ids)
            else:
                other_parts.append(part)
        if len(other_parts) == len(parts):
            return record
        return {**record, "content": other_parts}

    def usage(self, record: Record) -> Usage | None:
        """What the provider reported beside the message."""
        fields = self.usage_fields
        if fields is None:
            fields = provider_fields(as_mapping(record.get(self.usage_in)))
        return self.source.usage(fields, record, self.usage_in)

    def say(self, message: Message) -> str:
        """Append a message. Calls get unique ids; a result without a call id answers the oldest
        open call.
        """
        if isinstance(message, AssistantMessage):
            blocks: list[AnswerBlock] = []
            for index, block in enumerate(message.blocks):
                if isinstance(block, ToolCall):
                    block = self._with_unique_id(block, index)
                blocks.append(block)
            message = replace(message, blocks=tuple(blocks))
        elif isinstance(message, ToolResult):
            message = replace(message, call_id=self._answered(message))
        return super().say(message)

    def _with_unique_id(self, call: ToolCall, index: int) -> ToolCall:
        """The call with a unique id: some recorders write none, some repeat the same one."""
        if not call.id:
            call = replace(call, id=f"call-{len(self.log) + 1}-{index}")
            self.calls_without_id.add(call.id)
        elif call.id in self.names:
            if self._newest_id(call.id) in self.open_calls:
                self.source.note(
                    "a call has the id of one that is still open, so a result may answer either"
                )
            self.repeats[call.id] = self.repeats.get(call.id, 1) + 1
            call = replace(call, id=self._newest_id(call.id))
        self.names[call.id] = call.name
        self.open_calls[call.id] = None
        return call

    def _newest_id(self, call_id: str) -> str:
        """The unique id of the newest call with this id."""
        if call_id not in self.repeats:
            return call_id
        return f"{call_id}~{self.repeats[call_id]}"

    def _answered(self, result: ToolResult) -> str:
        """The id of the call that a result answers: the one it names, else the oldest without a
        result.
        """
        call_id = self._newest_id(result.call_id)
        if not call_id and len(self.open_calls) > 1:
            self.source.note("a result names no call, so it answers the oldest that is open")
        if call_id not in self.names:
            call_id = self._open_call_without_id(result.name) or call_id
        call_id = call_id or next(iter(self.open_calls), "")
        self.open_calls.pop(call_id, None)
        return call_id

    def _open_call_without_id(self, name: str) -> str:
        """The oldest call of this tool that has no result and came without an id; results of Gemini
        may have ids that their calls lack.
        """
        for call_id in self.open_calls:
            if call_id in self.calls_without_id and self.names[call_id] == name:
                return call_id
        return ""

    def _result(self, message_id: str, record: Record, parts: Content) -> Content:
        """The result in a tool's message: its parts if they are results, else its content."""
        if parts.results:
            return Content(results=parts.results, unknown=parts.unknown)
        blocks = parts.said or result_blocks(record.get("content"))
        result = ToolResult(
            id=message_id,
            call_id=identifier(record, "tool_call_id"),
            blocks=blocks,
            name=text(record, "name"),
            is_error=record.get("is_error") is True or bool(record.get("error")),
        )
        return Content(results=[result], unknown=parts.unknown)


def _holds_calls(value: Json) -> bool:
    """Whether a field of an answer lists calls: objects that all have arguments."""
    if not isinstance(value, list) or not value:
        return False
    return all("arguments" in as_mapping(item) for item in value)
