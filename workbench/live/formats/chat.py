"""Messages with a role and a content: OpenAI's chat completions and Anthropic's messages."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from workbench.engine.transcript.message import (
    WANTED_BACK,
    AnswerBlock,
    AssistantMessage,
    Json,
    Message,
    Summary,
    SystemMessage,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from workbench.live.formats.foreign import foreign_part
from workbench.live.formats.parts import SAID, blocks, type_of
from workbench.live.formats.shape import (
    SYSTEM_ROLES,
    Entry,
    HostFormat,
    HostMessage,
    OutgoingMessage,
    Record,
    content_of,
    own_parts,
    said_by_name,
    sealed_records,
    text_of,
    thoughts_of,
)
from workbench.live.formats.turns import compacts, merged_results, with_turns
from workbench.recordings.importers.blocks import thought_block, tool_call
from workbench.recordings.importers.values import label

_ANTHROPIC = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "compaction"}
)
"""Kinds of parts that only Anthropic has."""
_BY_CLIENT = re.compile(r"\s*<(system-reminder|environment_details)>.*</\1>\s*", re.DOTALL)
"""What Claude Code and Cline write in the user's name."""
WORDS = {"type": "text"}
"""A part with words, but for the words."""
THOUGHT_LEFT_OUT = "(this thought was left out)"
"""In the place of a thought that an API wants back with the calls that followed it."""
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_ANSWERED = SAID | {"thinking", "redacted_thinking", "tool_use"}
_THOUGHT_KEYS = frozenset(
    {"reasoning_content", "reasoning", "thinking_blocks", "reasoning_details"}
)


class Chat(HostFormat):
    """Reads both APIs' messages alike, so that a gateway may mix them; each API writes its own
    new ones.
    """

    def problem(self, record: Record) -> tuple[str, str]:
        """Whether the role is unknown, or a part is of an API that is none of ours."""
        if record.get("role") not in _ROLES:
            return "role", f"no role is named {record.get('role')!r}; known are {', '.join(_ROLES)}"
        return foreign_part(record)

    def read(self, entry: Entry) -> list[Message]:
        """The messages of one of the host's: several where it holds Anthropic's tool results."""
        (record,) = entry.records
        content = record.get("content")
        name = label(record, "name")
        if record["role"] == "assistant":
            return _answers(record, entry)
        if record["role"] in ("tool", "function"):
            if not name:
                name = label(record, "tool_name")
            call_id = label(record, "tool_call_id")
            if not call_id:
                call_id = entry.waiting_call(name)
            if not call_id:
                call_id = _own_id(name, 1)
            return [_result(call_id, content, entry, name)]
        if record["role"] in SYSTEM_ROLES:
            system_blocks = blocks(content, entry.parts)
            system = SystemMessage(id=entry.new_id(), blocks=system_blocks, name=name)
            return [system]
        summary = entry.own_summary(content)
        if summary is not None:
            return [summary]
        messages: list[Message] = []
        other_content = content
        if isinstance(content, list):
            other_content = [part for part in content if type_of(part) != "tool_result"]
            for part in content:
                if type_of(part) == "tool_result":
                    call_id = label(part, "tool_use_id")
                    result = _result(call_id, part.get("content"), entry)
                    result = replace(result, is_error=part.get("is_error") is True)
                    messages.append(result)
                    entry.parts[id(result)] = part
        if other_content or not messages:
            user_blocks = blocks(other_content, entry.parts)
            user_message = UserMessage(
                id=entry.new_id(),
                blocks=user_blocks,
                name=name,
                pinned=entry.pinned,
                synthetic=_is_by_client(user_blocks),
            )
            messages.append(user_message)
        return messages

    def rewritten(self, group: Sequence[Message], host_message: HostMessage) -> Iterator[Record]:
        """The host's message with what a stage changed or removed; one that is of another kind
        now is written anew.
        """
        originals = {message.id: message for message in host_message.messages}
        parts: list[Json] = []
        for message in group:
            original = originals[message.id]
            is_of_another_kind = type(original) is not type(message)
            is_another_summary = message.role == "summary" and message is not original
            if is_of_another_kind or is_another_summary:
                yield from self.new(message)
            elif message.role == "summary":
                parts.append(host_message.parts[id(original)])
            elif id(original) in host_message.parts:
                host_part = host_message.parts[id(original)]
                content = content_of(message.blocks, host_message, WORDS)
                parts.append({**host_part, "content": content})
            elif message.role == "assistant" and original.role == "assistant":
                for record in _rewritten_answer(message, original, host_message):
                    if parts:
                        content = [*parts, *record["content"]]
                        record = {**record, "content": content}
                    yield record
                    parts = []
            elif len(host_message.messages) == 1:
                content = content_of(message.blocks, host_message, WORDS)
                yield {**host_message.record, "content": content}
            else:
                parts += own_parts(message.blocks, host_message, WORDS)
        if parts:
            yield {**host_message.record, "content": parts}

    def finished(
        self, outgoing: list[OutgoingMessage], path: Sequence[HostMessage]
    ) -> list[OutgoingMessage]:
        """With a user's turn where one is required, and the results of one turn in one message."""
        turns = with_turns(outgoing, opens=_first_role(path) == "user")
        return merged_results(turns)


