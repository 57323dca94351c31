"""Messages as the providers' APIs take them: plain dicts, valid whatever the context looked like.

A result stands directly behind its call, a call without a result gets one that says so, a result without a call and
a message without content are left out, and neighbours of one role are merged where the API asks for turns. Ids and
names are changed as far as the APIs' own rules ask. System messages stand where they stood for OpenAI; Anthropic takes
them beside the messages, see `system_prompt`. A summary is never one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from workbench.transcript.message import (
    AssistantMessage,
    Image,
    Json,
    Message,
    SaidBlock,
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
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")


def to_openai(messages: Iterable[Message]) -> list[dict[str, Json]]:
    """Messages for OpenAI's chat completions API; a picture is a text that says what it was."""
    exported: list[dict[str, Json]] = []
    ids = _Ids()
    for message, results in _in_order(messages):
        if isinstance(message, AssistantMessage):
            exported += _openai_answer(message, results, ids)
        elif text := _words(message.blocks):
            exported.append({"role": _role(message), "content": text})
    return exported


def to_anthropic(messages: Iterable[Message]) -> list[dict[str, Json]]:
    """Messages for Anthropic's API: turns of user and assistant in alternation, the first of them the user's."""
    exported: list[dict[str, Json]] = []
    ids = _Ids()
    for message, results in _in_order(messages):
        if isinstance(message, AssistantMessage):
            named = [(call, ids.fresh(call.id)) for call in _distinct(message.calls)]
            _turn(exported, "assistant", _anthropic_answer(message, named))
            _turn(exported, "user", [_anthropic_result(call, call_id, results) for call, call_id in named])
        elif not isinstance(message, SystemMessage):
            _turn(exported, _role(message), _anthropic_said(message.blocks))
    if exported and exported[0]["role"] == "assistant":
        exported.insert(0, {"role": "user", "content": [{"type": "text", "text": "(the conversation goes on)"}]})
    if exported and exported[-1]["role"] == "assistant" and exported[-1]["content"][-1]["type"] == "text":
        exported[-1]["content"][-1]["text"] = exported[-1]["content"][-1]["text"].rstrip()
    return exported


def system_prompt(messages: Iterable[Message]) -> str:
    """The system messages as one text, for Anthropic's `system` parameter; empty where there are none."""
    return "\n\n".join(_words(message.blocks) for message in messages if isinstance(message, SystemMessage))


def _role(message: SystemMessage | UserMessage | Summary) -> str:
    return message.said_by if isinstance(message, Summary) else message.role


class _Ids:
    """Gives each call an id that no other call has and that both APIs take."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def fresh(self, wanted: str) -> str:
        base = _REFUSED.sub("_", wanted)[:MAX_ID] or "call"
        found, n = base, 1
        while found in self.taken:
            n += 1
            found = f"{base[: MAX_ID - len(str(n)) - 1]}_{n}"
        self.taken.add(found)
        return found


def _in_order(
    messages: Iterable[Message],
) -> Iterator[tuple[AssistantMessage | UserMessage | SystemMessage | Summary, dict[str, ToolResult]]]:
    """Each message that is sent by itself; with an answer, the first result of each of its calls that follows."""
    said = list(messages)
    results = _results(said)
    for i, message in enumerate(said):
        if isinstance(message, AssistantMessage):
            yield message, {call.id: results[i, call.id] for call in message.calls if (i, call.id) in results}
        elif not isinstance(message, ToolResult):
            yield message, {}


def _results(said: Sequence[Message]) -> dict[tuple[int, str], ToolResult]:
    """The result of each call, by the index of the answer that made it: the first behind the newest such call."""
    found: dict[tuple[int, str], ToolResult] = {}
    newest: dict[str, int] = {}
    for i, message in enumerate(said):
        if isinstance(message, AssistantMessage):
            newest.update({call.id: i for call in message.calls})
        elif isinstance(message, ToolResult) and message.call_id in newest:
            found.setdefault((newest[message.call_id], message.call_id), message)
    return found


def _openai_answer(message: AssistantMessage, results: dict[str, ToolResult], ids: _Ids) -> list[dict[str, Json]]:
    text = _words(message.blocks)
    calls = [(call, ids.fresh(call.id)) for call in _distinct(message.calls)]
    if not text and not calls:
        return []
    answer: dict[str, Json] = {"role": "assistant", "content": text or None}
    if calls:
        answer["tool_calls"] = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": _name(call), "arguments": call.arguments_json()},
            }
            for call, call_id in calls
        ]
    told: list[dict[str, Json]] = [
        {"role": "tool", "tool_call_id": call_id, "content": _result_text(call, results)} for call, call_id in calls
    ]
    return [answer, *told]


def _name(call: ToolCall) -> str:
    return _REFUSED.sub("_", call.name)[:MAX_NAME] or "tool"


def _result_text(call: ToolCall, results: dict[str, ToolResult]) -> str:
    return (_words(results[call.id].blocks) or EMPTY_RESULT) if call.id in results else NO_RESULT


def _anthropic_answer(message: AssistantMessage, named: Sequence[tuple[ToolCall, str]]) -> list[dict[str, Json]]:
    blocks: list[dict[str, Json]] = []
    for block in message.blocks:
        if isinstance(block, Thinking) and block.signature and block.text:
            blocks.append({"type": "thinking", "thinking": block.text, "signature": block.signature})
        elif isinstance(block, Text) and block.text.strip():
            blocks.append({"type": "text", "text": block.text})
        elif isinstance(block, Image):
            blocks.append({"type": "text", "text": _shown(block)})
    calls = [
        {"type": "tool_use", "id": call_id, "name": _name(call), "input": dict(call.arguments)}
        for call, call_id in named
    ]
    spoken = [block for block in blocks if block["type"] != "thinking"]
    return blocks + calls if spoken or calls else []


def _anthropic_result(call: ToolCall, call_id: str, results: dict[str, ToolResult]) -> dict[str, Json]:
    result = results.get(call.id)
    answer: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id}
    if result is None:
        return {**answer, "content": NO_RESULT, "is_error": True}
    answer["content"] = _words(result.blocks) or EMPTY_RESULT
    return {**answer, "is_error": True} if result.is_error else answer


def _anthropic_said(blocks: Sequence[SaidBlock]) -> list[dict[str, Json]]:
    texts = (block.text if isinstance(block, Text) else _shown(block) for block in blocks)
    return [{"type": "text", "text": text} for text in texts if text.strip()]


def _turn(exported: list[dict[str, Json]], role: str, blocks: list[dict[str, Json]]) -> None:
    """Add blocks to the last turn if it has that role, else begin a turn."""
    if not blocks:
        return
    if exported and exported[-1]["role"] == role:
        exported[-1]["content"] += blocks
    else:
        exported.append({"role": role, "content": blocks})


def _distinct(calls: Sequence[ToolCall]) -> list[ToolCall]:
    return list({call.id: call for call in calls}.values())


def _words(blocks: Iterable[object]) -> str:
    texts = (b.text if isinstance(b, Text) else _shown(b) for b in blocks if isinstance(b, Text | Image))
    return "\n".join(text for text in texts if text.strip())


def _shown(picture: Image) -> str:
    return f"[image: {picture.media_type}, {picture.bytes:,} bytes]"
