"""A conversation as chat completions, for a model that is asked about it as it was sent."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from workbench.engine.models.model import SummaryRequest
from workbench.engine.models.written_calls import conversation_text
from workbench.engine.transcript.context import answered
from workbench.engine.transcript.message import (
    AssistantMessage,
    Json,
    Message,
    ToolCall,
    ToolResult,
    plain_text,
)

ChatMessage: TypeAlias = Mapping[str, Json]


def sent_messages(request: SummaryRequest) -> list[ChatMessage]:
    """All messages of a request, in the order in which they are sent.

    The conversation comes before the prompt, which asks about it. The request's own system prompt
    is left out where the conversation has one.
    """
    if request.chat:
        return list(request.chat)
    messages: list[ChatMessage] = []
    roles = {message.role for message in request.conversation}
    if request.system and "system" not in roles:
        messages.append(_said("system", request.system))
    messages += chat_messages(request.conversation)
    prompt = request.prompt
    if prompt:
        messages.append(_said("user", prompt))
    return messages


def sent_text(request: SummaryRequest) -> str:
    """The prompt, and before it the conversation that it asks about."""
    if not request.conversation:
        return request.prompt
    return conversation_text(sent_messages(request), ())


def chat_messages(messages: Sequence[Message]) -> Iterator[ChatMessage]:
    """The messages as chat completions, each call with its results right behind it.

    A call without a result and a result without a call are left out, since providers refuse both.
    So are thoughts. A picture is named.
    """
    results_of = _results_by_caller(messages)
    for index, message in enumerate(messages):
        if message.role == "assistant":
            yield from _answer(message, results_of.get(index, []))
        elif message.role == "summary":
            yield _said(message.said_by, plain_text(message))
        elif message.role != "tool":
            yield _said(message.role, _words(message))


def _results_by_caller(messages: Sequence[Message]) -> dict[int, list[ToolResult]]:
    """The results of each message that made calls, by its index."""
    results_of: dict[int, list[ToolResult]] = {}
    for index, (caller, _) in answered(messages).items():
        result = messages[index]
        assert isinstance(result, ToolResult)
        results_of.setdefault(caller, []).append(result)
    return results_of


def _answer(message: AssistantMessage, results: Sequence[ToolResult]) -> Iterator[ChatMessage]:
    """What a model said and called, and what came back."""
    result_of = {result.call_id: result for result in results}
    calls: list[ChatMessage] = []
    answers: list[ChatMessage] = []
    for call in message.calls:
        if call.id in result_of:
            calls.append(_call(call))
            answers.append(_result(result_of[call.id]))
    words = _words(message)
    if calls:
        yield {
            "role": "assistant",
            "content": words or None,
            "tool_calls": calls,
        }
    elif words:
        yield _said("assistant", words)
    yield from answers


def _call(call: ToolCall) -> ChatMessage:
    function = {
        "name": call.name,
        "arguments": _sendable(call.arguments_json()),
    }
    return {
        "id": call.id,
        "type": "function",
        "function": function,
    }


def _result(result: ToolResult) -> ChatMessage:
    return {
        "role": "tool",
        "content": _sendable(_words(result)),
        "tool_call_id": result.call_id,
    }


def _words(message: Message) -> str:
    """What a message says, with its pictures named."""
    texts: list[str] = []
    for block in message.blocks:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "image":
            texts.append(f"[{block.media_type}]")
    return "\n".join(texts)


def _said(role: str, text: str) -> ChatMessage:
    return {"role": role, "content": _sendable(text)}


def _sendable(text: str) -> str:
    """The text without halves of characters, which cannot be sent."""
    return text.encode("utf-8", "replace").decode()