class OpenAIChat(Chat):
    """Calls beside the content, each result a message of its own."""

    name: ClassVar[str] = "openai"

    def shows(self, record: Record) -> bool:
        """Whether it has a call or a result, or a picture's address."""
        if record.get("role") in ("tool", "function"):
            return True
        if record.get("tool_calls") or record.get("function_call"):
            return True
        content = record.get("content")
        if not isinstance(content, list):
            return False
        return any(type_of(part) == "image_url" for part in content)

    def new(self, message: Message) -> tuple[Record]:
        """The message as OpenAI writes it."""
        text = text_of(message.blocks)
        record: dict[str, Json] = {"role": message.role}
        if message.role == "tool":
            record["tool_call_id"] = message.call_id
        elif message.role == "summary":
            record["role"] = message.said_by
            if message.name:
                record["name"] = message.name
        record["content"] = text
        if message.role == "assistant" and message.calls:
            record["content"] = text or None
            record["tool_calls"] = list(map(_new_call, message.calls))
        return (record,)


def _new_call(call: ToolCall) -> Record:
    return {"id": call.id, "type": "function", "function": function_of(call)}


class Anthropic(Chat):
    """Calls, thoughts and results as parts of the content; the system prompt stands beside the
    messages.
    """

    name: ClassVar[str] = "anthropic"

    def shows(self, record: Record) -> bool:
        """Whether a part of its content is of a kind of Anthropic's, or marked for its cache."""
        content = record.get("content")
        return isinstance(content, list) and any(map(_is_of_anthropic, content))

    def new(self, message: Message) -> Sequence[Record]:
        """The message as Anthropic writes it."""
        sealed = sealed_records(message, self.name)
        if sealed:
            return sealed
        text = said_by_name(message)
        if message.role == "tool":
            return ({"role": "user", "content": [_new_result(message, text)]},)
        if message.role == "assistant" and message.calls:
            return ({"role": "assistant", "content": _new_parts(message, text)},)
        role: str = message.role
        if message.role == "summary":
            role = message.said_by
        elif message.role == "system":
            role = "user"
        return ({"role": role, "content": text},)


def _new_result(result: ToolResult, text: str) -> Record:
    """A tool's result as a part of Anthropic's."""
    part: dict[str, Json] = {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": text,
    }
    if result.is_error:
        part["is_error"] = True
    return part


def _new_parts(answer: AssistantMessage, text: str) -> list[Record]:
    """The text and the calls of an answer as parts of Anthropic's."""
    parts: list[Record] = []
    if text:
        parts.append({"type": "text", "text": text})
    for call in answer.calls:
        part = {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": dict(call.arguments),
        }
        parts.append(part)
    return parts


def _is_of_anthropic(part: Json) -> bool:
    """Whether a part is of a kind of Anthropic's, or marked for its cache."""
    if type_of(part) in _ANTHROPIC:
        return True
    return isinstance(part, Mapping) and "cache_control" in part


def _first_role(path: Sequence[HostMessage]) -> str:
    """Who says the first message that is no system prompt; empty where there is none."""
    for host_message in path:
        role: str = host_message.record["role"]
        if role not in SYSTEM_ROLES:
            return role
    return ""


def function_of(call: ToolCall) -> dict[str, Json]:
    """The name and the arguments of a call, as OpenAI writes them."""
    return {"name": call.name, "arguments": call.arguments_json()}


def _result(call_id: str, content: Json, entry: Entry, name: str = "") -> ToolResult:
    name = entry.names.get(call_id) or name
    result_blocks = blocks(content, entry.parts)
    return ToolResult(
        id=entry.new_id(),
        call_id=call_id,
        blocks=result_blocks,
        name=name,
        pinned=entry.pinned,
    )


def _is_by_client(user_blocks: Sequence[AnswerBlock]) -> bool:
    """Whether all of it is what a client writes in the user's name."""
    for block in user_blocks:
        if block.type != "text" or not _BY_CLIENT.fullmatch(block.text):
            return False
    return bool(user_blocks)


