"""Foreign content to our blocks: texts, thoughts, tool results and pictures, and one table of kinds
for all, calls among them.
"""

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import (
    AnswerBlock,
    Json,
    SaidBlock,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from workbench.recordings.importers.images import image, linked
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.reading_account import Unknown
from workbench.recordings.importers.tool_calls import (
    ARGUMENT_FIELDS,
    call_id_of,
    first_present,
    tool_call,
)
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    block_texts,
    kind,
    label,
    mapping,
    text,
)

Part: TypeAlias = Record

_RESULTS = ("content", "output", "response", "result", "tools")
_RESULT_TEXTS = ("output", "result", "error", "content")
_ANSWERS = ("function_response", "functionResponse", "toolResult")
_HOLDERS_OF_WORDS = (
    "text",
    "content",
    "output",
    "thinking",
    "think",
    "msg",
    "value",
    "toolCall",
    *ARGUMENT_FIELDS,
    *_RESULTS,
    *_ANSWERS,
)
"""Fields in which a part of any kind has its words."""
_WORDS = ("text", "content", "output", "thinking", "think", "msg")
"""Those that no picture and no call has."""
_CODE_TOOL = "code_execution"
_TYPED_VALUE = frozenset({"type", "value"})
_UNTYPED = (
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "inlineData",
    "inline_data",
    "text",
    "toolUse",
    "toolResult",
    "reasoningContent",
    "executableCode",
    "executable_code",
    "codeExecutionResult",
    "code_execution_result",
)
"""Keys that say what a part without a type is: Gemini's and Bedrock's."""
_NO_CONTENT = frozenset({"text", "thought", "thoughtSignature", "thought_signature"})


def content(record: Record, name: str = "content") -> Content:
    """What a message's content field holds: null, text, one part, or a list of parts.

    Raises:
        FormatError: a part has the wrong type; the field is named.
    """
    value = record.get(name)
    parts = Content()
    if value is None:
        return parts
    if isinstance(value, str):
        parts.blocks += text_block(value)
        return parts
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        raise FormatError(f"expected text or a list of parts, found {kind(value)}", field=name)
    for index, part in enumerate(value):
        try:
            add_part(parts, part)
        except FormatError as error:
            place = f"{name}[{index}]"
            if error.field:
                place += f".{error.field}"
            raise FormatError(error.why, field=place) from None
    return parts


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
    if isinstance(value, list):
        said_blocks = [_said_block(part) for part in value]
        if any(said_blocks):
            blocks: list[SaidBlock] = []
            for part, block in zip(value, said_blocks, strict=True):
                blocks.append(block or Text(as_json(part)))
            return tuple(blocks)
    return (Text(as_json(value)),)


def _said_block(part: Json) -> SaidBlock | None:
    """What one part of a tool's result says; None where it is nothing that can be said."""
    if not isinstance(part, str | dict):
        return None
    parts = content({"content": [part]})
    if parts.unknown or len(parts.said) != 1:
        return None
    return parts.said[0]


def tool_result(part: Part) -> ToolResult:
    """A call's result in any known shape; of an object with its text in one field, the text."""
    holder = mapping(part, *_ANSWERS) or part
    value = first_present(holder, _RESULTS)
    if isinstance(value, dict) and "responseParts" in value:
        value = mapping(value, "responseParts/functionResponse/response")
    failed = part.get("is_error") is True or holder.get("status") == "error"
    if isinstance(value, dict) and set(value) >= _TYPED_VALUE:
        failed = failed or label(value, "type").startswith("error")
        value = value["value"]
    elif isinstance(value, dict):
        failed = failed or "error" in value
        value = _only_text(value)
    call_id = call_id_of(holder)
    blocks = result_blocks(value)
    name = label(holder, "name") or label(holder, "toolName") or label(holder, "tool_name")
    return ToolResult(
        id="",
        call_id=call_id,
        blocks=blocks,
        name=name,
        is_error=failed,
    )


def _only_text(value: JsonObject) -> Json:
    """The text of an object that has it in one field, else the object; None for an empty one."""
    for name in _RESULT_TEXTS:
        if isinstance(value.get(name), str):
            return value[name]
    return value or None


def _code_call(part: Part) -> ToolCall:
    """Code that Gemini runs itself while it answers."""
    code = mapping(part, "executableCode", "executable_code")
    return ToolCall("", _CODE_TOOL, dict(code))


def _code_result(part: Part) -> ToolResult:
    """What that code printed."""
    holder = mapping(part, "codeExecutionResult", "code_execution_result")
    return ToolResult(
        id="",
        call_id="",
        blocks=result_blocks(text(holder, "output")),
        name=_CODE_TOOL,
        is_error=text(holder, "outcome") not in ("", "OUTCOME_OK"),
    )


def _goose_call(part: Part) -> ToolCall:
    """A call whose name and arguments are the value of an outcome."""
    outcome = mapping(part, "toolCall")
    call = tool_call({**mapping(outcome, "value"), "id": part.get("id")})
    if call.name:
        return call
    return ToolCall(call.id, "invalid", {"error": text(outcome, "error")})


def _goose_result(part: Part) -> ToolResult:
    """A result that is the value of an outcome."""
    outcome = mapping(part, "toolResult")
    value = outcome.get("value")
    if value is None:
        value = outcome.get("error")
    failed = outcome.get("status") == "error"
    if isinstance(value, dict) and "content" in value:
        failed = failed or value.get("isError") is True
        value = value["content"]
    return tool_result({"id": part.get("id"), "content": value, "is_error": failed})


def as_json(value: Json) -> str:
    """A decoded value as JSON text."""
    return json.dumps(value, ensure_ascii=False)


