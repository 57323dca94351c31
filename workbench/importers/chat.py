"""Messages in the shape of a chat API, OpenAI's or Anthropic's: one list of them to a straight log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from workbench.errors import FormatError
from workbench.importers.content import Content, arguments, content, result_blocks
from workbench.importers.fields import (
    anthropic_usage,
    epoch,
    inner,
    known_id,
    objects,
    openai_usage,
    words,
)
from workbench.importers.growth import Growth
from workbench.importers.source import Source, kind
from workbench.transcript.message import (
    AssistantMessage,
    Json,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

ANSWERS = frozenset({"assistant", "ai", "model"})
ASKED = frozenset({"user", "human"})
RULES = frozenset({"system", "developer"})
RESULTS = frozenset({"tool", "function"})
ROLES = ANSWERS | ASKED | RULES | RESULTS


class Chat:
    """Reads messages one after another into a log."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.growth = Growth()
        self.names: dict[str, str] = {}
        self.waiting: dict[str, None] = {}
        self.again: dict[str, int] = {}

    def hear_all(self, messages: Iterable[Json], field: str = "messages") -> None:
        """Read a list; a damaged message is placed by its index."""
        for i, message in enumerate(messages):
            with self.source.at(field=f"{field}[{i}]"):
                self.hear(message)

    def hear(self, record: Json, *, synthetic: bool = False) -> None:
        """Read one message; a user's may be known to come from the client.

        Raises:
            FormatError: it is no message; the field is named.
        """
        if not isinstance(record, dict):
            raise FormatError(f"expected a message object, found {kind(record)}")
        role = words(record, "role")
        found = content(record)
        self.source.unknown.update(found.unknown)
        time = epoch(record, "timestamp") if isinstance(record.get("timestamp"), str | int | float) else None
        said_id = known_id(record, "id") or known_id(record, "uuid")
        if role in RULES:
            self.growth.say(SystemMessage(id=said_id, blocks=found.said, time=time))
        elif role in ASKED:
            self._user(said_id, record, found, time, synthetic)
        elif role in ANSWERS:
            self._answer(said_id, record, found, time)
        elif role in RESULTS:
            self._tool(said_id, record, found, time)
        else:
            known = ", ".join(sorted(ROLES))
            raise FormatError(f"no role is named {role!r}; known are {known}", field="role")

    def _user(
        self, said_id: str, record: Mapping[str, Json], found: Content, time: float | None, synthetic: bool
    ) -> None:
        self._results(found, time)
        if found.blocks or not found.results:
            name = words(record, "name")
            self.growth.say(UserMessage(id=said_id, blocks=found.said, name=name, synthetic=synthetic, time=time))

    def _answer(self, said_id: str, record: Mapping[str, Json], found: Content, time: float | None) -> None:
        thought = words(record, "reasoning_content") or _text(record.get("reasoning"))
        blocks = ([Thinking(thought)] if thought else []) + found.blocks
        refusal = words(record, "refusal")
        blocks += [Text(refusal)] if refusal else []
        blocks += calls(record)
        for i, block in enumerate(blocks):
            if isinstance(block, ToolCall):
                blocks[i] = block = self._named(block, i)
                self.names[block.id] = block.name
                self.waiting[block.id] = None
        self.growth.say(
            AssistantMessage(
                id=said_id,
                blocks=tuple(blocks),
                model=words(record, "model"),
                usage=usage(record),
                stop=words(record, "stop_reason") or words(record, "finish_reason"),
                time=time,
            )
        )
        self._results(found, time)

    def _named(self, call: ToolCall, i: int) -> ToolCall:
        """The call with an id of its own: some recorders give none, some the same one again and again."""
        if not call.id:
            return replace(call, id=f"call-{len(self.growth.log) + 1}-{i}")
        if call.id not in self.names:
            return call
        n = self.again[call.id] = self.again.get(call.id, 1) + 1
        return replace(call, id=f"{call.id}~{n}")

    def _answers(self, call_id: str) -> str:
        """Which call a result answers: the one that it names, else the oldest that has no result yet."""
        if call_id in self.again:
            call_id = f"{call_id}~{self.again[call_id]}"
        call_id = call_id or next(iter(self.waiting), "")
        self.waiting.pop(call_id, None)
        return call_id

    def _tool(self, said_id: str, record: Mapping[str, Json], found: Content, time: float | None) -> None:
        if found.results:
            self._results(found, time)
            return
        call_id = self._answers(known_id(record, "tool_call_id"))
        name = words(record, "name") or self.names.get(call_id, "")
        self.growth.say(
            ToolResult(
                id=said_id,
                call_id=call_id,
                blocks=found.said or result_blocks(record.get("content")),
                name=name,
                is_error=record.get("is_error") is True or bool(record.get("error")),
                time=time,
            )
        )

    def _results(self, found: Content, time: float | None) -> None:
        for result in found.results:
            call_id = self._answers(result.call_id)
            name = self.names.get(call_id, "")
            self.growth.say(
                ToolResult(id="", call_id=call_id, blocks=result.blocks, name=name, is_error=result.is_error, time=time)
            )


def calls(record: Mapping[str, Json]) -> list[ToolCall]:
    """OpenAI's tool calls, and the single function call of its old API."""
    made = []
    for i, call in enumerate(objects(record, "tool_calls")):
        function = inner(call, "function") or inner(call, "custom") or call
        given = function.get("arguments", function.get("input", function.get("args")))
        try:
            made.append(ToolCall(known_id(call, "id"), words(function, "name"), arguments(given)))
        except FormatError as error:
            raise FormatError(error.why, field=f"tool_calls[{i}].{error.field}") from None
    old = inner(record, "function_call")
    if old:
        made.append(ToolCall("", words(old, "name"), arguments(old.get("arguments"))))
    return made


def usage(record: Mapping[str, Json]) -> Usage | None:
    """What the provider reported beside the message, in either shape."""
    given = inner(record, "usage")
    if "cache_read_input_tokens" in given or "cache_creation_input_tokens" in given:
        return anthropic_usage(given)
    return openai_usage(given) if given else None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
