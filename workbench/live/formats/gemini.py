"""Gemini's contents: a role and parts, each part told by its one key, in camel or in snake case.

Calls may come without ids: then a result answers the first call of its name in the content before
it. A thought's signature stays on the part that it came on; where the first of several calls is
taken out, the next one carries its signature on, since the API wants one on the first call of each
step.

Source:
    The types of the `google-genai` package, 3.4 (`Content`, `Part`); Google's pages on thought
    signatures.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from workbench.engine.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Image,
    Json,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from workbench.live.formats.foreign import foreign_content
from workbench.live.formats.parts import sealed
from workbench.live.formats.shape import (
    EMPTY_RESULT,
    GAP,
    Entry,
    HostFormat,
    HostMessage,
    OutgoingMessage,
    Record,
    own_parts,
    said_by_name,
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


class Gemini(HostFormat):
    """Contents of a `generateContent` request."""

    name: ClassVar[str] = "gemini"

    def shows(self, record: Record) -> bool:
        """Whether it has parts."""
        return "parts" in record and "content" not in record

    def problem(self, record: Record) -> tuple[str, str]:
        """Whether its parts are no list, or a framework's."""
        if not isinstance(record.get("parts"), list):
            return "parts", "expected a content with a list of parts"
        return foreign_content(record)

    def read(self, entry: Entry) -> list[Message]:
        """An answer, or the results in a user's content and then what else it says."""
        (record,) = entry.records
        parts: list[Record] = []
        for part in record["parts"]:
            if isinstance(part, Mapping):
                parts.append(part)
            else:
                parts.append({"text": str(part)})
        if record.get("role") == "model":
            return [_answer(parts, entry)]
        waiting = list(entry.open_calls)
        messages: list[Message] = []
        other_parts: list[Record] = []
        for part in parts:
            if _of(part, _RESULT) is not None:
                result = _result(part, entry, waiting)
                messages.append(result)
            elif part:
                other_parts.append(part)
        if len(other_parts) == 1 and not messages:
            text = other_parts[0].get("text")
            summary = entry.own_summary(text)
            if summary is not None:
                return [summary]
        if other_parts or not messages:
            id_of_message = entry.new_id()
            blocks: list[AnswerBlock] = []
            has_words = False
            for part in other_parts:
                blocks.append(_block(part, entry))
                has_words = has_words or "text" in part
            user_message = UserMessage(
                id=id_of_message,
                blocks=tuple(blocks),  # type: ignore[arg-type]  # a user's part is no thought
                pinned=entry.pinned,
                synthetic=bool(messages) and not has_words,  # a picture that a tool made
            )
            messages.append(user_message)
        return messages

    def rewritten(self, group: Sequence[Message], host_message: HostMessage) -> Iterator[Record]:
        """The content with the parts that a stage changed or removed."""
        originals = {message.id: message for message in host_message.messages}
        parts: list[Record] = []
        for message in group:
            original = originals[message.id]
            if type(original) is not type(message):
                yield from self.new(message)
            elif message is original and id(original) in host_message.parts:
                host_part = host_message.parts[id(original)]
                parts.append(host_part)
            elif message.role == "assistant" and original.role == "assistant":
                parts += _rewritten_answer(message, original, host_message)
            elif message.role == "tool":
                host_part = host_message.parts[id(original)]
                if message is not original:
                    host_part = _rewritten_result(message, host_part, host_message)
                parts.append(host_part)
            else:
                parts += own_parts(message.blocks, host_message, {})
        if parts:
            yield {**host_message.record, "parts": parts}

    def new(self, message: Message) -> Iterable[Record]:
        """A content that the host never had."""
        text = said_by_name(message)
        if message.role == "tool":
            result = _new_result(message, text)
            return ({"role": "user", "parts": [result]},)
        parts: list[Record] = []
        if text:
            parts.append({"text": text})
        role = message.role
        if message.role == "assistant":
            parts += map(_new_call, message.calls)
        elif message.role == "summary":
            role = message.said_by
        gemini_role = "user"
        if role == "assistant":
            gemini_role = "model"
        return ({"role": gemini_role, "parts": parts},)

    def finished(
        self, outgoing: list[OutgoingMessage], path: Sequence[HostMessage]
    ) -> list[OutgoingMessage]:
        """With user and model in turns: contents that now follow each other are joined, answers are
        parted.

        Two contents of one role that the host itself put behind each other stay as they are.
        """
        result: list[OutgoingMessage] = []
        for message in outgoing:
            if not result:
                began_with_user = bool(path) and path[0].record.get("role") != "model"
                if began_with_user and message.role == "model":
                    result.append(_gap())
                result.append(message)
                continue
            previous = result[-1]
            if previous.role != message.role or _follows(previous, message):
                result.append(message)
            elif message.role == "model":
                result += [_gap(), message]
            else:
                parts = _sent_parts(previous, path)
                parts += _sent_parts(message, path)
                joined = {"role": "user", "parts": parts}
                result[-1] = OutgoingMessage(joined, at=message.at)
        return result


def _gap() -> OutgoingMessage:
    """A user's turn in the place of what was left out."""
    part = {"text": GAP}
    content = {"role": "user", "parts": [part]}
    return OutgoingMessage(content)


def _follows(previous: OutgoingMessage, message: OutgoingMessage) -> bool:
    """Whether the host itself put the one behind the other."""
    if previous.at is None or previous.made or message.made:
        return False
    return message.at == previous.at + 1


def _of(part: Record, names: tuple[str, str]) -> Json:
    """The value under either spelling of a key; None without one."""
    for name in names:
        value = part.get(name)
        if value is not None:
            return value
    return None


def _sent_parts(message: OutgoingMessage, path: Sequence[HostMessage]) -> list[Json]:
    record = message.object
    if not message.made and message.at is not None:
        record = path[message.at].record
    return list(record["parts"])


def _new_result(result: ToolResult, text: str) -> Record:
    """The part of a result that the host never had."""
    response = {"output": text}
    if result.is_error:
        response = {"error": text}
    fields: dict[str, Json] = {"name": result.name, "response": response}
    response_part = _with_id(fields, result.call_id)
    return {"functionResponse": response_part}


def _new_call(call: ToolCall) -> Record:
    """The part of a call that the host never had."""
    arguments = dict(call.arguments)
    fields: dict[str, Json] = {"name": call.name, "args": arguments}
    call_part = _with_id(fields, call.id)
    return {"functionCall": call_part}


def _answer(parts: Sequence[Record], entry: Entry) -> AssistantMessage:
    id_of_answer = entry.new_id()
    blocks: list[AnswerBlock] = []
    for index, part in enumerate(parts):
        block = _block(part, entry)
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


def _result(part: Record, entry: Entry, waiting: list[tuple[str, str]]) -> ToolResult:
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
        block = _block(inner_part, entry)
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


def _block(part: Record, entry: Entry) -> AnswerBlock:
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


def _rewritten_answer(
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


def _key_of(part: Record, names: tuple[str, str]) -> str:
    """The spelling that a part has of a key; the first without one."""
    for name in names:
        if part.get(name) is not None:
            return name
    return names[0]


def _text_field(response: Json) -> str:
    """The key of a response that has the text of a result."""
    if isinstance(response, Mapping):
        for name in _SPOKEN:
            if name in response:
                return name
    return "output"


def _rewritten_result(result: ToolResult, host_part: Record, host_message: HostMessage) -> Record:
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


def _with_id(fields: dict[str, Json], call_id: str) -> dict[str, Json]:
    if call_id.startswith(_UNNAMED):
        return fields
    return {"id": call_id, **fields}
