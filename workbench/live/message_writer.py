"""A compacted context in the host's own shape: what was kept whole is the host's own message, the rest is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from workbench.live.message_reader import RULES, HostMessage, MessageFormat
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Image,
    Json,
    Message,
    Summary,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_empty,
)

GAP = "(earlier messages were left out here)"
"""Text of a user's turn that an API requires where the original turn was removed."""
EMPTY_RESULT = "(no output)"
_THOUGHT_KEYS = frozenset({"reasoning_content", "reasoning", "thinking_blocks", "reasoning_details"})


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """One message as it is sent.

    Attributes:
        made: whether it is new and not the host's own object.
        at: which of the host's messages it is or was made of; None for what is new.
    """

    object: Json
    made: bool = True
    at: int | None = None


def write_messages(
    messages: Sequence[Message], path: Sequence[HostMessage], place: Mapping[str, int], format: MessageFormat
) -> list[OutgoingMessage]:
    """The messages in the host's format.

    Args:
        messages: what is sent.
        path: the host's messages.
        place: by the id of each of our messages, the index in `path` of the one that it came in.
        format: for new messages.
    """
    shown: list[OutgoingMessage] = []
    for at, run in groupby(messages, key=lambda message: place.get(message.id)):
        group = list(run)
        if at is None:
            shown += [OutgoingMessage(_new(message, format)) for message in group if not is_empty(message)]
        elif _whole(group, path[at]):
            shown.append(OutgoingMessage(path[at].object, made=False, at=at))
        else:
            shown += [OutgoingMessage(record, at=at) for record in _changed(group, path[at], format)]
    first = next((role_of(one.record) for one in path if role_of(one.record) not in RULES), "")
    return _merged_results(_with_turns(shown, opens=first == "user"))


def _whole(group: Sequence[Message], given: HostMessage) -> bool:
    return len(group) == len(given.messages) and all(now is was for now, was in zip(group, given.messages, strict=True))


def _changed(group: Sequence[Message], given: HostMessage, format: MessageFormat) -> Iterator[dict[str, Json]]:
    """The host's message with the parts that a stage rewrote or removed; a message of another kind is written anew."""
    before = {message.id: message for message in given.messages}
    parts: list[Json] = []
    for message in group:
        was = before[message.id]
        if type(was) is not type(message):
            yield _new(message, format)
        elif isinstance(message, ToolResult) and id(was) in given.parts:
            parts.append({**given.parts[id(was)], "content": _content(message.blocks, given) or EMPTY_RESULT})
        elif isinstance(message, AssistantMessage) and isinstance(was, AssistantMessage):
            record = _answer(message, was, given)
            if record is not None:
                yield record
        elif len(given.messages) == 1:
            yield {**given.record, "content": _content(message.blocks, given) or EMPTY_RESULT}
        else:
            parts += _parts(message.blocks, given)
    if parts:
        yield {**given.record, "content": parts}


def _content(blocks: Sequence[AnswerBlock], given: HostMessage) -> Json:
    """Text where there is only text and no part of the host's, else a list of parts."""
    if all(isinstance(block, Text) and not isinstance(given.parts.get(id(block)), Mapping) for block in blocks):
        return "\n".join(block.text for block in blocks if isinstance(block, Text) and block.text.strip())
    return _parts(blocks, given)


def _parts(blocks: Sequence[AnswerBlock], given: HostMessage) -> list[Json]:
    return [part for block in blocks if (part := _part(block, given)) is not None]


def _part(block: AnswerBlock, given: HostMessage) -> Json:
    own = given.parts.get(id(block))
    if isinstance(own, Mapping):
        return own
    if isinstance(block, Image):
        return {"type": "text", "text": f"[{block.media_type} left out]"}
    return {"type": "text", "text": block.text} if isinstance(block, Text) and block.text.strip() else None


def _answer(message: AssistantMessage, was: AssistantMessage, given: HostMessage) -> dict[str, Json] | None:
    """The host's answer with what is left of it; thoughts stay only as they were, all of them or none."""
    intact = _thoughts(message) == _thoughts(was)
    record = {key: value for key, value in given.record.items() if intact or key not in _THOUGHT_KEYS}
    entries = [_entry(block, was, given) for block in message.blocks if isinstance(block, ToolCall)]
    anthropic = any(isinstance(entry, dict) and entry.get("type") == "tool_use" for entry in entries)
    parts: list[Json] = []
    for block in message.blocks:
        if isinstance(block, Thinking):
            own = given.parts.get(id(block))
            parts += [own] if intact and isinstance(own, Mapping) else []
        elif isinstance(block, ToolCall):
            parts += [_entry(block, was, given)] if anthropic else []
        else:
            parts += _parts((block,), given)
    plain = all(part.get("type") == "text" for part in parts)
    if isinstance(record.get("content"), list):
        record["content"] = parts
    else:
        record["content"] = ("\n".join(part["text"] for part in parts) or None) if plain else parts
    if not anthropic and "tool_calls" in record:
        record.pop("tool_calls")
        record.update({"tool_calls": entries} if entries else {})
    if "function_call" in record and entries:
        record["function_call"] = entries[0]["function"]
    if not parts and not entries:
        return None
    return record


