"""Foreign content to our blocks: texts, thoughts, tool calls, tool results and pictures, one table of kinds for all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from workbench.errors import FormatError
from workbench.importers.decoding import decode, kind
from workbench.importers.images import image, linked
from workbench.importers.values import block_texts, identifier, mapping, text
from workbench.transcript.message import AnswerBlock, Image, Json, SaidBlock, Text, Thinking, ToolCall

Part: TypeAlias = Mapping[str, Json]


@dataclass(slots=True)
class CallResult:
    """What a tool came back with, inside a message that may hold other things."""

    call_id: str
    blocks: tuple[SaidBlock, ...]
    is_error: bool = False
    name: str = ""


@dataclass(slots=True)
class Content:
    """The parts of one message: its blocks, the tool results in it, and the kinds that are unknown."""

    blocks: list[AnswerBlock] = field(default_factory=list)
    results: list[CallResult] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def said(self) -> tuple[SaidBlock, ...]:
        """The words and pictures alone."""
        return tuple(block for block in self.blocks if isinstance(block, Text | Image))

    @property
    def words(self) -> str:
        """The texts alone, joined by newlines."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))


def content(record: Mapping[str, Json], name: str = "content") -> Content:
    """What a message's content field holds: null, text, one part, or a list of parts.

    Raises:
        FormatError: a part has the wrong type; the field is named.
    """
    value = record.get(name)
    found = Content()
    if isinstance(value, str):
        found.blocks += text_block(value)
    elif value is not None and not isinstance(value, list | dict):
        raise FormatError(f"expected text or a list of parts, found {kind(value)}", field=name)
    else:
        for i, part in enumerate([value] if isinstance(value, dict) else value or ()):
            try:
                _add(found, part)
            except FormatError as error:
                place = f"{name}[{i}]" + (f".{error.field}" if error.field else "")
                raise FormatError(error.why, field=place) from None
    return found


def text_block(words: str) -> list[Text]:
    """A text as a block; none where it is empty."""
    return [Text(words)] if words else []


def thought_block(words: str, signature: str = "") -> list[Thinking]:
    """A thought as a block; none where it has neither text nor seal."""
    return [Thinking(words, signature)] if words or signature else []


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


def arguments(value: Json) -> dict[str, Json]:
    """A call's arguments: an object, JSON text of one, or whatever else a model wrote, under `input`."""
    if value is None or value == "":
        return {}
    inside = value
    if isinstance(value, str):
        try:
            inside = decode(value)
        except FormatError:
            return {"input": value}
    return inside if isinstance(inside, dict) else {"input": value}


def as_json(value: Json) -> str:
    """A decoded value as JSON text."""
    return json.dumps(value, ensure_ascii=False)


def _add(found: Content, part: Json) -> None:
    if isinstance(part, str):
        found.blocks.append(Text(part))
        return
    if not isinstance(part, dict):
        raise FormatError(f"expected a part, found {kind(part)}")
    type_ = text(part, "type") or ("text" if "text" in part else "")
    if type_.endswith("tool_result"):
        blocks = result_blocks(part.get("content"))
        found.results.append(CallResult(identifier(part, "tool_use_id"), blocks, part.get("is_error") is True))
        return
    if type_ in KINDS:
        found.blocks.append(KINDS[type_](part))
    else:
        found.unknown.append(f"block of type {type_!r}")


def _text(part: Part) -> Text:
    return Text(text(part, "text"))


def _thought(part: Part) -> Thinking:
    return Thinking(text(part, "thinking", "text", "reasoning"), text(part, "signature", "data"))


def _call(part: Part) -> ToolCall:
    return ToolCall(identifier(part, "id"), text(part, "name"), arguments(part.get("input")))


def _picture_url(part: Part) -> Image:
    url = part.get("image_url")
    return linked(text(url, "url") if isinstance(url, dict) else text(part, "image_url"))


def _audio(part: Part) -> Image:
    audio = mapping(part, "input_audio")
    return image("audio/" + text(audio, "format"), text(audio, "data"))


def _image(part: Part) -> SaidBlock:
    if isinstance(part.get("data"), str):
        return image(text(part, "mimeType", "media_type"), text(part, "data"))
    return linked(text(part, "image")) if isinstance(part.get("image"), str) else _document(part)


def _document(part: Part) -> SaidBlock:
    source = mapping(part, "source")
    type_ = text(source, "type")
    if type_ == "text":
        return Text(text(source, "data"))
    if isinstance(source.get("content"), list):
        return Text(block_texts(source, "content"))
    if type_ == "base64":
        return image(text(source, "media_type"), text(source, "data"))
    return linked(text(source, "url"))


KINDS: Mapping[str, Callable[[Part], AnswerBlock]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text", "reasoning_text"), _text),
    "refusal": lambda part: Text(text(part, "refusal")),
    **dict.fromkeys(("thinking", "reasoning", "redacted_thinking", "think"), _thought),
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use"), _call),
    **dict.fromkeys(("image_url", "input_image"), _picture_url),
    "input_audio": _audio,
    "image": _image,
    "document": _document,
}
"""The kinds of parts in OpenAI's and Anthropic's shapes. A kind that ends in `tool_result` is a result."""


def gemini_content(parts: Sequence[Part]) -> Content:
    """Gemini's parts, as Gemini CLI, ADK and the API write them: `function_call` or `functionCall`."""
    found = Content()
    for part in parts:
        call = mapping(part, "function_call", "functionCall")
        response = mapping(part, "function_response", "functionResponse")
        data = mapping(part, "inline_data", "inlineData")
        if call:
            call_id = identifier(call, "id") or identifier(part, "id")
            found.blocks.append(ToolCall(call_id, text(call, "name"), arguments(call.get("args"))))
        elif response:
            blocks, failed = _gemini_response(response.get("response"))
            found.results.append(CallResult(identifier(response, "id"), blocks, failed, text(response, "name")))
        elif data:
            found.blocks.append(image(text(data, "mime_type", "mimeType"), text(data, "data")))
        elif part.get("text") is not None:
            said = text(part, "text")
            found.blocks.append(Thinking(said) if part.get("thought") is True else Text(said))
        elif set(part) - {"thought", "thoughtSignature", "thought_signature"}:
            found.unknown.append(f"part with {min(part, default='')!r}")
    return found


def _gemini_response(response: Json) -> tuple[tuple[SaidBlock, ...], bool]:
    """A function's response as blocks, and whether it is an error."""
    if not isinstance(response, dict):
        return result_blocks(response), False
    for key in ("output", "result", "error"):
        if isinstance(response.get(key), str):
            return result_blocks(response[key]), "error" in response
    return (Text(as_json(response)),) if response else (), "error" in response
