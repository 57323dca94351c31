"""pydantic-ai's messages (2.x), as `all_messages_json` writes them."""

from workbench.engine.transcript.message import Json, Text
from workbench.recordings.importers.blocks import (
    add_part,
    result_blocks,
    text_block,
    thought_block,
    tool_result,
)
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.message_lists import message_sessions
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import Record, as_list, identifier, label, objects, text

PYDANTIC_USAGE = UsageFields(
    "input_tokens request_tokens",
    "output_tokens response_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    reasoning="output_reasoning_tokens details/reasoning_tokens details/thoughts_tokens",
    cache_write_long="cache_write_1h_tokens",
    cache_in_input=True,
    output_is_all=True,
)
_CALLS = frozenset({"tool-call", "builtin-tool-call"})
_RETURNS = frozenset({"tool-return", "builtin-tool-return"})


def knows_pydantic(head: Head) -> bool:
    """Whether its messages are requests and responses of typed parts."""
    return {"parts", "kind"} <= head.keys and '"part_kind"' in head.text


class PydanticBuilder(ChatBuilder):
    """Reads requests, each with what is new in it, and responses."""

    usage_fields = PYDANTIC_USAGE

    def read(self, record: Record) -> None:
        """Read one message. Instructions are sent with each request, and read where they change."""
        self.time = self.source.time(record, "timestamp")
        kind = label(record, "kind")
        if kind == "response":
            self._response(record)
        elif kind == "request":
            instructions = text(record, "instructions")
            if instructions and instructions not in self._instructions():
                self.say_text("system", instructions)
            for part in objects(record, "parts"):
                self._request_part(part)
        else:
            self.source.leave_record(f"message of kind {kind!r:.40}", record)

    def _instructions(self) -> list[str]:
        """The texts of the system messages so far."""
        instructions: list[str] = []
        for entry in self.log:
            if entry.type == "message" and entry.message.role == "system":
                for block in entry.message.blocks:
                    if isinstance(block, Text):
                        instructions.append(block.text)
        return instructions

    def _request_part(self, part: Record) -> None:
        kind = label(part, "part_kind")
        self.time = self.source.time(part, "timestamp") or self.time
        if kind == "system-prompt":
            self.say_text("system", text(part, "content"))
        elif kind == "user-prompt":
            self.say_content("user", _prompt(part.get("content")))
        elif kind in _RETURNS:
            failed = label(part, "outcome") in ("failed", "denied")
            self.say(tool_result({**part, "is_error": failed}))
        elif kind == "retry-prompt":
            self._retry(part)
        else:
            self.source.leave_record(f"part of kind {kind!r:.40}", part)

    def _retry(self, part: Record) -> None:
        """Read what the model is told to do again: a call, or its answer."""
        if part.get("tool_name"):
            blocks = result_blocks(part.get("content"))
            call_id = identifier(part, "tool_call_id")
            self.say_result(call_id, blocks, failed=True)
        else:
            self.synthetic = True
            blocks = result_blocks(part.get("content"))
            self.say_content("user", Content([*blocks]), synthetic=True)

    def _response(self, record: Record) -> None:
        answer = Content()
        for part in objects(record, "parts"):
            self._response_part(answer, part)
        self.say_content(
            "assistant",
            answer,
            model=self.source.name(record, "model_name"),
            usage=self.usage(record),
            stop=self.source.name(record, "finish_reason"),
        )

    def _response_part(self, answer: Content, part: Record) -> None:
        kind = label(part, "part_kind")
        if kind == "text":
            answer.blocks += text_block(text(part, "content"))
        elif kind == "thinking":
            answer.blocks += thought_block(text(part, "content"), text(part, "signature"))
        elif kind in _CALLS:
            answer.blocks.append(tool_call({**part, "name": part.get("tool_name")}))
            if part.get("content"):
                self.source.unknown["words in a call"] += 1
        elif kind in _RETURNS:
            answer.results.append(tool_result({**part, "name": part.get("tool_name")}))
        else:
            self.source.leave_record(f"part of kind {kind!r:.40}", part)


def _prompt(value: Json) -> Content:
    """What a user's prompt holds: text, or texts and media."""
    parts = Content()
    for part in as_list(value):
        if isinstance(part, dict) and "kind" in part:
            shaped = {**part, "type": "file", "mime_type": part.get("media_type")}
            add_part(parts, shaped)
        elif part:
            add_part(parts, part)
    return parts


PYDANTIC_AI = Format(
    name="pydantic_ai",
    description="pydantic-ai messages (JSON)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "system"),
    knows=knows_pydantic,
    sessions=message_sessions(PydanticBuilder),
)
