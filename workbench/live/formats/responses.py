"""Items of OpenAI's Responses API: what a request's `input` takes, `output` included, a flat list.

All items of one answer (reasoning, message, calls) are one message of ours, so that no stage can
part a reasoning item from what follows it: the API refuses either without the other. Where a stage
takes the thoughts out, the items of that answer are sent without their ids, since it is by id that
the API asks for the reasoning.

Source:
    The item types of the `openai` package, 2.54 (`ResponseInputItemParam`); OpenAI's guide on
    compaction: the items before the newest `compaction` may be left out, and `/responses/compact`
    returns the user messages and one item. On ids: "was provided without its required 'reasoning'
    item" in the issues of vercel/ai, cline and continue.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import groupby
from typing import ClassVar

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Image,
    Json,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
    encrypted_tokens,
)
from workbench.live.formats.parts import SAID, blocks, sealed, written
from workbench.live.formats.shape import (
    EMPTY_RESULT,
    SYSTEM_ROLES,
    Entry,
    HostFormat,
    HostMessage,
    Record,
    content_of,
    said_by_name,
    sealed_records,
    text_of,
    thoughts_of,
)
from workbench.recordings.importers.blocks import KINDS
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.values import label

_CALLS = {
    "function_call": "arguments", "custom_tool_call": "input", "local_shell_call": "action", "shell_call": "action",
    "apply_patch_call": "operation", "computer_call": "action", "tool_search_call": "arguments",
}  # fmt: skip
"""Calls that the host answers, and where their arguments are."""
_OUTPUTS = frozenset(f"{name}_output" for name in _CALLS) | {"tool_search_output"}
_NATIVE = frozenset({"compaction", "compaction_summary", "context_compaction"})
UNREADABLE_COMPACTION = "(a compaction that could not be read was left out here)"
"""In the place of a compaction that its provider cannot decrypt any more."""
_BESIDE = frozenset(
    {"mcp_approval_response", "item_reference", "compaction_trigger", "additional_tools"}
)
"""Items of the host that say nothing that could be shortened."""
_ANSWERED = SAID | {"refusal"}
_PARTS = frozenset({"input_text", "output_text", "input_image", "input_file"})
"""Kinds of parts that only items have."""
WORDS = {"type": "input_text"}
"""A part with words, but for the words."""
BLANK = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
    "rkJggg=="
)
"""A picture of one pixel, where the API takes nothing but a screenshot."""


class Responses(HostFormat):
    """Items of a Responses request."""

    name: ClassVar[str] = "responses"

    def shows(self, record: Record) -> bool:
        """Whether it has a type that only items have, or the parts of one."""
        type_name = label(record, "type")
        content = record.get("content")
        is_other_item = type_name and "role" not in record and "content" not in record
        if type_name == "message" or is_other_item:
            return True
        if not isinstance(content, list):
            return False
        return any(isinstance(part, Mapping) and part.get("type") in _PARTS for part in content)

    def problem(self, record: Record) -> tuple[str, str]:
        """Whether it has neither a type nor a role."""
        kind_or_role = _kind(record) or record.get("role")
        if kind_or_role:
            return "", ""
        return "type", "expected an item with a type, or a role and content"

    def joins(self, record: Record) -> bool:
        """Whether a model wrote it."""
        kind = _kind(record)
        if kind == "message":
            return record.get("role") == "assistant"
        return kind not in _OUTPUTS and kind not in _NATIVE and kind not in _BESIDE

    def read(self, entry: Entry) -> list[Message]:
        """The one message of an item, or of all items of an answer."""
        record = entry.records[0]
        kind = _kind(record)
        if self.joins(record):
            answer_blocks: list[AnswerBlock] = []
            for item in entry.records:
                answer_blocks += _answered(item, entry)
            message = AssistantMessage(
                id=entry.new_id(), blocks=tuple(answer_blocks), pinned=entry.pinned
            )
            return [message]
        if kind in _OUTPUTS:
            return [_result(record, entry)]
        if entry.unreadable and seal_of(record) in entry.unreadable:
            note = Text(UNREADABLE_COMPACTION)
            return [UserMessage(id=entry.new_id(), blocks=(note,), synthetic=True)]
        if kind != "message":
            block = sealed(record)
            entry.covers = ""
            if kind in _NATIVE:
                block = sealed_compaction(record)
                entry.covers = "answers"
            entry.parts[id(block)] = record
            stays = entry.pinned or block.tokens <= entry.sealed_budget
            return [UserMessage(id=entry.new_id(), blocks=(block,), synthetic=True, pinned=stays)]
        content = record.get("content")
        if record.get("role") in SYSTEM_ROLES:
            return [SystemMessage(id=entry.new_id(), blocks=blocks(content, entry.parts))]
        summary = entry.own_summary(content)
        if summary is not None:
            return [summary]
        user_blocks = blocks(content, entry.parts)
        return [UserMessage(id=entry.new_id(), blocks=user_blocks, pinned=entry.pinned)]

    def rewritten(self, group: Sequence[Message], host_message: HostMessage) -> Iterator[Record]:
        """The items of an answer that are left, or one item with another content."""
        for message, original in zip(group, host_message.messages, strict=True):
            if message.role == "assistant" and original.role == "assistant":
                yield from _rewritten_answer(message, original, host_message)
            elif type(message) is not type(original):
                yield from self.new(message)
            elif message.role == "tool":
                yield {**host_message.record, "output": _output_of(message, host_message)}
            else:
                content = content_of(message.blocks, host_message, WORDS)
                yield {**host_message.record, "content": content}

    def new(self, message: Message) -> Iterable[Record]:
        """A message that the host never had, as items."""
        records = sealed_records(message, self.name)
        if records:
            return records
        text = said_by_name(message)
        if message.role == "tool":
            result: Record = {
                "type": "function_call_output",
                "call_id": message.call_id,
                "output": text or EMPTY_RESULT,
            }
            return (result,)
        role = message.role
        if message.role == "summary":
            role = message.said_by
        items: list[Record] = []
        if text:
            items.append({"type": "message", "role": role, "content": text})
        if message.role == "assistant":
            items += map(_new_call, message.calls)
        return tuple(items)


def seal_of(record: Record) -> str:
    """The mark by which a compaction is known that only its provider can read; empty for any other
    item.
    """
    encrypted = label(record, "encrypted_content")
    if not encrypted or _kind(record) not in _NATIVE:
        return ""
    encoded = encrypted.encode()
    return blake2b(encoded, digest_size=16).hexdigest()


def sealed_compaction(record: Record) -> Image:
    """A placeholder for a compaction that only its provider can read."""
    block = sealed(record)
    characters = len(label(record, "encrypted_content"))
    if not characters:
        return block
    return replace(block, tokens=encrypted_tokens(characters))


def _kind(record: Record) -> str:
    kind = label(record, "type")
    if not kind and "role" in record:
        return "message"
    return kind


def _result(record: Record, entry: Entry) -> ToolResult:
    """What a call came back with."""
    call_id = label(record, "call_id") or label(record, "id")
    result_blocks = _output(record, entry)
    return ToolResult(
        id=entry.new_id(),
        call_id=call_id,
        blocks=result_blocks,
        name=entry.names.get(call_id) or label(record, "name"),
        is_error=record.get("status") == "failed",
        pinned=entry.pinned,
    )


def _answered(record: Record, entry: Entry) -> tuple[AnswerBlock, ...]:
    """The blocks of one item of an answer."""
    kind = _kind(record)
    answer_blocks: tuple[AnswerBlock, ...]
    if kind == "message":
        answer_blocks = blocks(record.get("content"), {}, _ANSWERED)
    elif kind == "reasoning":
        answer_blocks = (_thought(record),)
    elif kind in _CALLS and label(record, "call_id"):
        answer_blocks = (tool_call(record),)
    else:
        answer_blocks = (sealed(record),)
    for block in answer_blocks:
        entry.parts[id(block)] = record
    return answer_blocks


def _thought(record: Record) -> Thinking:
    try:
        block = KINDS["reasoning"](record)
    except FormatError:
        block = None
    text = ""
    if isinstance(block, Thinking):
        text = block.text
    seal = label(record, "encrypted_content") or label(record, "id")
    return Thinking(text, seal)


def _output(record: Record, entry: Entry) -> tuple[Text | Image, ...]:
    """What a call came back with; the lists of the shell tool as their JSON text."""
    output = record.get("output", record.get("tools"))
    is_one_part = isinstance(output, Mapping)
    is_unknown_part = is_one_part and label(output, "type") not in SAID
    if _kind(record) == "shell_call_output" or is_unknown_part:
        return (Text(written(output)),)
    if is_one_part:
        return blocks([output], entry.parts)
    return blocks(output, entry.parts)


def _output_of(result: ToolResult, host_message: HostMessage) -> Json:
    """A changed result in the shape that its kind of item has."""
    kind = _kind(host_message.record)
    text = text_of(result.blocks) or EMPTY_RESULT
    if kind == "computer_call_output":
        return {"type": "computer_screenshot", "image_url": BLANK}
    if kind == "shell_call_output":
        host_output = host_message.record.get("output")
        outcome: Json = None
        if isinstance(host_output, list) and host_output:
            outcome = host_output[-1].get("outcome")
        outcome = outcome or {"type": "exit", "exit_code": 0}
        return [{"stdout": text, "stderr": "", "outcome": outcome}]
    if kind in ("function_call_output", "custom_tool_call_output"):
        return content_of(result.blocks, host_message, WORDS)
    return text


def _rewritten_answer(
    message: AssistantMessage, original: AssistantMessage, host_message: HostMessage
) -> Iterator[Record]:
    """The answer's items with what is left of them, if anything but thoughts is; thoughts stay
    all or none.
    """
    intact = thoughts_of(message) == thoughts_of(original)
    calls = {block.id: host_message.parts[id(block)] for block in original.calls}

    def is_text_of_item(block: AnswerBlock) -> tuple[bool, int]:
        return block.type == "text", id(host_message.parts.get(id(block)))

    items: list[Record] = []
    for (is_text, _), run in groupby(message.blocks, key=is_text_of_item):
        run_blocks = list(run)
        host_item = host_message.parts.get(id(run_blocks[0]))
        if is_text:
            items += _text_items(run_blocks, original, host_message)
            continue
        for block in run_blocks:
            if block.type == "tool_call" and host_item is None:
                items.append(_changed_call(block, calls.get(block.id)))
            elif host_item is not None and (intact or block.type != "thinking"):
                items.append(host_item)
    if all(_kind(item) == "reasoning" for item in items):
        return
    if intact:
        yield from items
    else:
        yield from map(without_id, items)


def _text_items(
    run_blocks: Sequence[AnswerBlock], original: AssistantMessage, host_message: HostMessage
) -> list[Record]:
    """The host's item that these texts came in, or one with what is left of its texts."""
    host_item = host_message.parts.get(id(run_blocks[0]))
    blocks_of_item = 0
    for block in original.blocks:
        blocks_of_item += host_message.parts.get(id(block)) is host_item
    if host_item is not None and len(run_blocks) == blocks_of_item:
        return [host_item]
    return _message(text_of(run_blocks), host_item)


