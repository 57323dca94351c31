"""The parts of Gemini's contents: each read as a block, made for a block that the host never had, or
rewritten.
"""

from collections.abc import Mapping, Sequence

from workbench.engine.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Image,
    Json,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from workbench.live.formats.parts import sealed
from workbench.live.formats.shape import (
    EMPTY_RESULT,
    Entry,
    HostMessage,
    Record,
    own_parts,
    text_of,
    thoughts_of,
)
from workbench.recordings.importers.blocks import tool_result
from workbench.recordings.importers.images import gemini_tokens, image
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.values import label

_CALL = ("functionCall", "function_call")
_RESULT = ("functionResponse", "function_response")
_DATA = ("inlineData", "inline_data")
_SIGNATURE = ("thoughtSignature", "thought_signature")
_UNNAMED = "unnamed:"
"""How the ids begin that we give to calls without one; they are never sent."""
_SPOKEN = ("output", "result", "error", "content")


def is_result(part: Record) -> bool:
    """Whether a part is the result of a call."""
    return _of(part, _RESULT) is not None


def answer_of(parts: Sequence[Record], entry: Entry) -> AssistantMessage:
    """An answer with a block for each part; a call without an id gets one."""
    id_of_answer = entry.new_id()
    blocks: list[AnswerBlock] = []
    for index, part in enumerate(parts):
        block = block_of(part, entry)
        if isinstance(block, ToolCall) and not block.id:
            # another object may have this identity once the block is gone
            del entry.parts[id(block)]
            call_id = f"{_UNNAMED}{id_of_answer}:{index}"
            block = ToolCall(call_id, block.name, block.arguments)
            entry.parts[id(block)] = part
        blocks.append(block)
    return AssistantMessage(
        id=id_of_answer,
        blocks=tuple(blocks),
        pinned=entry.pinned,
    )


def result_of(part: Record, entry: Entry, waiting: list[tuple[str, str]]) -> ToolResult:
    """A result, paired with the first call of its name where it names none by id."""
    read = tool_result(part)
    call = _call_of(read, waiting)
    id_by_name = f"{_UNNAMED}{read.name}"
    if call is not None:
        waiting.remove(call)
        id_by_name = call[0]
    call_id = read.call_id or id_by_name
    blocks = list(read.blocks)
    response = _of(part, _RESULT)
    for inner_part in response.get("parts") or ():
        if not isinstance(inner_part, Mapping):
            continue
        block = block_of(inner_part, entry)
        if isinstance(block, Text | Image):
            blocks.append(block)
    result = ToolResult(
        id=entry.new_id(),
        call_id=call_id,
        blocks=tuple(blocks),
        name=read.name or entry.names.get(call_id, ""),
        is_error=read.is_error,
        pinned=entry.pinned,
    )
    entry.parts[id(result)] = part
    return result


