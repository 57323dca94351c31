"""Messages as frameworks and providers keep them, where they are neither OpenAI's nor Anthropic's.

Read are LangChain's (1.x: `messages_to_dict`, `dumpd` and `model_dump`), pydantic-ai's (2.x: `all_messages_json`), the
Vercel AI SDK's model messages (5 and 6) and UI messages, Bedrock's Converse, Gemini's contents, and ShareGPT's turns.
"""

import re
from collections.abc import Iterator, Mapping

from workbench.engine.transcript.message import Json, Text, ToolResult
from workbench.recordings.importers.blocks import (
    Content,
    add_part,
    content,
    result_blocks,
    text_block,
    thought_block,
    tool_call,
    tool_result,
)
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.described import DescribedBuilder, MessageShape, is_value
from workbench.recordings.importers.message_lists import starts_with_messages
from workbench.recordings.importers.source import Head, SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import decode_or, first_value, identifier, label, objects, text

LANGCHAIN = MessageShape(
    inside="data kwargs",
    role="type",
    model="response_metadata/model_name response_metadata/model",
    stop="response_metadata/finish_reason response_metadata/stop_reason",
    thinking="additional_kwargs/reasoning_content",
    calls="tool_calls additional_kwargs/tool_calls",
    failed="status=error",
    summary="additional_kwargs/lc_source=summarization",
    usage=UsageFields(
        "input_tokens",
        "output_tokens",
        "input_token_details/cache_read",
        "input_token_details/cache_creation",
        reasoning="output_token_details/reasoning",
        cache_in_input=True,
    ),
    usage_in="usage_metadata",
)
_LANGCHAIN_CLASS = re.compile(r"(?P<role>Human|AI|System|Tool|Function)Message(?:Chunk)?")
_LANGCHAIN_TYPE = re.compile(r'"type":\s*"(?:human|ai|system|tool|AIMessageChunk)"')
_LANGCHAIN_MARK = re.compile(r'"additional_kwargs":\s*\{|"lc":\s*1,')

PYDANTIC_USAGE = UsageFields(
    "input_tokens request_tokens",
    "output_tokens response_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    reasoning="output_reasoning_tokens",
    cache_write_long="cache_write_1h_tokens",
    cache_in_input=True,
)
_CALLS = frozenset({"tool-call", "builtin-tool-call"})
_RETURNS = frozenset({"tool-return", "builtin-tool-return"})

_VERCEL = re.compile(r'"type":\s*"tool-(?:call|result)"')
_UI_PART = re.compile(
    r'"parts":\s*\[\s*\{[^{}]*?"type":\s*"(?:text|reasoning|file|step-start|source-|data-|tool-|dynamic-tool)'
)
_GEMINI_PART = re.compile(
    r'"parts":\s*\[\s*\{\s*"(?:text|functionCall|function_call|functionResponse|function_response|inlineData|'
    r'inline_data|thought)"'
)
GEMINI_LISTS = ("contents", "history")

SHAREGPT_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("human", "user", "prompter"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model", "bing", "bard"), "assistant"),
    **dict.fromkeys(("tool", "observation", "function_response", "ipython"), "tool"),
    "system": "system",
    "function_call": "call",
}
SHAREGPT_LISTS = ("conversations", "conversation")
_TOOL_CALL = re.compile(r"<tool_call>\s*(?P<call>\{.*?\})\s*</tool_call>", re.DOTALL)
_TOOL_RESPONSE = re.compile(r"<tool_response>\s*(?P<words>.*?)\s*</tool_response>", re.DOTALL)
_THINK = re.compile(r"<think>\s*(?P<thought>.*?)\s*</think>", re.DOTALL)


def knows_langchain(head: Head) -> bool:
    """Whether its messages have LangChain's types and its own fields beside them."""
    holds_messages = head.is_list or bool(head.records) or "messages" in head.keys
    types = _LANGCHAIN_TYPE.search(head.text) or ('"lc":' in head.text and _LANGCHAIN_CLASS.search(head.text))
    if {"run_type", "inputs"} <= head.keys:
        return False
    return holds_messages and types is not None and _LANGCHAIN_MARK.search(head.text) is not None


class LangChainBuilder(DescribedBuilder):
    """Reads messages, each in one of LangChain's three forms."""

    shape = LANGCHAIN
    usage_fields = LANGCHAIN.usage

    def role_of(self, record: Mapping[str, Json], message: Mapping[str, Json]) -> str:
        """The type of the message, or the class that made it."""
        type_ = label(message, "type") or label(record, "type")
        names = record.get("id")
        if type_ in ("", "constructor") and isinstance(names, list) and names:
            type_ = str(names[-1])
        found = _LANGCHAIN_CLASS.fullmatch(type_)
        return found["role"].lower() if found else type_


def knows_pydantic(head: Head) -> bool:
    """Whether its messages are requests and responses of typed parts."""
    return {"parts", "kind"} <= head.keys and '"part_kind"' in head.text


