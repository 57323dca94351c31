"""Messages as the providers' APIs take them: plain dicts, valid whatever the context looked like.

A result follows its call directly, a call without a result gets one that says so, a result without a call and a
message without content are left out, and neighbours of one role are merged where the API asks for turns. Ids and names
are changed as far as the APIs' own rules ask. System messages keep their place for OpenAI; Anthropic takes them beside
the messages, see `system_prompt`. A summary is never one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from workbench.transcript.message import (
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
    UserMessage,
)

MAX_ID = 40
"""Characters of a call's id: OpenAI takes no more, Anthropic takes letters, digits, `_` and `-`."""
MAX_NAME = 64
NO_RESULT = "[no result of this call is in the context]"
EMPTY_RESULT = "[the result is empty]"
SentMessage: TypeAlias = SystemMessage | UserMessage | AssistantMessage | Summary
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")


def to_openai(messages: Iterable[Message]) -> list[dict[str, Json]]:
    """Messages for OpenAI's chat completions API; a picture is a text that says what it was."""
    exported: list[dict[str, Json]] = []
    taken: set[str] = set()
    for message, results in _with_results(messages):
        if isinstance(message, AssistantMessage):
            exported += _openai_answer(message, results, taken)
        elif words := _words(message.blocks):
            exported.append({"role": _role(message), "content": words})
    return exported


def to_anthropic(messages: Iterable[Message]) -> list[dict[str, Json]]:
    """Messages for Anthropic's API: turns of user and assistant in alternation, the first of them the user's."""
    turns: list[dict[str, Json]] = []
    taken: set[str] = set()
    for message, results in _with_results(messages):
        if isinstance(message, AssistantMessage):
            calls = _named_calls(message, taken)
            _add_turn(turns, "assistant", _anthropic_answer(message, calls))
            _add_turn(turns, "user", [_anthropic_result(call_id, results.get(call.id)) for call, call_id in calls])
        elif not isinstance(message, SystemMessage):
            texts = (block.text if isinstance(block, Text) else _placeholder(block) for block in message.blocks)
            _add_turn(turns, _role(message), [_text_block(text) for text in texts if text.strip()])
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [_text_block("(the conversation goes on)")]})
    if turns and turns[-1]["role"] == "assistant" and turns[-1]["content"][-1]["type"] == "text":
        turns[-1]["content"][-1]["text"] = turns[-1]["content"][-1]["text"].rstrip()
    return turns


def system_prompt(messages: Iterable[Message]) -> str:
    """The system messages as one text, for Anthropic's `system` parameter; empty where there are none."""
    return "\n\n".join(_words(message.blocks) for message in messages if isinstance(message, SystemMessage))


def _with_results(messages: Iterable[Message]) -> Iterator[tuple[SentMessage, dict[str, ToolResult]]]:
    """Each message that is sent by itself; with an answer, the first result of each of its calls that follows."""
    listed = list(messages)
    results: list[dict[str, ToolResult]] = [{} for _ in listed]
    newest: dict[str, int] = {}
    for i, message in enumerate(listed):
        if isinstance(message, AssistantMessage):
            newest.update({call.id: i for call in message.calls})
        elif isinstance(message, ToolResult) and message.call_id in newest:
            results[newest[message.call_id]].setdefault(message.call_id, message)
    for message, found in zip(listed, results, strict=True):
        if not isinstance(message, ToolResult):
            yield message, found


def _named_calls(message: AssistantMessage, taken: set[str]) -> list[tuple[ToolCall, str]]:
    """Each call of an answer, the last of those with one id, with an id that no other has and that both APIs take."""
    named = []
    for call in {call.id: call for call in message.calls}.values():
        base = _REFUSED.sub("_", call.id)[:MAX_ID] or "call"
        found, n = base, 1
        while found in taken:
            n += 1
            found = f"{base[: MAX_ID - len(str(n)) - 1]}_{n}"
        taken.add(found)
        named.append((call, found))
    return named


def _openai_answer(
    message: AssistantMessage, results: Mapping[str, ToolResult], taken: set[str]
) -> list[dict[str, Json]]:
    words, calls = _words(message.blocks), _named_calls(message, taken)
    if not words and not calls:
        return []
    answer: dict[str, Json] = {"role": "assistant", "content": words or None}
    if calls:
        answer["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": _name(call), "arguments": call.arguments_json()}}
            for call, call_id in calls
        ]
    return [answer, *({"role": "tool", "tool_call_id": i, "content": _content(results.get(c.id))} for c, i in calls)]


def _anthropic_answer(message: AssistantMessage, calls: Sequence[tuple[ToolCall, str]]) -> list[dict[str, Json]]:
    blocks: list[dict[str, Json]] = []
    for block in message.blocks:
        if isinstance(block, Thinking) and block.signature and block.text:
            blocks.append({"type": "thinking", "thinking": block.text, "signature": block.signature})
        elif isinstance(block, Text) and block.text.strip():
            blocks.append(_text_block(block.text))
        elif isinstance(block, Image):
            blocks.append(_text_block(_placeholder(block)))
    spoken = any(block["type"] != "thinking" for block in blocks)
    uses = [{"type": "tool_use", "id": i, "name": _name(call), "input": dict(call.arguments)} for call, i in calls]
    return blocks + uses if spoken or uses else []


def _anthropic_result(call_id: str, result: ToolResult | None) -> dict[str, Json]:
    answer: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": _content(result)}
    return {**answer, "is_error": True} if result is None or result.is_error else answer


def _add_turn(turns: list[dict[str, Json]], role: str, blocks: list[dict[str, Json]]) -> None:
    """Add blocks to the last turn if it has that role, else begin a turn."""
    if blocks and turns and turns[-1]["role"] == role:
        turns[-1]["content"] += blocks
    elif blocks:
        turns.append({"role": role, "content": blocks})


def _role(message: SystemMessage | UserMessage | Summary) -> str:
    return message.said_by if isinstance(message, Summary) else message.role


def _name(call: ToolCall) -> str:
    return _REFUSED.sub("_", call.name)[:MAX_NAME] or "tool"


def _content(result: ToolResult | None) -> str:
    return NO_RESULT if result is None else _words(result.blocks) or EMPTY_RESULT


def _text_block(words: str) -> dict[str, Json]:
    return {"type": "text", "text": words}


def _words(blocks: Iterable[object]) -> str:
    texts = (b.text if isinstance(b, Text) else _placeholder(b) for b in blocks if isinstance(b, Text | Image))
    return "\n".join(text for text in texts if text.strip())


def _placeholder(picture: Image) -> str:
    return f"[image: {picture.media_type}, {picture.bytes:,} bytes]"