def _thoughts(message: AssistantMessage) -> list[int]:
    return [id(block) for block in message.blocks if isinstance(block, Thinking)]


def _entry(call: ToolCall, was: AssistantMessage, given: HostMessage) -> Json:
    """The host's own entry for a call, with the arguments replaced where a stage changed them."""
    own = given.parts.get(id(call))
    if own is not None:
        return own
    before = next((block for block in was.calls if block.id == call.id), None)
    entry = given.parts.get(id(before)) if before is not None else None
    if entry is None:
        return {"type": "function", "id": call.id, "function": _function(call)}
    if entry.get("type") == "tool_use":
        return {**entry, "input": dict(call.arguments)}
    return {**entry, "function": {**entry.get("function", {}), **_function(call)}}


def _function(call: ToolCall) -> dict[str, Json]:
    return {"name": call.name, "arguments": call.arguments_json()}


def _new(message: Message, format: MessageFormat) -> dict[str, Json]:
    """A message that the host never had."""
    text = "\n".join(
        block.text if isinstance(block, Text) else f"[{block.media_type} left out]"
        for block in message.blocks
        if isinstance(block, Text | Image)
    )
    if isinstance(message, ToolResult):
        if format == "openai":
            return {"role": "tool", "tool_call_id": message.call_id, "content": text}
        part = {"type": "tool_result", "tool_use_id": message.call_id, "content": text}
        return {"role": "user", "content": [{**part, "is_error": True} if message.is_error else part]}
    if isinstance(message, AssistantMessage) and message.calls:
        return _calling(message, text, format)
    role = message.said_by if isinstance(message, Summary) else message.role
    if isinstance(message, SystemMessage) and format == "anthropic":
        role = "user"
    return {"role": role, "content": text}


def _calling(message: AssistantMessage, text: str, format: MessageFormat) -> dict[str, Json]:
    if format == "openai":
        calls = [{"id": call.id, "type": "function", "function": _function(call)} for call in message.calls]
        return {"role": "assistant", "content": text or None, "tool_calls": calls}
    parts: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
    parts += [{"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)} for c in message.calls]
    return {"role": "assistant", "content": parts}


def role_of(shown: Json) -> str:
    """The role of a message in the host's format."""
    role = shown.get("role") if isinstance(shown, Mapping) else getattr(shown, "role", "")
    return role if isinstance(role, str) else ""


def _with_turns(shown: list[OutgoingMessage], opens: bool) -> list[OutgoingMessage]:
    """A user's turn where the conversation began with one, and between answers that did not follow each other.

    Gemini and Anthropic refuse a conversation that begins with an answer, and some templates two answers in a row.
    """
    result: list[OutgoingMessage] = []
    last: OutgoingMessage | None = None
    for one in shown:
        if role_of(one.object) == "assistant":
            parted = last is not None and role_of(last.object) == "assistant" and not _adjacent(last, one)
            if parted or (last is None and opens):
                result.append(OutgoingMessage({"role": "user", "content": GAP}))
        result.append(one)
        last = last if role_of(one.object) in RULES else one
    return result


def _adjacent(one: OutgoingMessage, other: OutgoingMessage) -> bool:
    return one.at is not None and other.at is not None and other.at == one.at + 1


def _merged_results(shown: list[OutgoingMessage]) -> list[OutgoingMessage]:
    """Tool results of one turn in Anthropic's format go into one message, as the API requires."""
    result: list[OutgoingMessage] = []
    for one in shown:
        last = result[-1] if result else None
        if last is not None and last.made and _holds_results(last.object) and _holds_results(one.object):
            record = dict(one.object)
            result[-1] = OutgoingMessage(
                {**record, "content": [*last.object["content"], *record["content"]]}, at=one.at
            )
        else:
            result.append(one)
    return result


def _holds_results(shown: Json) -> bool:
    content = shown.get("content") if isinstance(shown, Mapping) and shown.get("role") == "user" else None
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(part, Mapping) and part.get("type") == "tool_result" for part in content[:1])
    )
