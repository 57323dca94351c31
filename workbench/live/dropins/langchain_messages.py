"""LangChain's messages as records in OpenAI's chat format, and back.

LangChain refuses to write some content blocks in that format: videos, files by address or by id,
plain-text documents, blocks without a type. In a record a text stands for such a block, so that it
is counted; the message itself is sent as it was, and a changed one gets the block back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ToolMessage,
    convert_to_messages,
    convert_to_openai_messages,
)


class MessageRecords:
    """The messages of a conversation, and as records.

    Attributes:
        records: in OpenAI's chat format, each with the id of its message.
    """

    def __init__(self, messages: Sequence[BaseMessage]) -> None:
        self._blocks: dict[str, Any] = {}  # by the texts that stand for them
        self.records = [self._record(message) for message in messages]
        self._originals: dict[int, BaseMessage] = {}  # by the identity of the record
        for record, message in zip(self.records, messages, strict=True):
            self._originals[id(record)] = message
        self._named = {message.id: message for message in messages if message.id}

    @property
    def ends_with_a_result(self) -> bool:
        """Whether a tool has answered last."""
        if not self.records:
            return False
        newest_record = self.records[-1]
        return bool(newest_record["role"] == "tool")

    def messages(self, records: Sequence[dict[str, Any]]) -> list[BaseMessage]:
        """The messages of these records: the conversation's own where they are as they were."""
        messages: list[BaseMessage] = []
        for record in records:
            original = self._originals.get(id(record))
            if original is None:
                original = self._changed(record)
            messages.append(original)
        return messages

    def _changed(self, record: dict[str, Any]) -> BaseMessage:
        """What a stage wrote as a message; the conversation's own with another content where it
        is a changed one.
        """
        (message,) = convert_to_messages([record])
        if isinstance(message.content, list):
            message.content = [self._own_block(block) for block in message.content]
        message_id = record.get("id")
        original = self._named.get(message_id)
        if original is None or original.type != message.type:
            return message
        changes: dict[str, Any] = {"content": message.content}
        if isinstance(message, AIMessage):
            changes["tool_calls"] = message.tool_calls
        elif isinstance(message, ToolMessage):
            changes["tool_call_id"] = message.tool_call_id
        return original.model_copy(update=changes)

    def _record(self, message: BaseMessage) -> dict[str, Any]:
        """The message as a record."""
        record = _converted(message)
        if record is not None:
            return record
        content: list[Any] = []
        for block in message.content:
            message_of_block = message.model_copy(update={"content": [block]})
            if _converted(message_of_block):
                content.append(block)
                continue
            readable_block = _text(block)
            text = readable_block["text"]
            self._blocks[text] = block
            content.append(readable_block)
        readable_message = message.model_copy(update={"content": content})
        readable: dict[str, Any] = convert_to_openai_messages(readable_message, include_id=True)
        if isinstance(readable["content"], str):  # LangChain joined the texts
            parts: list[Any] = []
            for block in content:
                if isinstance(block, str):
                    block = {"type": "text", "text": block}
                parts.append(block)
            readable["content"] = parts
        return readable

    def _own_block(self, block: Any) -> Any:  # noqa: ANN401  # a text or a mapping
        """The conversation's own block where a text stands for it."""
        if isinstance(block, dict) and block.get("type") == "text":
            text = block["text"]
            return self._blocks.get(text, block)
        return block


def _converted(message: BaseMessage) -> dict[str, Any] | None:
    """The message as LangChain writes it; None where it refuses a block."""
    try:
        record: dict[str, Any] = convert_to_openai_messages(message, include_id=True)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
    return record


def _text(block: Any) -> dict[str, str]:  # noqa: ANN401  # a text or a mapping
    """A text that stands for a block."""
    text = json.dumps(block, default=str)
    return {"type": "text", "text": text}


def usage_of(answer: AIMessage) -> dict[str, Any]:
    """What LangChain reports of any provider, as OpenAI words it: the input with what the cache
    had.
    """
    usage: Any = answer.usage_metadata
    details = usage.get("input_token_details") or {}
    cached = details.get("cache_read", 0)
    prompt_details = {"cached_tokens": cached}
    return {
        "prompt_tokens": usage["input_tokens"],
        "completion_tokens": usage["output_tokens"],
        "prompt_tokens_details": prompt_details,
    }


def stop_of(answer: AIMessage) -> str:
    """Why the model stopped, as its provider says it."""
    metadata = answer.response_metadata
    reason = metadata.get("finish_reason") or metadata.get("stop_reason")
    return str(reason or "")
