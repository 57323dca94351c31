"""Sessions of OpenAI's Codex, the command line and the desktop: JSON lines of items and events."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from workbench.importers.blocks import arguments, as_json, content, result_blocks, thought_block
from workbench.importers.format import LinesImporter
from workbench.importers.head import Head
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import Source
from workbench.importers.usage import OPENAI_USAGE
from workbench.importers.values import block_texts, identifier, label, mapping, objects, optional_count, text, timestamp
from workbench.transcript.log import MessageEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    Message,
    SaidBlock,
    SystemMessage,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    plain_text,
)
from workbench.transcript.session import Session

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"})
OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"}
)
MODEL_ITEMS = CALLS | {"reasoning"}
LINES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
IGNORED = frozenset({"ghost_snapshot", "other"})
_CLIENT = re.compile(
    r"\s*(?:# AGENTS\.md instructions|<(?:[a-z]+_[a-z_]+|permissions instructions|skill|turn_aborted)>)"
)
_EXIT = re.compile(r"(?:Exit code:|exited with code|\"exit_code\":) ?(-?\d+)")
_HEADER = 300


class CodexBuilder(SessionBuilder):
    """Reads items; those of one answer are gathered until the next begins."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.meta: Mapping[str, Json] = {}
        self.answering_model = ""
        self.blocks: list[AnswerBlock] = []
        self.results: list[ToolResult] = []
        self.usage: Usage | None = None
        self.began: float | None = None
        self.last_prompt: int | None = None

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one line: an item, an event, or what is known of the session."""
        type_, payload = text(record, "type"), mapping(record, "payload")
        self.time = timestamp(record, "timestamp")
        if type_ == "response_item":
            self._item(payload)
        elif type_ == "session_meta":
            self._meta(mapping(payload, "meta") or payload)
        elif type_ == "turn_context":
            self._close()
            self.answering_model = text(payload, "model") or self.answering_model
        elif type_ == "event_msg":
            self._event(payload)
        elif type_ == "compacted":
            self._compacted(payload)
        elif "payload" not in record and type_ in MODEL_ITEMS | OUTPUTS | {"message"}:
            self._item(record)
        elif "instructions" in record and not self.meta:
            self._meta({**record, "base_instructions": {"text": text(record, "instructions")}})
        elif "record_type" not in record:
            self.source.unknown[f"record of type {type_!r}"] += 1

    def _meta(self, payload: Mapping[str, Json]) -> None:
        if self.meta:
            return
        self.meta = payload
        instructions = text(mapping(payload, "base_instructions"), "text")
        if instructions:
            self.system([Text(instructions)])

    def _event(self, payload: Mapping[str, Json]) -> None:
        match text(payload, "type"):
            case "token_count":
                info = mapping(payload, "info")
                self.window = optional_count(info, "model_context_window") or self.window
                usage = OPENAI_USAGE.read(mapping(info, "last_token_usage"))
                self.usage = usage if usage is not None and self.blocks else self.usage
            case "task_started":
                self._close()
                self.window = optional_count(payload, "model_context_window") or self.window
            case "turn_aborted":
                self._close()
                self.note("turn_aborted", text(payload, "reason"))

    def _item(self, payload: Mapping[str, Json]) -> None:
        type_ = text(payload, "type")
        if type_ == "message" and text(payload, "role") != "assistant":
            self._close()
            self.say(self._message(payload))
        elif type_ in MODEL_ITEMS or type_ == "message":
            if self.usage is not None or self.results:
                self._close()
            self.began = self.time if self.began is None else self.began
            self.blocks += self._answer_blocks(type_, payload)
        elif type_ in OUTPUTS:
            self._output(payload)
        elif type_ not in IGNORED:
            self.source.unknown[f"item of type {type_!r}"] += 1

    def _message(self, payload: Mapping[str, Json]) -> Message:
        found = content(payload)
        self.source.unknown.update(found.unknown)
        role = text(payload, "role")
        if role in ("developer", "system"):
            return SystemMessage(id="", blocks=found.said, time=self.time)
        if role == "assistant":
            return AssistantMessage(id="", blocks=found.said, time=self.time, model=self.answering_model)
        first = next((block.text for block in found.said if isinstance(block, Text)), "")
        return UserMessage(id="", blocks=found.said, synthetic=_CLIENT.match(first) is not None, time=self.time)

    def _answer_blocks(self, type_: str, payload: Mapping[str, Json]) -> list[AnswerBlock]:
        if type_ == "message":
            found = content(payload)
            self.source.unknown.update(found.unknown)
            return found.blocks
        if type_ == "reasoning":
            thought = "\n".join(t for name in ("summary", "content") if (t := block_texts(payload, name)))
            return [*thought_block(thought, text(payload, "encrypted_content"))]
        call_id = identifier(payload, "call_id", "id") or f"{type_}-{len(self.log)}"
        name = text(payload, "name") or type_.removesuffix("_call")
        given = next((payload[key] for key in ("arguments", "input", "action") if payload.get(key) is not None), None)
        return [ToolCall(call_id, name, arguments(given))]

    def _output(self, payload: Mapping[str, Json]) -> None:
        call_id, blocks = identifier(payload, "call_id"), _result(payload)
        code = _EXIT.search(plain_text(UserMessage(id="", blocks=blocks))[:_HEADER])
        failed = code is not None and code[1] != "0"
        self.results.append(ToolResult(id="", call_id=call_id, blocks=blocks, is_error=failed, time=self.time))

    def _close(self) -> None:
        """Write the answer that was gathered, and behind it the results of its calls."""
        if self.blocks:
            blocks, model = tuple(self.blocks), self.answering_model
            self.say(AssistantMessage(id="", blocks=blocks, model=model, usage=self.usage, time=self.began))
        self.last_prompt = self.usage.prompt if self.usage is not None else self.last_prompt
        for result in self.results:
            self.say(result)
        self.blocks, self.results = [], []
        self.usage, self.began = None, None

    def _compacted(self, payload: Mapping[str, Json]) -> None:
        """Read a compaction: it lists what the model is sent from now on, old messages and new ones."""
        self._close()
        written, sealed = text(payload, "message"), 0
        known: dict[tuple[str, str], list[str]] = defaultdict(list)
        for entry in self.log:
            if isinstance(entry, MessageEntry):
                known[_key(entry.message)].append(entry.id)
        kept: list[str] = []
        added: list[Message] = []
        for item in objects(payload, "replacement_history"):
            if text(item, "type") == "message":
                message = self._message(item)
                same = known[_key(message)]
                if same:
                    kept.append(same.pop())
                else:
                    added.append(message)
            elif text(item, "type") in ("compaction", "compaction_summary"):
                sealed += len(text(item, "encrypted_content"))
                written = written or text(item, "summary")
        self.compaction(written or None, kept=tuple(kept), tokens_before=self.last_prompt)
        if not written:
            self.note("hidden_summary", f"encrypted, {sealed} characters" if sealed else "not in the recording")
        for message in added:
            self.say(message)

    def session(self) -> Session:
        """What has been read, with the answer that was still open."""
        self._close()
        self.id, self.cwd = identifier(self.meta, "id"), text(self.meta, "cwd")
        return super().session()


class Codex(LinesImporter):
    """The rollout files under `~/.codex/sessions`, versions 0.119 to 0.142, and the bare items of older ones."""

    name = "codex"
    description = "OpenAI Codex rollouts (JSON lines)"
    carries = ("calls", "thinking", "images", "usage", "times", "model", "compactions", "system")
    builder = CodexBuilder

    def knows(self, head: Head) -> bool:
        """Whether the lines are wrapped items, or bare ones behind a header."""
        if any(label(record, "type") in LINES and "payload" in record for record in head.records):
            return True
        return head.keys >= {"timestamp", "type", "payload"} or head.is_object_with("id", "timestamp", "instructions")


def _result(payload: Mapping[str, Json]) -> tuple[SaidBlock, ...]:
    output = payload.get("output")
    if isinstance(output, dict) and isinstance(output.get("content"), str):
        return result_blocks(output["content"])
    return result_blocks(output) if "output" in payload else result_blocks(as_json(payload.get("tools")))


def _key(message: Message) -> tuple[str, str]:
    return message.role, plain_text(message)
