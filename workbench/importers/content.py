"""The content of chat messages in OpenAI's and Anthropic's shapes: text, parts and blocks to our blocks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.errors import FormatError
from workbench.importers.decoding import BadJson, decode
from workbench.importers.fields import inner, known_id, objects, words
from workbench.importers.images import image, linked
from workbench.importers.source import kind
from workbench.transcript.message import AnswerBlock, Image, Json, SaidBlock, Text, Thinking, ToolCall

TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
THOUGHTS = frozenset({"thinking", "reasoning", "redacted_thinking", "think"})


@dataclass(slots=True)
class Result:
    """What a tool came back with, inside a message that may hold other things."""

    call_id: str
    blocks: tuple[SaidBlock, ...]
    is_error: bool = False


@dataclass(slots=True)
class Content:
    """The parts of one message: what was said, the tool results in it, and the kinds that nobody knows."""

    blocks: list[AnswerBlock] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def said(self) -> tuple[SaidBlock, ...]:
        """The words and pictures alone."""
        return tuple(block for block in self.blocks if isinstance(block, Text | Image))


def content(record: Mapping[str, Json], name: str = "content") -> Content:
    """What a message's content field holds: null, text, one part, or a list of parts.

    Raises:
        FormatError: a part has the wrong type; the field is named.
    """
    value = record.get(name)
    found = Content()
    if value is None:
        return found
    if isinstance(value, str):
        if value:
            found.blocks.append(Text(value))
        return found
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        raise FormatError(f"expected text or a list of parts, found {kind(value)}", field=name)
    for i, part in enumerate(value):
        try:
            _add(found, part)
        except FormatError as error:
            place = f"{name}[{i}]" + (f".{error.field}" if error.field else "")
            raise FormatError(error.why, field=place) from None
    return found


def _add(found: Content, part: Json) -> None:
    if isinstance(part, str):
        found.blocks.append(Text(part))
        return
    if not isinstance(part, dict):
        raise FormatError(f"expected a part, found {kind(part)}")
    type_ = words(part, "type") or ("text" if "text" in part else "")
    if type_ in TEXTS:
        found.blocks.append(Text(words(part, "text")))
    elif type_ == "refusal":
        found.blocks.append(Text(words(part, "refusal")))
    elif type_ in CALLS:
        found.blocks.append(ToolCall(known_id(part, "id"), words(part, "name"), arguments(part.get("input"))))
    elif type_ in THOUGHTS:
        found.blocks.append(_thought(part))
    elif type_ == "tool_result" or type_.endswith("_tool_result"):
        found.results.append(_result(part))
    elif (picture := _picture(type_, part)) is not None:
        found.blocks.append(picture)
    else:
        found.unknown.append(f"block of type {type_!r}")


def _thought(part: Mapping[str, Json]) -> Thinking:
    text = words(part, "thinking") or words(part, "text") or words(part, "reasoning")
    return Thinking(text, words(part, "signature") or words(part, "data"))


def _result(part: Mapping[str, Json]) -> Result:
    return Result(known_id(part, "tool_use_id"), result_blocks(part.get("content")), part.get("is_error") is True)


def result_blocks(value: Json) -> tuple[SaidBlock, ...]:
    """A tool's result as blocks: text as it is, parts as parts, anything else as JSON text."""
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (Text(value),)
    if isinstance(value, list) and all(isinstance(part, str | dict) for part in value):
        found = content({"content": value})
        if not found.unknown and len(found.said) == len(value):
            return found.said
    return (Text(as_json(value)),)


def _picture(type_: str, part: Mapping[str, Json]) -> SaidBlock | None:
    if type_ in {"image_url", "input_image"}:
        url = part.get("image_url")
        return linked(words(url, "url") if isinstance(url, dict) else words(part, "image_url"))
    if type_ == "input_audio":
        return image("audio/" + words(inner(part, "input_audio"), "format"), words(inner(part, "input_audio"), "data"))
    if type_ == "image" and isinstance(part.get("data"), str):
        return image(words(part, "mimeType") or words(part, "media_type"), words(part, "data"))
    if type_ == "image" and isinstance(part.get("image"), str):
        return linked(words(part, "image"))
    if type_ not in {"image", "document"}:
        return None
    source = inner(part, "source")
    if words(source, "type") == "text":
        return Text(words(source, "data"))
    if isinstance(source.get("content"), list):
        return Text("\n".join(words(inner_part, "text") for inner_part in objects(source, "content")))
    if words(source, "type") == "base64":
        return image(words(source, "media_type"), words(source, "data"))
    return linked(words(source, "url"))


def arguments(value: Json) -> dict[str, Json]:
    """A call's arguments: an object, JSON text of one, or whatever else a model wrote, under `input`."""
    if value is None or value == "":
        return {}
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        try:
            inside = decode(value)
        except BadJson:
            return {"input": value}
        return inside if isinstance(inside, dict) else {"input": value}
    return {"input": value}


def as_json(value: Json) -> str:
    """A decoded value as JSON text."""
    return json.dumps(value, ensure_ascii=False)