class PydanticBuilder(ChatBuilder):
    """Reads requests, each with what is new in it, and responses."""

    usage_fields = PYDANTIC_USAGE

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message. Instructions are sent with each request, and read where they change."""
        self.time = self.source.time(record, "timestamp")
        kind = label(record, "kind")
        if kind == "response":
            self._response(record)
        elif kind == "request":
            instructions = text(record, "instructions")
            if instructions and instructions not in self._instructions():
                self.say_text("system", instructions)
            for part in objects(record, "parts"):
                self._request_part(part)
        else:
            self.source.leave_record(f"message of kind {kind!r:.40}", record)

    def _instructions(self) -> list[str]:
        systems = (entry.message for entry in self.log if entry.type == "message" and entry.message.role == "system")
        return [block.text for message in systems for block in message.blocks if isinstance(block, Text)]

    def _request_part(self, part: Mapping[str, Json]) -> None:
        kind = label(part, "part_kind")
        self.time = self.source.time(part, "timestamp") or self.time
        if kind == "system-prompt":
            self.say_text("system", text(part, "content"))
        elif kind == "user-prompt":
            self.say_content("user", _prompt(part.get("content")))
        elif kind in _RETURNS:
            self.say(tool_result({**part, "is_error": label(part, "outcome") in ("failed", "denied")}))
        elif kind == "retry-prompt" and part.get("tool_name"):
            blocks = result_blocks(part.get("content"))
            self.say(ToolResult(id="", call_id=identifier(part, "tool_call_id"), blocks=blocks, is_error=True))
        elif kind == "retry-prompt":
            self.synthetic = True
            blocks = result_blocks(part.get("content"))
            self.say_content("user", Content([*blocks]), synthetic=True)
        else:
            self.source.leave_record(f"part of kind {kind!r:.40}", part)

    def _response(self, record: Mapping[str, Json]) -> None:
        found = Content()
        for part in objects(record, "parts"):
            kind = label(part, "part_kind")
            if kind == "text":
                found.blocks += text_block(text(part, "content"))
            elif kind == "thinking":
                found.blocks += thought_block(text(part, "content"), text(part, "signature"))
            elif kind in _CALLS:
                found.blocks.append(tool_call({**part, "name": part.get("tool_name")}))
            elif kind in _RETURNS:
                found.results.append(tool_result({**part, "name": part.get("tool_name")}))
            else:
                self.source.leave_record(f"part of kind {kind!r:.40}", part)
        model, usage = self.source.name(record, "model_name"), self.usage(record)
        self.say_content("assistant", found, model=model, usage=usage, stop=self.source.name(record, "finish_reason"))


def _prompt(value: Json) -> Content:
    """What a user's prompt holds: text, or texts and media."""
    found = Content()
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, dict) and "kind" in part:
            shaped = {**part, "type": "file", "mime_type": part.get("media_type")}
            add_part(found, shaped)
        elif part:
            add_part(found, part)
    return found


def knows_vercel(head: Head) -> bool:
    """Whether its messages have the SDK's calls or results."""
    return starts_with_messages(head) and '"toolCallId"' in head.text and _VERCEL.search(head.text) is not None


def knows_vercel_ui(head: Head) -> bool:
    """Whether its messages have typed parts, as the SDK's hooks keep them."""
    holds_messages = {"role", "parts"} <= head.keys or ("messages" in head.keys and "info" not in head.keys)
    return holds_messages and '"role"' in head.text and _UI_PART.search(head.text) is not None


class VercelUiBuilder(ChatBuilder):
    """Reads messages; an answer's parts are those of all steps that it took."""

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message; each step of an answer is one."""
        if record.get("role") != "assistant":
            parts = [part for part in objects(record, "parts") if not self._is_client_only(part)]
            super().read({**record, "parts": parts, "timestamp": record.get("createdAt")})
            return
        self.time = self.source.time(record, "createdAt")
        for step in _steps(objects(record, "parts")):
            found = Content()
            for part in step:
                self._part(found, part)
            if found.blocks or found.results or found.unknown:
                self.say_content("assistant", found, id=identifier(record, "id"))

    def _is_client_only(self, part: Mapping[str, Json]) -> bool:
        """Whether a part is data for the page alone."""
        is_data = label(part, "type").startswith(("data-", "source-"))
        if is_data:
            self.source.leave_record(f"part of type {label(part, 'type')!r:.40}", part)
        return is_data

    def _part(self, found: Content, part: Mapping[str, Json]) -> None:
        type_ = label(part, "type")
        if type_ != "dynamic-tool" and not type_.startswith("tool-"):
            if not self._is_client_only(part):
                add_part(found, dict(part))
            return
        name = label(part, "toolName") or type_.removeprefix("tool-")
        call = tool_call({"id": part.get("toolCallId"), "name": name, "input": part.get("input")})
        found.blocks.append(call)
        failed = part.get("errorText") is not None
        value = part.get("errorText") if failed else part.get("output")
        if value is not None:
            blocks = result_blocks(value)
            found.results.append(ToolResult(id="", call_id=call.id, blocks=blocks, name=name, is_error=failed))


def _steps(parts: list[dict[str, Json]]) -> Iterator[list[dict[str, Json]]]:
    """The parts of each request that an answer took."""
    step: list[dict[str, Json]] = []
    for part in parts:
        if part.get("type") == "step-start":
            yield step
            step = []
        else:
            step.append(part)
    yield step


def knows_bedrock(head: Head) -> bool:
    """Whether its messages have Converse's calls or results."""
    return starts_with_messages(head) and '"toolUseId"' in head.text


