"""pydantic-ai's messages as records in OpenAI's chat format, and back.

A record stands for an answer, or for a part of a request. What has no such form is a text in it,
so that it is counted; the message itself is sent as it was.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import to_json

from workbench.engine.transcript.message import Json


@dataclass(frozen=True, slots=True)
class _Source:
    """What a record was made of.

    Attributes:
        message: the message of the run's history.
        part: the part of it; None where the record is the whole message.
    """

    message: ModelMessage
    part: Any = None


class MessageRecords:
    """The messages of one request, and as records in OpenAI's chat format.

    Attributes:
        records: one for each answer, and for each part of what answers it.
    """

    def __init__(self, messages: Sequence[ModelMessage]) -> None:
        self.records: list[dict[str, Any]] = []
        self._sources: dict[int, _Source] = {}  # by the identity of the record
        self._results: dict[str, _Source] = {}  # by the id of the call
        self._answers: dict[str, ModelResponse] = {}  # likewise
        self._tool_names: dict[str, str] = {}  # likewise
        self._files: dict[str, Any] = {}  # by their addresses
        for message in messages:
            if isinstance(message, ModelResponse):
                self._add_answer(message)
            else:
                self._add_request(message)

    def _add_answer(self, response: ModelResponse) -> None:
        """Add the record of an answer."""
        record = _answer_record(response)
        source = _Source(response)
        self._add(record, source)
        for part in response.parts:
            if isinstance(part, ToolCallPart):
                self._answers[part.tool_call_id] = response
                self._tool_names[part.tool_call_id] = part.tool_name

    def _add_request(self, request: ModelRequest) -> None:
        """Add a record for each part of what answers."""
        for part in request.parts:
            record = self._part_record(part)
            source = _Source(request, part)
            self._add(record, source)
            if isinstance(part, ToolReturnPart):
                self._results[part.tool_call_id] = source

    def messages(self, records: Sequence[dict[str, Any]]) -> list[ModelMessage]:
        """The messages of these records: the run's own where they are as they were."""
        messages: list[ModelMessage] = []
        request_parts: list[_Source] = []
        for record in records:
            source = self._source_of(record)
            if request_parts and request_parts[-1].message is not source.message:
                request = _request_of(request_parts)
                messages.append(request)
                request_parts = []
            if source.part is None:
                messages.append(source.message)
            else:
                request_parts.append(source)
        if request_parts:
            request = _request_of(request_parts)
            messages.append(request)
        return messages

    def _add(self, record: dict[str, Any], source: _Source) -> None:
        self.records.append(record)
        self._sources[id(record)] = source

    def _part_record(self, part: Json) -> dict[str, Any]:
        """A part of a request as a record."""
        if isinstance(part, SystemPromptPart):
            return {"role": "system", "content": part.content}
        if isinstance(part, UserPromptPart):
            prompt = self._content(part.content)
            return {"role": "user", "content": prompt}
        if isinstance(part, ToolReturnPart):
            content: Json = part.model_response_str()
            if part.files:
                content = self._content([content, *part.files])
            return {
                "role": "tool",
                "tool_call_id": part.tool_call_id,
                "content": content,
            }
        if hasattr(part, "model_response"):  # the library's own words to the model
            words = part.model_response()
            return {"role": "user", "content": words}
        text = _as_text(part)
        return {"role": "system", "content": text}

    def _content(self, content: str | Sequence[Any]) -> Json:
        """The content of a prompt or of a result, pictures among it."""
        if isinstance(content, str):
            return content
        parts: list[Json] = []
        for entry in content:
            address = _address(entry)
            if address:
                self._files[address] = entry
                picture = {"url": address}
                parts.append({"type": "image_url", "image_url": picture})
            else:
                text = _text_of_entry(entry)
                parts.append({"type": "text", "text": text})
        return parts

    def _source_of(self, record: dict[str, Any]) -> _Source:
        """What a record was made of; for one that a stage wrote or changed, a new part."""
        source = self._sources.get(id(record))
        if source is not None:
            return source
        role = record["role"]
        if role == "assistant":
            answer = self._answer(record)
            return _Source(answer)
        if role == "tool":
            return self._source_of_result(record)
        new_request = ModelRequest(parts=[])
        if role in ("system", "developer"):
            text = _text(record["content"])
            return _Source(new_request, SystemPromptPart(text))
        prompt = self._prompt(record)
        return _Source(new_request, UserPromptPart(prompt))

    def _source_of_result(self, record: dict[str, Any]) -> _Source:
        """A result with another content; a new one where its id is new."""
        call_id = record["tool_call_id"]
        content = self._prompt(record)
        result = self._results.get(call_id)
        if result is None:
            tool_name = self._tool_names.get(call_id, "")
            new_part = ToolReturnPart(tool_name, content, call_id)
            return _Source(ModelRequest(parts=[]), new_part)
        part = replace(result.part, content=content)
        return _Source(result.message, part)

    def _prompt(self, record: dict[str, Any]) -> Json:
        """The content of a changed record, with the run's own pictures."""
        content = record["content"]
        if not isinstance(content, list):
            return content or ""
        prompt: list[Any] = []
        for part in content:
            if part["type"] == "image_url":
                address = part["image_url"]["url"]
                prompt.append(self._files[address])
            else:
                text = part.get("text", "")
                prompt.append(text)
        return prompt

    def _answer(self, record: dict[str, Any]) -> ModelResponse:
        """An answer that a stage wrote or changed: the model's own with what is left of it."""
        calls: dict[str, Json] = {}
        for call in record.get("tool_calls") or ():
            call_id = call["id"]
            calls[call_id] = call["function"]
        if not calls or not calls.keys() <= self._answers.keys():
            return self._new_answer(record, calls)
        text = _text(record.get("content"))
        first_id = next(iter(calls))
        original = self._answers[first_id]
        parts: list[Any] = []
        if record.get("reasoning_content"):
            parts += [part for part in original.parts if isinstance(part, ThinkingPart)]
        if text:
            parts.append(TextPart(text))
        for part in original.parts:
            if not isinstance(part, ToolCallPart) or part.tool_call_id not in calls:
                continue
            function = calls[part.tool_call_id]
            arguments = function["arguments"]
            decoded_arguments = json.loads(arguments or "{}")
            if decoded_arguments != part.args_as_dict():
                part = replace(part, args=arguments)
            parts.append(part)
        return replace(original, parts=parts)

    def _new_answer(self, record: dict[str, Any], calls: dict[str, Json]) -> ModelResponse:
        """An answer that the model did not give so, such as one with other ids of its calls."""
        parts: list[Any] = []
        thought = record.get("reasoning_content")
        if thought:
            parts.append(ThinkingPart(thought))
        text = _text(record.get("content"))
        if text or not calls:
            parts.append(TextPart(text))
        for call_id, function in calls.items():
            self._tool_names[call_id] = function["name"]
            call = ToolCallPart(function["name"], function["arguments"], call_id)
            parts.append(call)
        return ModelResponse(parts=parts)


