"""A compacted context in the host's own shape: what was kept whole is the host's own message, the rest is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from workbench.live.message_reader import SYSTEM_ROLES, HostMessage, MessageFormat
from workbench.transcript.message import AnswerBlock, AssistantMessage, Image, Json, Message, Text, ToolCall, is_empty

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

    @property
    def role(self) -> str:
        """Its role in the host's format."""
        named = self.object.get("role") if isinstance(self.object, Mapping) else getattr(self.object, "role", "")
        return named if isinstance(named, str) else ""

    @property
    def holds_results(self) -> bool:
        """Whether it is a user's message in Anthropic's format that begins with a tool result."""
        content = self.object.get("content") if isinstance(self.object, Mapping) and self.role == "user" else None
        first = content[0] if isinstance(content, list) and content else None
        return isinstance(first, Mapping) and first.get("type") == "tool_result"


def write_messages(
    messages: Sequence[Message], path: Sequence[HostMessage], place: Mapping[str, int], format: MessageFormat
) -> list[OutgoingMessage]:
    """The messages in the host's format; new ones in `format`.

    `place` has, by the id of each of our messages, the index in `path` of the host's message that it came in.
    """
    shown: list[OutgoingMessage] = []
    for at, run in groupby(messages, key=lambda message: place.get(message.id)):
        group = tuple(run)
        if at is None:
            shown += [OutgoingMessage(_new(message, format)) for message in group if not is_empty(message)]
        elif [*map(id, group)] == [*map(id, path[at].messages)]:
            shown.append(OutgoingMessage(path[at].object, made=False, at=at))
        else:
            shown += [OutgoingMessage(record, at=at) for record in _changed(group, path[at], format)]
    first = next((one.record["role"] for one in path if one.record["role"] not in SYSTEM_ROLES), "")
    return _merged_results(_with_turns(shown, opens=first == "user"))


def _changed(group: Sequence[Message], given: HostMessage, format: MessageFormat) -> Iterator[dict[str, Json]]:
    """The host's message with the parts that a stage rewrote or removed; a message of another kind is written anew."""
    before = {message.id: message for message in given.messages}
    parts: list[Json] = []
    for message in group:
        was = before[message.id]
        if type(was) is not type(message):
            yield _new(message, format)
        elif id(was) in given.parts:
            parts.append({**given.parts[id(was)], "content": _content(message.blocks, given) or EMPTY_RESULT})
        elif message.role == "assistant" and was.role == "assistant":
            yield from _answer(message, was, given)
        elif len(given.messages) == 1:
            yield {**given.record, "content": _content(message.blocks, given) or EMPTY_RESULT}
        else:
            parts += _parts(message.blocks, given)
    if parts:
        yield {**given.record, "content": parts}


def _content(blocks: Sequence[AnswerBlock], given: HostMessage) -> Json:
    """Text where there is only text and no part of the host's, else a list of parts."""
    if any(block.type == "image" or isinstance(given.parts.get(id(block)), Mapping) for block in blocks):
        return _parts(blocks, given)
    return _text(blocks)


def _parts(blocks: Sequence[AnswerBlock], given: HostMessage) -> list[Json]:
    """The host's own parts where nothing changed; text for other blocks that say something."""
    parts = []
    for block in blocks:
        own = given.parts.get(id(block))
        if isinstance(own, Mapping):
            parts.append(own)
        elif text := _text([block]):
            parts.append({"type": "text", "text": text})
    return parts


def _text(blocks: Sequence[AnswerBlock]) -> str:
    texts = (
        block.text if block.type == "text" else f"[{block.media_type} left out]"
        for block in blocks
        if isinstance(block, Text | Image)
    )
    return "\n".join(text for text in texts if text.strip())