def knows_gemini(head: Head) -> bool:
    """Whether it is contents of untyped parts."""
    holds_contents = {"role", "parts"} <= head.keys or "contents" in head.keys
    return holds_contents and '"role"' in head.text and _GEMINI_PART.search(head.text) is not None


class GeminiBuilder(ChatBuilder):
    """Reads contents, and the instruction before them."""

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the system instruction."""
        super().begin(document)
        instruction = first_value(document, "systemInstruction system_instruction config/systemInstruction")
        parts = {"content": instruction} if isinstance(instruction, str) else instruction
        if isinstance(parts, dict):
            self.say_content("system", content(parts, "parts" if "parts" in parts else "content"))


def knows_sharegpt(head: Head) -> bool:
    """Whether it is conversations of turns that say from whom they are."""
    holds_turns = bool(set(SHAREGPT_LISTS) & head.keys) or {"from", "value"} <= head.keys
    return holds_turns and '"from"' in head.text and '"value"' in head.text


class ShareGptBuilder(ChatBuilder):
    """Reads turns; calls are turns of their own, or stand in the text as Hermes writes them."""

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one turn."""
        speaker, words = label(record, "from"), text(record, "value")
        role = SHAREGPT_ROLES.get(speaker)
        if role is None:
            self.source.leave_record(f"turn from {record.get('from')!r:.40}", record)
        elif role == "call":
            calls = decode_or(words)
            listed = calls if isinstance(calls, list) else [calls]
            shaped = [tool_call(call) for call in listed if isinstance(call, dict)]
            self.say_content("assistant", Content([*shaped] or [*text_block(words)]))
        elif role == "assistant":
            self.say_content("assistant", _hermes_answer(words))
        elif role == "tool":
            responses = [found["words"] for found in _TOOL_RESPONSE.finditer(words)] or [words]
            for response in responses:
                self.say(ToolResult(id="", call_id="", blocks=tuple(text_block(response))))
        else:
            self.say_text(role, words)


def _hermes_answer(words: str) -> Content:
    """An answer whose thoughts and calls are tagged in its text."""
    thoughts = [found["thought"] for found in _THINK.finditer(words)]
    calls = [decode_or(found["call"]) for found in _TOOL_CALL.finditer(words)]
    if not all(isinstance(call, dict) for call in calls):
        return Content([*text_block(words)])
    rest = _TOOL_CALL.sub("", _THINK.sub("", words)).strip()
    blocks = [block for thought in thoughts for block in thought_block(thought)]
    return Content([*blocks, *text_block(rest), *(tool_call(call) for call in calls)])


ROO = MessageShape(time="ts", model="modelInfo/modelId", summary="isSummary", usage_in="metrics/tokens")
_ROO_MARKS = ('"condenseParent"', '"condenseId"', '"isSummary"', '"truncationParent"', '"isTruncationMarker"')


class RooBuilder(DescribedBuilder):
    """Reads the messages of a task; those that a summary replaced stand before it."""

    shape = ROO
    usage_fields = UsageFields("prompt", "completion", "cached", cache_in_input=True)

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.replaced: dict[str, set[str]] = {}

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message; a summary, or the mark of a truncation, replaces those that name it."""
        known = set(self.ids)
        if is_value(record, "isTruncationMarker"):
            self._compaction(None, label(record, "truncationId"))
        elif is_value(record, "isSummary"):
            self.time = self.source.time(record, "ts")
            self._compaction(content(record).words, label(record, "condenseId"))
        else:
            super().read(record)
        for field in ("condenseParent", "truncationParent"):
            if name := label(record, field):
                self.replaced.setdefault(name, set()).update(set(self.ids) - known)

    def _compaction(self, summary: str | None, name: str) -> None:
        replaced = self.replaced.get(name, set())
        kept = tuple(entry_id for entry_id in self.ids if entry_id not in replaced) if replaced else self.system_ids
        self.compaction(summary, kept=kept)


def knows_roo(head: Head) -> bool:
    """Whether its messages have the time, and marks of condensing or the model that only these agents write."""
    if not head.is_list or not {"role", "content"} <= head.keys:
        return False
    return "ts" in head.keys or any(mark in head.text for mark in _ROO_MARKS)
