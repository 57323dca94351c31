"""The compactor as a compaction strategy of Inspect's agents.

Inspect says when: at its threshold, and after an overflow. It keeps the whole conversation, hands
the strategy what it sent last and what came since, and writes the result into its own checkpoints.
So the strategy holds nothing between two compactions, and one serves all samples.

Source:
    inspect_ai 0.3.285: `CompactionStrategy.compact`, `compaction`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from workbench.base.errors import CompactionRefused, ModelError
from workbench.engine.compaction.presets import preset as preset_named
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import find_model
from workbench.engine.transcript.message import Json
from workbench.live.async_compactor import AsyncCompactor
from workbench.live.compactor import Compactor
from workbench.live.settings import Settings

try:
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        CompactionStrategy,
        ContentImage,
        ContentReasoning,
        ContentText,
        Model,
        get_model_info,
    )
    from inspect_ai.tool import ToolCall, ToolInfo
except ImportError as error:
    install_hint = (
        "WorkbenchCompaction needs Inspect; `pip install 'inspect_ai>=0.3.285'` installs it"
    )
    raise ModuleNotFoundError(install_hint, name=error.name) from None

USUAL_WINDOW = 128_000
"""What Inspect supposes of a model that it does not know."""


class WorkbenchCompaction(CompactionStrategy):
    """Compacts where `react(compaction=WorkbenchCompaction("pipeline"))` has it, or
    `compaction(WorkbenchCompaction(...), prefix, tools)` in a loop of your own.
    """

    def __init__(
        self,
        preset: Preset | str = "pipeline",
        *,
        threshold: int | float = 0.9,
        memory: bool = True,
        **options: Json,
    ) -> None:
        """A strategy.

        Args:
            preset: how to compact: a preset or its name.
            threshold: tokens, or share of the model's window, above which Inspect compacts.
            memory: whether Inspect's memory tool is pointed to before.
            options: what else `Compactor` takes: `model`, `settings`, `hooks`, `on_event`, ...

        Raises:
            UnknownName: no preset or model has that name.
            SettingError: no model for a preset that asks one first of all.
        """
        super().__init__(type="summary", threshold=threshold, memory=memory)
        self._preset = preset_named(preset)
        self._options = {"format": "openai", **options}
        model = self._options.get("model")
        if model is not None:
            self._options["model"] = find_model(model)
        Compactor(self._preset, **self._options)  # so that what it refuses is refused here

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        """What to send in the place of these messages."""
        conversation = _Records(messages)
        schemas = [tool.model_dump() for tool in tools]
        declared: dict[str, Any] = {"tools": schemas}
        settings = _settings(self._options.get("settings"))
        phases = [settings]
        arguments = dict(self._options)
        arguments["window"] = self._limit(model)
        arguments["settings"] = lambda: phases[-1]
        live = Compactor(self._preset, **arguments)
        # hears, changes nothing
        passive_settings = replace(settings, automatic=False, last_resort=False)
        phases.append(passive_settings)
        live.before_request(conversation.records, **declared)
        token_count = await model.count_tokens(messages)
        token_count += await model.count_tool_tokens(tools)
        usage = {"prompt_tokens": token_count, "completion_tokens": 0}
        live.report_usage(usage)
        phases.append(settings)
        waiting = AsyncCompactor(live)
        sent = await waiting.before_request(conversation.records, **declared)
        if conversation.is_whole(sent):  # Inspect knows better that it is due
            with suppress(CompactionRefused, ModelError):
                await waiting.compact()
            sent = await waiting.before_request(conversation.records, **declared)
        messages_to_send = conversation.messages(sent)
        return messages_to_send, None

    def _limit(self, model: Model) -> int:
        """The tokens of Inspect's threshold."""
        if isinstance(self.threshold, int) or self.threshold > 1:
            return int(self.threshold)
        info = get_model_info(model)
        window = USUAL_WINDOW
        if info is not None and info.input_tokens:
            window = info.input_tokens
        return int(self.threshold * window)


