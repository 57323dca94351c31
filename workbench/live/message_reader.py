"""Reads a host's messages in OpenAI's chat or Anthropic's format, and remembers where in them each block came from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from workbench.errors import FormatError
from workbench.importers.blocks import KINDS, thought_block, tool_call
from workbench.importers.images import UNKNOWN_TOKENS
from workbench.importers.values import label
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Image,
    Json,
    Message,
    Summary,
    SystemMessage,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
)

MessageFormat: TypeAlias = Literal["openai", "anthropic"]

SYSTEM_ROLES = frozenset({"system", "developer"})
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_SAID = frozenset({"text", "input_text", "output_text", "image", "image_url", "input_image", "input_audio", "document"})
_ANSWERED = _SAID | {"thinking", "redacted_thinking", "tool_use"}
_FILES = frozenset({"file", "video_url"})
_ANTHROPIC = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"})
"""Kinds of parts that only Anthropic's format has."""


@dataclass(frozen=True, slots=True)
class HostMessage:
    """One message of the host.

    Attributes:
        object: the host's own, to be sent back as it is where nothing in it was changed.
        record: our own copy of it.
        messages: what it says; several where it holds several tool results.
        sizes: their tokens.
        parts: the part of the record that each block or tool result was read from, by the identity of the latter.
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
        count: tokens of a message.
        pins: says of a host's message whether it must stay.
        format: found from the messages where it is None.
        written: our own summaries by their text, in case the host hands one back.
    """

    count: Callable[[Message], int]
    pins: Callable[[Mapping[str, Json]], bool] | None = None
    format: MessageFormat | None = None
    written: dict[str, Summary] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _number: int = 0

    def read(self, given: Json, at: int) -> HostMessage:
        """One message; `at` is its index in the host's list, for errors.

        Raises:
            FormatError: it is no chat message; the index is named.
        """
        record = _plain(given)
        if not isinstance(record, Mapping):
            why = f"expected a message with a role and content, found {type(given).__name__}"
            raise FormatError(why, where=f"messages[{at}]")
        record = deepcopy(dict(record))
        if isinstance(record.get("content"), list):
            record["content"] = [_plain(part) for part in record["content"]]
        if record.get("role") not in _ROLES:
            why = f"no role is named {record.get('role')!r}; known are {', '.join(_ROLES)}"
            raise FormatError(why, where=f"messages[{at}]", field="role")
        self.format = self.format or _format(record)
        parts: dict[int, Json] = {}
        messages = tuple(self._messages(record, parts, self.pins is not None and self.pins(record)))
        return HostMessage(given, record, messages, tuple(map(self.count, messages)), parts)

    def _messages(self, record: Mapping[str, Json], parts: dict[int, Json], pinned: bool) -> list[Message]:
        content, name = record.get("content"), label(record, "name")
        if record["role"] == "assistant":
            return [self._answer(record, parts, pinned)]
        if record["role"] in ("tool", "function"):
            call_id = label(record, "tool_call_id") or f"function:{name}"
            return [self._result(call_id, content, parts, pinned, name)]
        if record["role"] in SYSTEM_ROLES:
            return [SystemMessage(id=self._id(), blocks=_blocks(content, parts), name=name)]
        if isinstance(content, str) and content in self.written:
            return [replace(self.written[content], id=self._id())]
        messages: list[Message] = []
        rest = content
        if isinstance(content, list):
            rest = [part for part in content if _type(part) != "tool_result"]
            for part in content:
                if _type(part) == "tool_result":
                    result = self._result(label(part, "tool_use_id"), part.get("content"), parts, pinned)
                    messages.append(replace(result, is_error=part.get("is_error") is True))
                    parts[id(messages[-1])] = part
        if rest or not messages:
            blocks = _blocks(rest, parts)
            messages.append(UserMessage(id=self._id(), blocks=blocks, name=name, pinned=pinned))
        return messages

    def _result(self, call_id: str, content: Json, parts: dict[int, Json], pinned: bool, name: str = "") -> ToolResult:
        name = self._names.get(call_id) or name
        return ToolResult(id=self._id(), call_id=call_id, blocks=_blocks(content, parts), name=name, pinned=pinned)

    def _answer(self, record: Mapping[str, Json], parts: dict[int, Json], pinned: bool) -> AssistantMessage:
        thought = label(record, "reasoning_content") or label(record, "reasoning")
        blocks: list[AnswerBlock] = [*thought_block(thought), *_blocks(record.get("content"), parts, _ANSWERED)]
        entries = [*(record.get("tool_calls") or ()), {"function": record.get("function_call")}]
        for entry in entries if record.get("function_call") else entries[:-1]:
            call = tool_call(entry)
            blocks.append(call if call.id else replace(call, id=f"function:{call.name}"))
            parts[id(blocks[-1])] = entry
        self._names.update({block.id: block.name for block in blocks if isinstance(block, ToolCall)})
        name = label(record, "name")
        return AssistantMessage(id=self._id(), blocks=tuple(blocks), name=name, pinned=pinned)

    def _id(self) -> str:
        self._number += 1
        return f"m{self._number}"


def _plain(value: Json) -> Json:
    """The value of a client library's object; anything else as it is."""
    dump = getattr(value, "model_dump", None)
    return dump(exclude_none=True) if callable(dump) else value


def _format(record: Mapping[str, Json]) -> MessageFormat | None:
    """The format that a message shows by what only this format has."""
    content = record.get("content")
    for part in content if isinstance(content, list) else ():
        if _type(part) in _ANTHROPIC or (isinstance(part, Mapping) and "cache_control" in part):
            return "anthropic"
        if _type(part) == "image_url":
            return "openai"
    openai = record["role"] in ("tool", "function") or record.get("tool_calls") or record.get("function_call")
    return "openai" if openai else None


def _blocks(content: Json, parts: dict[int, Json], kinds: frozenset[str] = _SAID) -> tuple[Any, ...]:
    """The blocks of a content, of these kinds; the part of each is put into `parts`."""
    blocks = []
    for part in content if isinstance(content, list) else [content]:
        if part is not None and part != "":
            blocks.append(_block(part, kinds))
            parts[id(blocks[-1])] = part
    return tuple(blocks)


def _block(part: Json, kinds: frozenset[str]) -> AnswerBlock:
    """A block, or a placeholder for what cannot be shortened: a file, or a part that only its provider understands."""
    if isinstance(part, str):
        return Text(part)
    if _type(part) in kinds:
        try:
            block = KINDS[_type(part)](part)
        except FormatError:
            block = None
        if block is not None and not isinstance(block, ToolResult):
            return block
    written = json.dumps(part, ensure_ascii=False, default=str)
    if not isinstance(part, Mapping):
        return Text(written)
    return Image(
        _type(part) or "block", len(written), UNKNOWN_TOKENS if _type(part) in _FILES else -(-len(written) // 4)
    )


def _type(part: Json) -> str:
    return label(part, "type") if isinstance(part, Mapping) else ""