def _call_of(result: ToolResult, waiting: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The first call that waits for this result, by its id or, without one, by its name."""
    for call_id, name in waiting:
        is_by_name = not result.call_id and name == result.name
        if call_id == result.call_id or is_by_name:
            return call_id, name
    return None


def block_of(part: Record, entry: Entry) -> AnswerBlock:
    """The block of a part; a placeholder for what only Gemini understands."""
    block: AnswerBlock
    data = _of(part, _DATA)
    if _of(part, _CALL) is not None:
        block = tool_call(part)
    elif isinstance(part.get("text"), str):
        block = Text(part["text"])
        if part.get("thought") is True:
            block = Thinking(part["text"], _seal_of(part))
    elif isinstance(data, Mapping) and isinstance(data.get("data"), str | bytes):
        media_type = label(data, "mimeType") or label(data, "mime_type")
        block = image(media_type, data["data"], gemini_tokens)
    else:
        first_key = next(iter(part), "part")
        typed_part = {"type": first_key, **part}
        block = sealed(typed_part)
    entry.parts[id(block)] = part
    return block


def _seal_of(part: Record) -> str:
    """The signature of a part; empty without one."""
    signature = _of(part, _SIGNATURE)
    if isinstance(signature, str):
        return signature
    if signature:
        return "sealed"
    return ""


def new_result(result: ToolResult, text: str) -> Record:
    """The part of a result that the host never had."""
    response = {"output": text}
    if result.is_error:
        response = {"error": text}
    fields: dict[str, Json] = {"name": result.name, "response": response}
    response_part = _with_id(fields, result.call_id)
    return {"functionResponse": response_part}


def new_call(call: ToolCall) -> Record:
    """The part of a call that the host never had."""
    arguments = dict(call.arguments)
    fields: dict[str, Json] = {"name": call.name, "args": arguments}
    call_part = _with_id(fields, call.id)
    return {"functionCall": call_part}


def rewritten_answer(
    message: AssistantMessage, original: AssistantMessage, host_message: HostMessage
) -> list[Record]:
    """What is left of an answer's parts; thoughts stay as they were, all of them or none."""
    intact = thoughts_of(message) == thoughts_of(original)
    calls: dict[str, Record] = {}
    for call in original.calls:
        calls[call.id] = host_message.parts[id(call)]
    parts: list[Record] = []
    for block in message.blocks:
        if block.type == "tool_call":
            part = host_message.parts.get(id(block))
            if part is None:
                part = _rewritten_call(block, calls.get(block.id))
            parts.append(part)
        elif intact or block.type != "thinking":
            parts += own_parts((block,), host_message, {})
    first_call = next(iter(calls.values()), {})
    signature = _signature_of(first_call)
    for index, part in enumerate(parts):
        if _of(part, _CALL) is None:
            continue
        if not _of(part, _SIGNATURE):
            parts[index] = {**part, **signature}
        break
    return parts


def _signature_of(call: Record) -> Record:
    """The signature that a call has, under its name."""
    signature: dict[str, Json] = {}
    for name in _SIGNATURE:
        if call.get(name):
            signature[name] = call[name]
    return signature


def _rewritten_call(call: ToolCall, host_part: Record | None) -> Record:
    arguments = dict(call.arguments)
    if host_part is None:
        fields = _with_id({"name": call.name}, call.id)
        return {_CALL[0]: {**fields, "args": arguments}}
    key = _key_of(host_part, _CALL)
    host_call = host_part[key]
    return {**host_part, key: {**host_call, "args": arguments}}


def rewritten_result(result: ToolResult, host_part: Record, host_message: HostMessage) -> Record:
    """The host's part with another text under the key that had it; without pictures that were
    taken out.
    """
    key = _key_of(host_part, _RESULT)
    host_response = host_part[key].get("response")
    text_field = _text_field(host_response)
    texts: list[Text] = []
    pictures: list[Json] = []
    for block in result.blocks:
        if block.type == "text":
            texts.append(block)
        elif block.type == "image":
            pictures.append(host_message.parts[id(block)])
    fields = dict(host_part[key])
    fields.pop("parts", None)
    fields["response"] = {text_field: text_of(texts) or EMPTY_RESULT}
    if pictures:
        fields["parts"] = pictures
    return {**host_part, key: fields}


def _text_field(response: Json) -> str:
    """The key of a response that has the text of a result."""
    if isinstance(response, Mapping):
        for name in _SPOKEN:
            if name in response:
                return name
    return "output"


def _of(part: Record, names: tuple[str, str]) -> Json:
    """The value under either spelling of a key; None without one."""
    for name in names:
        value = part.get(name)
        if value is not None:
            return value
    return None


def _key_of(part: Record, names: tuple[str, str]) -> str:
    """The spelling that a part has of a key; the first without one."""
    for name in names:
        if part.get(name) is not None:
            return name
    return names[0]


def _with_id(fields: dict[str, Json], call_id: str) -> dict[str, Json]:
    if call_id.startswith(_UNNAMED):
        return fields
    return {"id": call_id, **fields}