class _Records:
    """The messages of a conversation, and as records in OpenAI's chat format.

    Attributes:
        records: one for each message, with its id.
    """

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        self.records = [_record(message) for message in messages]
        self._own: dict[int, ChatMessage] = {}
        for record, message in zip(self.records, messages, strict=True):
            self._own[id(record)] = message
        self._named: dict[str, ChatMessage] = {}
        for message in messages:
            if message.id:
                self._named[message.id] = message

    def is_whole(self, records: Sequence[dict[str, Any]]) -> bool:
        """Whether these records are all of the conversation's, unchanged."""
        ids = [id(record) for record in records]
        return ids == [id(record) for record in self.records]

    def messages(self, records: Sequence[dict[str, Any]]) -> list[ChatMessage]:
        """The messages of these records: the conversation's own where they are as they were."""
        messages: list[ChatMessage] = []
        for record in records:
            message = self._own.get(id(record))
            if message is None:
                message = self._changed(record)
            messages.append(message)
        return messages

    def _changed(self, record: dict[str, Any]) -> ChatMessage:
        """What a stage wrote as a message; the conversation's own with another content where it
        is a changed one.
        """
        content: Json = record.get("content") or ""
        if isinstance(content, list):
            content = [_content(part) for part in content]
        original = self._named.get(record.get("id", ""))
        if original is None or original.role != record["role"]:
            return _new_message(record["role"], content)
        changes: dict[str, Any] = {"content": content}
        if isinstance(original, ChatMessageAssistant):
            calls = _remaining_calls(original, record)
            changes["tool_calls"] = calls or None
            if record.get("reasoning_content"):
                changes["content"] = _with_thoughts_of(original, content)
        return original.model_copy(update=changes)


def _new_message(role: str, content: Json) -> ChatMessage:
    """A message that the conversation never had."""
    if role == "system":
        return ChatMessageSystem(content=content)
    if role == "assistant":
        return ChatMessageAssistant(content=content)
    return ChatMessageUser(content=content)


def _with_thoughts_of(answer: ChatMessageAssistant, content: Json) -> Json:
    """A content behind the thoughts of the answer that it is of."""
    if not isinstance(answer.content, list):
        return content
    parts: list[Json] = []
    for part in answer.content:
        if isinstance(part, ContentReasoning):
            parts.append(part)
    if isinstance(content, str):
        content = [ContentText(text=content)]
    return [*parts, *content]


def _remaining_calls(answer: ChatMessageAssistant, record: dict[str, Any]) -> list[ToolCall]:
    """The calls of an answer that its record still has, with the record's arguments."""
    functions: dict[str, Json] = {}
    for call_record in record.get("tool_calls") or ():
        call_id = call_record["id"]
        functions[call_id] = call_record["function"]
    calls: list[ToolCall] = []
    for call in answer.tool_calls or ():
        function = functions.get(call.id)
        if function is None:
            continue
        text = function["arguments"] or "{}"
        arguments = json.loads(text)
        present_call = replace(call, arguments=arguments)
        calls.append(present_call)
    return calls


def _settings(options: Json) -> Settings:
    """The host's settings at this moment."""
    if options is None:
        return Settings()
    settings: Settings = options
    if callable(options):
        settings = options()
    return settings


def _record(message: ChatMessage) -> dict[str, Any]:
    """A message as a record; what is neither text, picture nor thought is counted as text."""
    record: dict[str, Any] = {"role": message.role, "id": message.id}
    thoughts: list[str] = []
    parts: list[dict[str, Any]] = []
    for part in message.content_list:
        if isinstance(part, ContentReasoning):
            thoughts.append(part.reasoning)
        else:
            part_record = _part(part)
            parts.append(part_record)
    record["content"] = parts
    if isinstance(message.content, str):
        record["content"] = message.content
    if any(thoughts):
        record["reasoning_content"] = "\n".join(thoughts)
    if isinstance(message, ChatMessageTool):
        record["tool_call_id"] = message.tool_call_id or ""
        record["name"] = message.function or ""
        if message.error is not None and not record["content"]:
            record["content"] = message.error.message
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        record["tool_calls"] = list(map(_call_record, message.tool_calls))
    return record


def _call_record(call: ToolCall) -> dict[str, Any]:
    """A call as a record has it."""
    arguments = json.dumps(call.arguments)
    function = {"name": call.function, "arguments": arguments}
    return {
        "id": call.id,
        "type": "function",
        "function": function,
    }


def _part(part: Json) -> dict[str, Any]:
    """A part of a content as a part of a record."""
    if isinstance(part, ContentText):
        return {"type": "text", "text": part.text}
    if isinstance(part, ContentImage):
        picture = {"url": part.image}
        return {"type": "image_url", "image_url": picture}
    text = part.model_dump_json()
    return {"type": "text", "text": text}


def _content(part: dict[str, Any]) -> Json:
    """A part of a changed record as a part of a content."""
    if part["type"] == "image_url":
        address = part["image_url"]["url"]
        return ContentImage(image=address)
    text = part.get("text", "")
    return ContentText(text=text)
