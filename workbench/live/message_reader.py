"""Reads a host's messages in OpenAI's chat or Anthropic's format; what is kept whole is sent back as it came."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from workbench.errors import FormatError
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Image,
    Json,
    Message,
    SaidBlock,
    Summary,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)

MessageFormat: TypeAlias = Literal["openai", "anthropic"]

RULES = frozenset({"system", "developer"})
RESULTS = frozenset({"tool", "function"})
PICTURE_TOKENS = 1_200
_PICTURES = frozenset({"image", "image_url", "input_image", "document", "file", "input_audio", "video_url"})
_TEXTS = frozenset({"text", "input_text", "output_text"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class HostMessage:
    """One message of the host.

    Attributes:
        object: the host's own, to be sent back as it is where nothing in it was changed.
        record: our own copy of it.
        messages: what it says; several where it holds several tool results.
        sizes: their tokens.
        parts: where in the record each block came from, by the block's identity.
    """

    object: Json
    record: Mapping[str, Json]
    messages: tuple[Message, ...]
    sizes: tuple[int, ...]
    parts: Mapping[int, Json]


@dataclass(slots=True)
class MessageReader:
    """Reads a host's messages one after another.

    Attributes:
        shape: the format, as soon as a message shows it.
        pins: says of a host's message whether it must stay.
        written: our own summaries by their text, should the host hand one back.
    """

    count: Callable[[Message], int]
    pins: Callable[[Mapping[str, Json]], bool] | None = None
    format: MessageFormat | None = None
    names: dict[str, str] = field(default_factory=dict)
    written: dict[str, Summary] = field(default_factory=dict)
    number: int = 0

    def read(self, given: Json, at: int) -> HostMessage:
        """One message; `at` is its index in the host's list, for errors.

        Raises:
            FormatError: it is no chat message; the index is named.
        """
        record = _record(given, at)
        parts: dict[int, Json] = {}
        messages = tuple(self._messages(record, parts, at))
        return HostMessage(given, record, messages, tuple(self.count(message) for message in messages), parts)

    def _messages(self, record: Mapping[str, Json], parts: dict[int, Json], at: int) -> list[Message]:
        role = record.get("role")
        pinned = self.pins is not None and self.pins(record)
        if role in RULES:
            blocks = _blocks(record.get("content"), parts)
            return [SystemMessage(id=self._id(), blocks=blocks, name=_word(record, "name"))]
        if role == "assistant":
            return [self._answer(record, parts, pinned)]
        if role in RESULTS:
            return [self._openai_result(record, parts, pinned)]
        if role == "user":
            return self._user(record, parts, pinned)
        known = "system, developer, user, assistant, tool, function"
        raise FormatError(f"no role is named {role!r}; known are {known}", where=f"messages[{at}]", field="role")

    def _id(self) -> str:
        self.number += 1
        return f"m{self.number}"

    def _user(self, record: Mapping[str, Json], parts: dict[int, Json], pinned: bool) -> list[Message]:
        content = record.get("content")
        results = [part for part in _list(content) if _type(part) == "tool_result"]
        messages: list[Message] = [self._anthropic_result(part, parts, pinned) for part in results]
        rest = [part for part in _list(content) if _type(part) != "tool_result"] if results else content
        if results and not rest:
            return messages
        if isinstance(content, str) and content in self.written:
            summary = self.written[content]
            return [_again(summary, self._id())]
        self._sees(content)
        blocks = _blocks(rest, parts)
        return [*messages, UserMessage(id=self._id(), blocks=blocks, name=_word(record, "name"), pinned=pinned)]

    def _anthropic_result(self, part: Mapping[str, Json], parts: dict[int, Json], pinned: bool) -> ToolResult:
        self.format = self.format or "anthropic"
        call_id = _word(part, "tool_use_id")
        result = ToolResult(
            id=self._id(), call_id=call_id, blocks=_blocks(part.get("content"), parts), pinned=pinned,
            name=self.names.get(call_id, ""), is_error=part.get("is_error") is True,
        )  # fmt: skip
        parts[id(result)] = part
        return result

    def _openai_result(self, record: Mapping[str, Json], parts: dict[int, Json], pinned: bool) -> ToolResult:
        self.format = self.format or "openai"
        call_id = _word(record, "tool_call_id") or f"function:{_word(record, 'name')}"
        name = self.names.get(call_id) or _word(record, "name")
        blocks = _blocks(record.get("content"), parts)
        return ToolResult(id=self._id(), call_id=call_id, blocks=blocks, name=name, pinned=pinned)

    def _answer(self, record: Mapping[str, Json], parts: dict[int, Json], pinned: bool) -> AssistantMessage:
        blocks: list[AnswerBlock] = []
        thought = _word(record, "reasoning_content") or _word(record, "reasoning")
        if thought:
            blocks.append(Thinking(thought))
            parts[id(blocks[0])] = thought
        content = record.get("content")
        self._sees(content)
        for part in [content] if isinstance(content, str) and content else _list(content):
            block = self._answered(part)
            parts[id(block)] = part
            blocks.append(block)
        for entry in _calls(record):
            self.format = self.format or "openai"
            call = _openai_call(entry)
            parts[id(call)] = entry
            blocks.append(call)
        self.names.update({block.id: block.name for block in blocks if isinstance(block, ToolCall)})
        return AssistantMessage(id=self._id(), blocks=tuple(blocks), name=_word(record, "name"), pinned=pinned)

    def _answered(self, part: Json) -> AnswerBlock:
        if isinstance(part, Mapping) and _type(part) == "tool_use":
            return ToolCall(_word(part, "id"), _word(part, "name"), _arguments(part.get("input")))
        if isinstance(part, Mapping) and _type(part) in _THOUGHTS:
            return Thinking(_word(part, "thinking"), _word(part, "signature") or _word(part, "data"))
        return _block(part)

    def _sees(self, content: Json) -> None:
        """Take note of what only one of the formats has."""
        for part in _list(content) if self.format is None else ():
            if _type(part) in {"tool_use", "document", "image", *_THOUGHTS} or "cache_control" in part:
                self.format = "anthropic"
            elif _type(part) == "image_url":
                self.format = "openai"


def _record(given: Json, at: int) -> dict[str, Json]:
    dump = getattr(given, "model_dump", None)
    record = dump(exclude_none=True) if callable(dump) else given
    if not isinstance(record, Mapping):
        what = type(given).__name__
        raise FormatError(f"expected a message with a role and content, found {what}", where=f"messages[{at}]")
    return deepcopy(dict(record))


def _again(summary: Summary, id: str) -> Summary:
    return Summary(
        id=id, text=summary.text, replaces=summary.replaces, files=summary.files, lead=summary.lead,
        tail=summary.tail, said_by=summary.said_by, name=summary.name, model=summary.model,
    )  # fmt: skip


def _blocks(content: Json, parts: dict[int, Json]) -> tuple[SaidBlock, ...]:
    if content is None or content == "":
        return ()
    blocks = []
    for part in content if isinstance(content, list) else [content]:
        block = _block(part)
        parts[id(block)] = part
        blocks.append(block)
    return tuple(blocks)


def _block(part: Json) -> SaidBlock:
    """Text, or a placeholder for a block that cannot be shortened: a picture, or a provider's own block."""
    if isinstance(part, str):
        return Text(part)
    if not isinstance(part, Mapping):
        return Text(json.dumps(part, ensure_ascii=False, default=str))
    if _type(part) in _TEXTS and isinstance(part.get("text"), str):
        return Text(part["text"])
    length = len(json.dumps(part, ensure_ascii=False, default=str))
    if _type(part) in _PICTURES:
        return Image(_type(part), length, PICTURE_TOKENS)
    return Image(_type(part) or "block", length, -(-length // 4))


def _calls(record: Mapping[str, Json]) -> Sequence[Mapping[str, Json]]:
    old = record.get("function_call")
    made = [entry for entry in _list(record.get("tool_calls")) if isinstance(entry, Mapping)]
    return [*made, {"function": old}] if isinstance(old, Mapping) else made


def _openai_call(entry: Mapping[str, Json]) -> ToolCall:
    function = entry.get("function") or entry.get("custom") or {}
    name = _word(function, "name")
    given = function.get("arguments", function.get("input"))
    return ToolCall(_word(entry, "id") or f"function:{name}", name, _arguments(given))


def _arguments(value: Json) -> Mapping[str, Json]:
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, str) or not value:
        return {}
    try:
        inside = json.loads(value)
    except (ValueError, RecursionError):
        return {"input": value}
    return inside if isinstance(inside, dict) else {"input": value}


def _list(content: Json) -> list[Json]:
    return content if isinstance(content, list) else []


def _type(part: Json) -> str:
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _word(record: Mapping[str, Json], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""