def _answers(record: Record, entry: Entry) -> list[Message]:
    """An answer, and before it the newest compaction by the provider that it holds: it stands for
    all that came before.

    Anthropic drops everything before such a block, and takes one without content as nothing said.
    """
    content = record.get("content")
    parts = content if isinstance(content, list) else []
    compaction_indices = [i for i, part in enumerate(parts) if compacts(part)]
    if not compaction_indices:
        return [_answer(record, entry)]
    newest_index = compaction_indices[-1]
    part = parts[newest_index]
    later_parts = parts[newest_index + 1 :]
    summary = Summary(id=entry.new_id(), text=part["content"], said_by="assistant")
    entry.parts[id(summary)] = part
    entry.covers = "all"
    if not later_parts:
        return [summary]
    return [summary, _answer({**record, "content": later_parts}, entry)]


def _answer(record: Record, entry: Entry) -> AssistantMessage:
    thought = label(record, "reasoning_content")
    answer_blocks: list[AnswerBlock] = []
    if thought:
        answer_blocks.append(Thinking(thought, WANTED_BACK))
    else:
        answer_blocks += thought_block(label(record, "reasoning"))
    answer_blocks += blocks(record.get("content"), entry.parts, _ANSWERED)
    calls = [*(record.get("tool_calls") or ())]
    if record.get("function_call"):
        calls.append({"function": record["function_call"]})
    unnamed = Counter[str]()
    for call_record in calls:
        call = tool_call(call_record)
        if not call.id:
            unnamed[call.name] += 1
            own_id = _own_id(call.name, unnamed[call.name])
            call = replace(call, id=own_id)
        answer_blocks.append(call)
        entry.parts[id(call)] = call_record
    name = label(record, "name")
    return AssistantMessage(
        id=entry.new_id(),
        blocks=tuple(answer_blocks),
        name=name,
        pinned=entry.pinned,
    )


def _rewritten_answer(
    message: AssistantMessage, original: AssistantMessage, host_message: HostMessage
) -> Iterator[Record]:
    """The host's answer with what is left of it, if anything; thoughts stay only as they were,
    all of them or none.
    """
    intact = thoughts_of(message) == thoughts_of(original)
    parts: list[Json] = []
    calls: list[Json] = []
    for block in message.blocks:
        if block.type == "tool_call":
            call = _rewritten_call(block, original, host_message)
            if call.get("type") == "tool_use":
                parts.append(call)
            else:
                calls.append(call)
        elif intact or block.type != "thinking":
            parts += own_parts((block,), host_message, WORDS)
    dropped = {"tool_calls", "function_call"}
    if not intact:
        dropped |= _THOUGHT_KEYS
    record: dict[str, Json] = {}
    for key, value in host_message.record.items():
        if key not in dropped:
            record[key] = value
    had_thought = bool(host_message.record.get("reasoning_content"))
    if had_thought and message.calls and not intact:
        record["reasoning_content"] = _thought_of(message)
    had_parts = isinstance(record.get("content"), list)
    record["content"] = parts
    has_only_texts = all(part.get("type") == "text" for part in parts)
    if has_only_texts and not had_parts:
        text = "\n".join(part["text"] for part in parts)
        record["content"] = text or None
    if calls and host_message.record.get("function_call"):
        record["function_call"] = calls[0]["function"]
    elif calls:
        record["tool_calls"] = calls
    if parts or calls:
        yield record


def _thought_of(message: AssistantMessage) -> str:
    """What is left of the thought that an API wants back with the calls."""
    for block in message.blocks:
        if block.type == "thinking" and block.signature == WANTED_BACK and block.text:
            return block.text
    return THOUGHT_LEFT_OUT


def _own_id(name: str, number: int) -> str:
    """Our id for a call that has none: the first of its name in an answer, the second, ..."""
    return f"function:{name}" if number == 1 else f"function:{name}:{number}"


def _rewritten_call(call: ToolCall, original: AssistantMessage, host_message: HostMessage) -> Json:
    """The host's own entry for a call, with the arguments replaced where a stage changed them."""
    if id(call) in host_message.parts:
        return host_message.parts[id(call)]
    host_part: Json = {}
    for original_call in original.calls:
        if original_call.id == call.id:
            host_part = host_message.parts[id(original_call)]
            break
    if host_part.get("type") == "tool_use":
        return {**host_part, "input": dict(call.arguments)}
    host_function = host_part.get("function", {})
    function = function_of(call)
    if isinstance(host_function.get("arguments"), Mapping):
        function["arguments"] = dict(call.arguments)
    other_fields = host_part or {"type": "function", "id": call.id}
    rewritten_function = {**host_function, **function}
    return {**other_fields, "function": rewritten_function}