def _answer(message: AssistantMessage, was: AssistantMessage, given: HostMessage) -> Iterator[dict[str, Json]]:
    """The host's answer with what is left of it, if anything; thoughts stay only as they were, all of them or none."""
    thoughts, before = ([id(b) for b in one.blocks if b.type == "thinking"] for one in (message, was))
    intact = thoughts == before
    parts: list[Json] = []
    calls: list[Json] = []
    for block in message.blocks:
        if block.type == "tool_call":
            entry = _entry(block, was, given)
            (parts if entry.get("type") == "tool_use" else calls).append(entry)
        elif intact or block.type != "thinking":
            parts += _parts((block,), given)
    dropped = {"tool_calls", "function_call"} if intact else {"tool_calls", "function_call", *_THOUGHT_KEYS}
    record = {key: value for key, value in given.record.items() if key not in dropped}
    as_text = not isinstance(record.get("content"), list) and all(part.get("type") == "text" for part in parts)
    record["content"] = ("\n".join(part["text"] for part in parts) or None) if as_text else parts
    if calls and given.record.get("function_call"):
        record["function_call"] = calls[0]["function"]
    elif calls:
        record["tool_calls"] = calls
    if parts or calls:
        yield record


def _entry(call: ToolCall, was: AssistantMessage, given: HostMessage) -> Json:
    """The host's own entry for a call, with the arguments replaced where a stage changed them."""
    if id(call) in given.parts:
        return given.parts[id(call)]
    entry: Json = next((given.parts[id(block)] for block in was.calls if block.id == call.id), {})
    if entry.get("type") == "tool_use":
        return {**entry, "input": dict(call.arguments)}
    return {"type": "function", "id": call.id, **entry, "function": {**entry.get("function", {}), **_function(call)}}


def _function(call: ToolCall) -> dict[str, Json]:
    return {"name": call.name, "arguments": call.arguments_json()}


def _new(message: Message, format: MessageFormat) -> dict[str, Json]:
    """A message that the host never had."""
    text = _text(message.blocks)
    calls = message.calls if message.role == "assistant" else ()
    if message.role == "tool":
        if format == "openai":
            return {"role": "tool", "tool_call_id": message.call_id, "content": text}
        part = {"type": "tool_result", "tool_use_id": message.call_id, "content": text}
        return {"role": "user", "content": [{**part, "is_error": True} if message.is_error else part]}
    if calls and format == "openai":
        entries = [{"id": call.id, "type": "function", "function": _function(call)} for call in calls]
        return {"role": "assistant", "content": text or None, "tool_calls": entries}
    if calls:
        parts: list[Json] = [{"type": "text", "text": text}] if text else []
        uses = [{"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)} for c in calls]
        return {"role": "assistant", "content": parts + uses}
    if message.role == "summary":
        return {"role": message.said_by, "content": text}
    system = message.role == "system" and format == "anthropic"
    return {"role": "user" if system else message.role, "content": text}


def _with_turns(shown: list[OutgoingMessage], opens: bool) -> list[OutgoingMessage]:
    """A user's turn where the conversation began with one, and between answers that did not follow each other.

    Gemini and Anthropic refuse a conversation that begins with an answer, and some templates two answers in a row.
    """
    result: list[OutgoingMessage] = []
    last: OutgoingMessage | None = None
    for one in shown:
        parted = opens if last is None else last.role == "assistant" and (last.at is None or one.at != last.at + 1)
        if one.role == "assistant" and parted:
            result.append(OutgoingMessage({"role": "user", "content": GAP}))
        result.append(one)
        last = last if one.role in SYSTEM_ROLES else one
    return result


def _merged_results(shown: list[OutgoingMessage]) -> list[OutgoingMessage]:
    """Tool results of one turn in Anthropic's format go into one message, as the API requires."""
    result: list[OutgoingMessage] = []
    for one in shown:
        last = result[-1] if result else None
        if last is not None and last.made and last.holds_results and one.holds_results:
            content = [*last.object["content"], *one.object["content"]]
            result[-1] = OutgoingMessage({**one.object, "content": content}, at=one.at)
        else:
            result.append(one)
    return result