def _request_of(sources: Sequence[_Source]) -> ModelRequest:
    """The request with these parts: the run's own where it has them all."""
    owner: Any = sources[0].message
    parts = [source.part for source in sources]
    if [id(part) for part in parts] == [id(part) for part in owner.parts]:
        return owner
    return replace(owner, parts=parts)


def _answer_record(response: ModelResponse) -> dict[str, Any]:
    """An answer of the model as a record; what is neither text, thought nor call is counted as
    text.
    """
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Json] = []
    for part in response.parts:
        if isinstance(part, ThinkingPart):
            thoughts.append(part.content)
        elif isinstance(part, ToolCallPart):
            call = _call_record(part)
            calls.append(call)
        elif isinstance(part, TextPart):
            texts.append(part.content)
        else:
            text = _as_text(part)
            texts.append(text)
    content = "\n".join(texts) or None
    record: dict[str, Any] = {"role": "assistant", "content": content}
    if any(thoughts):
        record["reasoning_content"] = "\n".join(thoughts)
    if calls:
        record["tool_calls"] = calls
    return record


def _call_record(call: ToolCallPart) -> dict[str, Json]:
    """A call as a record has it."""
    arguments = call.args_as_json_str()
    function = {"name": call.tool_name, "arguments": arguments}
    return {
        "id": call.tool_call_id,
        "type": "function",
        "function": function,
    }


def _text_of_entry(entry: Json) -> str:
    """The text of an entry of a prompt that is no picture."""
    text = entry
    if not isinstance(entry, str):
        text = getattr(entry, "content", None)
    if isinstance(text, str):
        return text
    return _as_text(entry)


def _address(entry: Json) -> str:
    """Where a picture is; empty for what is none."""
    if isinstance(entry, ImageUrl):
        return str(entry.url)
    if isinstance(entry, BinaryContent) and entry.is_image:
        return str(entry.data_uri)
    return ""


def _text(content: Json) -> str:
    """The text of a record's content."""
    if isinstance(content, list):
        texts = [part.get("text", "") for part in content]
        return "\n".join(texts)
    return content or ""


def _as_text(part: Json) -> str:
    """A part of a kind that has no record, to be counted."""
    return to_json(part, fallback=str).decode()
