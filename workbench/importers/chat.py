"""Messages in the shape of a chat API, OpenAI's or Anthropic's: one list of them to a straight log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from workbench.errors import FormatError
from workbench.importers.blocks import Content, arguments, content, result_blocks, text_block, thought_block
from workbench.importers.decoding import kind
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import Source
from workbench.importers.usage import ANTHROPIC_USAGE, OPENAI_USAGE
from workbench.importers.values import identifier, label, mapping, objects, text, timestamp
from workbench.transcript.message import AnswerBlock, Json, ToolCall, Usage

ROLES: Mapping[str, str] = {
    **dict.fromkeys(("assistant", "ai", "model"), "assistant"),
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
"""Our role for each that a chat API or a framework has."""


class ChatBuilder(SessionBuilder):
    """Reads messages one after another into a log, and gives each result its call."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.waiting: dict[str, None] = {}
        self.again: dict[str, int] = {}

    def read_all(self, messages: Iterable[Json], field: str = "messages") -> None:
        """Read a list; a damaged message is placed by its index."""
        for i, message in enumerate(messages):
            with self.source.at(field=f"{field}[{i}]"):
                self.read_message(message)

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message."""
        self.read_message(record)

    def read_message(self, record: Json, *, synthetic: bool = False) -> None:
        """Read one message; a user's may be known to come from the client.

        Raises:
            FormatError: it is no message; the field is named.
        """
        if not isinstance(record, dict):
            raise FormatError(f"expected a message object, found {kind(record)}")
        role = text(record, "role")
        found = content(record)
        self.source.unknown.update(found.unknown)
        self.time = timestamp(record, "timestamp") if isinstance(record.get("timestamp"), str | int | float) else None
        message_id = identifier(record, "id", "uuid")
        match ROLES.get(role):
            case "system":
                self.system(found.said, id=message_id)
            case "user":
                self._results(found)
                if found.blocks or not found.results:
                    self.user(found.said, id=message_id, name=text(record, "name"), synthetic=synthetic)
            case "assistant":
                self._answer(message_id, record, found)
            case "tool":
                self._tool(message_id, record, found)
            case _:
                raise FormatError(f"unknown role {role!r}; known roles are {', '.join(sorted(ROLES))}", field="role")

    def _answer(self, message_id: str, record: Mapping[str, Json], found: Content) -> None:
        thought = text(record, "reasoning_content") or label(record, "reasoning")
        blocks: list[AnswerBlock] = [*thought_block(thought), *found.blocks]
        blocks += [*text_block(text(record, "refusal")), *calls(record)]
        for i, block in enumerate(blocks):
            if isinstance(block, ToolCall):
                blocks[i] = block = self._with_own_id(block, i)
                self.names[block.id] = block.name
                self.waiting[block.id] = None
        model, stop = text(record, "model"), text(record, "stop_reason", "finish_reason")
        self.assistant(blocks, id=message_id, model=model, usage=_usage(record), stop=stop)
        self._results(found)

    def _with_own_id(self, call: ToolCall, i: int) -> ToolCall:
        """The call with an id of its own: some recorders give none, some the same one again and again."""
        if not call.id:
            return replace(call, id=f"call-{len(self.log) + 1}-{i}")
        if call.id not in self.names:
            return call
        n = self.again[call.id] = self.again.get(call.id, 1) + 1
        return replace(call, id=f"{call.id}~{n}")

    def _answered(self, call_id: str) -> str:
        """Which call a result answers: the one that it names, else the oldest that has no result yet."""
        if call_id in self.again:
            call_id = f"{call_id}~{self.again[call_id]}"
        call_id = call_id or next(iter(self.waiting), "")
        self.waiting.pop(call_id, None)
        return call_id

    def _tool(self, message_id: str, record: Mapping[str, Json], found: Content) -> None:
        if found.results:
            self._results(found)
            return
        call_id = self._answered(identifier(record, "tool_call_id"))
        failed = record.get("is_error") is True or bool(record.get("error"))
        blocks = found.said or result_blocks(record.get("content"))
        self.result(call_id, blocks, id=message_id, name=text(record, "name"), is_error=failed)

    def _results(self, found: Content) -> None:
        for result in found.results:
            self.result(self._answered(result.call_id), result.blocks, is_error=result.is_error)


def calls(record: Mapping[str, Json]) -> list[ToolCall]:
    """OpenAI's tool calls, and the single function call of its old API."""
    made = []
    for i, call in enumerate(objects(record, "tool_calls")):
        function = mapping(call, "function", "custom") or call
        given = function.get("arguments", function.get("input", function.get("args")))
        try:
            made.append(ToolCall(identifier(call, "id"), text(function, "name"), arguments(given)))
        except FormatError as error:
            raise FormatError(error.why, field=f"tool_calls[{i}].{error.field}") from None
    old = mapping(record, "function_call")
    return [*made, ToolCall("", text(old, "name"), arguments(old.get("arguments")))] if old else made


def _usage(record: Mapping[str, Json]) -> Usage | None:
    """What the provider reported beside the message, in either shape."""
    given = mapping(record, "usage")
    anthropic = "cache_read_input_tokens" in given or "cache_creation_input_tokens" in given
    return (ANTHROPIC_USAGE if anthropic else OPENAI_USAGE).read(given)