def without_id(item: Record) -> Record:
    """The item without its id, where the API takes it so."""
    if _needs_id(item):
        return item
    return {key: value for key, value in item.items() if key != "id"}


def _needs_id(item: Record) -> bool:
    """Whether the API takes an item of this kind only with an id: all but messages and calls of
    functions and tools.
    """
    return _kind(item) not in (
        "message",
        "function_call",
        "custom_tool_call",
        "shell_call",
        "apply_patch_call",
    )


def _message(text: str, host_item: Record | None) -> list[Record]:
    """A message item with this text; none where it is empty."""
    if not text.strip():
        return []
    item: dict[str, Json] = {"type": "message", "role": "assistant", "content": text}
    if host_item is not None and host_item.get("phase"):
        item["phase"] = host_item["phase"]
    return [item]


def _changed_call(call: ToolCall, host_item: Record | None) -> Record:
    """The host's own item of a call with other arguments."""
    if host_item is None:
        return _new_call(call)
    field = _CALLS.get(_kind(host_item))
    if field is None:
        return _new_call(call)
    value: Json = dict(call.arguments)
    if field == "arguments" and isinstance(host_item.get(field), str):
        value = call.arguments_json()
    elif field == "input":
        value = call.arguments.get("input")
        if not isinstance(value, str):
            value = call.arguments_json()
    return {**host_item, field: value}


def _new_call(call: ToolCall) -> Record:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments_json(),
    }