def add_part(parts: Content, part: Json) -> None:
    """Add what a part or an item holds to a content."""
    if isinstance(part, str):
        parts.blocks.append(Text(part))
        return
    if not isinstance(part, dict):
        raise FormatError(f"expected a part, found {kind(part)}")
    type_ = text(part, "type") or _untyped_kind(part)
    read = KINDS.get("tool_result" if type_.endswith("tool_result") else type_)
    if read is None:
        if type_:
            parts.add_unknown(f"block of type {type_!r}", part)
        elif not part or set(part) - _NO_CONTENT:
            key = min(part, default="")
            parts.add_unknown(f"part with {key!r}", part)
        return
    block = read(part)
    if _leaves_words(part, block):
        parts.unknown.append(Unknown(f"words in a {type_}"))
    if isinstance(block, ToolResult):
        parts.results.append(block)
    else:
        parts.blocks.append(block)


def _untyped_kind(part: Part) -> str:
    """The key that says what a part without a type is; empty without one."""
    for name in _UNTYPED:
        if part.get(name) is not None:
            return name
    return ""


def _leaves_words(part: Part, block: AnswerBlock | ToolResult) -> bool:
    """Whether a part has words where its type has none."""
    if isinstance(block, ToolResult):
        if block.blocks:
            return False
        return bool(label(part, "text")) or "value" in mapping(part, *_ANSWERS)
    if isinstance(block, Text | Thinking):
        return not block.text and any(part.get(name) for name in _HOLDERS_OF_WORDS)
    if isinstance(block, ToolCall) and isinstance(part.get("content"), list):
        return True
    return any(label(part, name) for name in _WORDS)


def _text(part: Part) -> Text | Thinking:
    words = text(part, "text", "content", "value")
    is_thought = part.get("thought") is True
    return Thinking(words) if is_thought else Text(words)


def _flat_text(part: Part) -> Json:
    """A part's text, or the texts of the parts in its place."""
    if isinstance(part.get("text"), list):
        return block_texts(part, "text")
    return part.get("text")


def _thought(part: Part) -> Thinking:
    words = text(part, "thinking", "text", "reasoning", "think", "value") or label(part, "content")
    if not words:
        pieces: list[str] = []
        for name in ("summary", "content"):
            if isinstance(part.get(name), list):
                pieces.append(block_texts(part, name))
        words = "\n".join(filter(None, pieces))
    seal = text(part, "signature", "thinkingSignature", "data", "encrypted_content")
    return Thinking(words, seal)


def _media(part: Part) -> SaidBlock:
    """A picture, a document or a file: its data as a placeholder, its text, or a placeholder for
    its address.
    """
    holder = mapping(part, "inline_data", "inlineData", "source") or part
    data = text(holder, "data")
    if not data and part.get("type") == "blob":
        data = text(part, "content")
    if data:
        if holder.get("type") == "text":
            return Text(data)
        return image(text(holder, "mimeType", "mime_type", "media_type"), data)
    if isinstance(holder.get("content"), list):
        return Text(block_texts(holder, "content"))
    if "path" in part:
        return Text(f"{text(part, 'path')}\n{text(part, 'content')}")
    link = part
    if isinstance(part.get("image_url"), dict):
        link = mapping(part, "image_url")
    url = text(link, "image_url", "uri", "url", "image") or text(holder, "url")
    return linked(url)


KINDS: Mapping[str, Callable[[Part], AnswerBlock | ToolResult]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text", "reasoning_text"), _text),
    "tool_output": lambda part: _text({"text": _flat_text(part)}),
    "refusal": lambda part: Text(text(part, "refusal")),
    **dict.fromkeys(
        ("thinking", "reasoning", "redacted_thinking", "redactedThinking", "think"), _thought
    ),
    "reasoningContent": lambda part: _thought(mapping(part, "reasoningContent/reasoningText")),
    **dict.fromkeys(("executableCode", "executable_code"), _code_call),
    **dict.fromkeys(("codeExecutionResult", "code_execution_result"), _code_result),
    **dict.fromkeys(("toolRequest", "frontendToolRequest"), _goose_call),
    "toolResponse": _goose_result,
    **dict.fromkeys(
        (
            "tool_use",
            "server_tool_use",
            "mcp_tool_use",
            "toolCall",
            "tool_call",
            "functionCall",
            "function_call",
            "custom_tool_call",
            "local_shell_call",
            "web_search_call",
            "tool_search_call",
            "shell_call",
            "apply_patch_call",
            "computer_call",
            "tool-call",
            "toolUse",
        ),
        tool_call,
    ),
    **dict.fromkeys(
        (
            "tool_result",
            "tool_call_response",
            "function_call_output",
            "custom_tool_call_output",
            "local_shell_call_output",
            "tool_search_output",
            "shell_call_output",
            "apply_patch_call_output",
            "functionResponse",
            "function_response",
            "tool-result",
            "toolResult",
        ),
        tool_result,
    ),
    "computer_call_output": lambda part: tool_result({**part, "output": [part.get("output")]}),
    **dict.fromkeys(
        (
            "image",
            "image_url",
            "input_image",
            "computer_screenshot",
            "uri",
            "blob",
            "inlineData",
            "inline_data",
            "document",
            "file",
        ),
        _media,
    ),
    "input_audio": lambda part: image(
        f"audio/{text(part, 'input_audio/format')}", text(part, "input_audio/data")
    ),
}
"""The kinds of parts of Anthropic, OpenAI (both APIs), Gemini, OpenTelemetry and their kin, by
type or by key.
"""
