"""Sessions of OpenAI's Codex, the command line and the desktop: JSON lines of items and events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.importers.content import arguments, as_json, content, result_blocks
from workbench.importers.fields import (
    block_texts,
    epoch,
    inner,
    known_id,
    label,
    maybe_whole,
    objects,
    openai_usage,
    words,
)
from workbench.importers.growth import Growth, main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source
from workbench.transcript.log import CompactionEntry, MessageEntry, NoteEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    Message,
    SaidBlock,
    Summary,
    SystemMessage,
    Text,
    Thinking,
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


class Codex:
    """The rollout files under `~/.codex/sessions`, versions 0.119 to 0.142, and the bare items of older ones."""

    name: ClassVar[str] = "codex"
    description: ClassVar[str] = "OpenAI Codex rollouts (JSON lines)"
    carries: ClassVar[tuple[Carries, ...]] = (
        "calls", "thinking", "images", "usage", "times", "model", "compactions", "system",
    )  # fmt: skip

    def knows(self, head: str) -> bool:
        """Whether the lines are wrapped items, or bare ones behind a header."""
        records, keys = seen(head).records, seen(head).keys
        if any(label(record, "type") in LINES and "payload" in record for record in records):
            return True
        if keys >= {"timestamp", "type", "payload"}:
            return True
        return {"id", "timestamp", "instructions"} <= keys and not seen(head).is_list

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        reading = _Reading(source)
        for line, record in source.records():
            with source.at(line):
                reading.hear(record)
        yield reading.session()


class _Reading:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.growth = Growth()
        self.meta: Mapping[str, Json] = {}
        self.model = ""
        self.window: int | None = None
        self.names: dict[str, str] = {}
        self.blocks: list[AnswerBlock] = []
        self.results: list[ToolResult] = []
        self.usage: Usage | None = None
        self.began: float | None = None
        self.answered = False

    def hear(self, record: Mapping[str, Json]) -> None:
        type_ = words(record, "type")
        payload = inner(record, "payload")
        time = epoch(record, "timestamp")
        if type_ == "response_item":
            self.item(payload, time)
        elif type_ == "session_meta":
            self._meta(inner(payload, "meta") or payload, time)
        elif type_ == "turn_context":
            self.close()
            self.model = words(payload, "model") or self.model
        elif type_ == "event_msg":
            self._event(payload, time)
        elif type_ == "compacted":
            self._compacted(payload, time)
        elif "payload" not in record and type_ in MODEL_ITEMS | OUTPUTS | {"message"}:
            self.item(record, time)
        elif "instructions" in record and not self.meta:
            self._meta({**record, "base_instructions": {"text": words(record, "instructions")}}, time)
        elif "record_type" not in record:
            self.source.unknown[f"record of type {type_!r}"] += 1

    def _meta(self, payload: Mapping[str, Json], time: float | None) -> None:
        if self.meta:
            return
        self.meta = payload
        text = words(inner(payload, "base_instructions"), "text")
        if text:
            self.growth.say(SystemMessage(id="", blocks=(Text(text),), time=time))

    def _event(self, payload: Mapping[str, Json], time: float | None) -> None:
        type_ = words(payload, "type")
        if type_ == "token_count":
            info = inner(payload, "info")
            self.window = maybe_whole(info, "model_context_window") or self.window
            usage = openai_usage(inner(info, "last_token_usage"))
            if usage is not None and self.blocks:
                self.usage, self.answered = usage, True
        elif type_ == "task_started":
            self.close()
            self.window = maybe_whole(payload, "model_context_window") or self.window
        elif type_ == "turn_aborted":
            self.close()
            self.growth.note(NoteEntry(id="", parent=None, kind=type_, text=words(payload, "reason"), time=time))

    def item(self, payload: Mapping[str, Json], time: float | None) -> None:
        """One item of the conversation. Those of one answer are gathered until the next begins."""
        type_ = words(payload, "type")
        if type_ == "message" and words(payload, "role") != "assistant":
            self.close()
            self.growth.say(self._message(payload, time))
        elif type_ in MODEL_ITEMS or type_ == "message":
            if self.answered or (self.results and self.usage is None):
                self.close()
            self.began = time if self.began is None else self.began
            self.blocks += self._spoken(type_, payload)
        elif type_ in OUTPUTS:
            self._output(payload, time)
        elif type_ not in IGNORED:
            self.source.unknown[f"item of type {type_!r}"] += 1

    def _message(self, payload: Mapping[str, Json], time: float | None) -> Message:
        found = content(payload)
        self.source.unknown.update(found.unknown)
        if words(payload, "role") in ("developer", "system"):
            return SystemMessage(id="", blocks=found.said, time=time)
        if words(payload, "role") == "assistant":
            return AssistantMessage(id="", blocks=found.said, time=time, model=self.model)
        text = next((block.text for block in found.said if isinstance(block, Text)), "")
        return UserMessage(id="", blocks=found.said, synthetic=_CLIENT.match(text) is not None, time=time)

    def _spoken(self, type_: str, payload: Mapping[str, Json]) -> list[AnswerBlock]:
        if type_ == "message":
            found = content(payload)
            self.source.unknown.update(found.unknown)
            return found.blocks
        if type_ == "reasoning":
            text = "\n".join(t for name in ("summary", "content") if (t := block_texts(payload, name)))
            seal = words(payload, "encrypted_content")
            return [Thinking(text, seal)] if text or seal else []
        call_id = known_id(payload, "call_id") or known_id(payload, "id") or f"{type_}-{len(self.growth.log)}"
        name = words(payload, "name") or type_.removesuffix("_call")
        given = next((payload[key] for key in ("arguments", "input", "action") if payload.get(key) is not None), None)
        self.names[call_id] = name
        return [ToolCall(call_id, name, arguments(given))]

    def _output(self, payload: Mapping[str, Json], time: float | None) -> None:
        call_id = known_id(payload, "call_id")
        blocks = _result(payload)
        head = plain_text(UserMessage(id="", blocks=blocks))[:_HEADER]
        code = _EXIT.search(head)
        self.results.append(
            ToolResult(
                id="",
                call_id=call_id,
                blocks=blocks,
                name=self.names.get(call_id, ""),
                is_error=code is not None and code[1] != "0",
                time=time,
            )
        )

    def close(self) -> None:
        """Write the answer that was gathered, and behind it the results of its calls."""
        if self.blocks:
            self.growth.say(
                AssistantMessage(id="", blocks=tuple(self.blocks), model=self.model, usage=self.usage, time=self.began)
            )
        for result in self.results:
            self.growth.say(result)
        self.blocks, self.results = [], []
        self.usage, self.began, self.answered = None, None, False

    def _compacted(self, payload: Mapping[str, Json], time: float | None) -> None:
        self.close()
        written = words(payload, "message")
        known: dict[tuple[str, str], list[str]] = {}
        for entry in self.growth.log:
            if isinstance(entry, MessageEntry):
                known.setdefault(_mark(entry.message), []).append(entry.id)
        kept: list[str] = []
        added: list[Message] = []
        sealed = 0
        for item in objects(payload, "replacement_history"):
            if words(item, "type") == "message":
                message = self._message(item, time)
                same = known.get(_mark(message), [])
                if same:
                    kept.append(same.pop())
                else:
                    added.append(message)
            elif words(item, "type") in ("compaction", "compaction_summary"):
                sealed += len(words(item, "encrypted_content"))
                written = written or words(item, "summary")
        entry_id = self.growth.fresh("")
        self.growth.note(
            CompactionEntry(
                id=entry_id,
                parent=None,
                summary=Summary(id=f"{entry_id}-summary", text=written, time=time) if written else None,
                kept=tuple(kept),
                tokens_before=self._last_prompt(),
                time=time,
            )
        )
        if not written:
            note = f"encrypted, {sealed} characters" if sealed else "not in the recording"
            self.growth.note(NoteEntry(id="", parent=None, kind="hidden_summary", text=note, time=time))
        for message in added:
            self.growth.say(message)

    def _last_prompt(self) -> int | None:
        for entry in reversed(tuple(self.growth.log)):
            if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage) and entry.message.usage:
                return entry.message.usage.prompt
        return None

    def session(self) -> Session:
        """What has been read."""
        self.close()
        cwd = words(self.meta, "cwd")
        log = self.growth.log
        return Session(
            id=known_id(self.meta, "id") or self.source.stem,
            log=log,
            model=main_model(log),
            window=self.window,
            cwd=cwd,
            project=project(cwd, self.source.folder),
        )


def _result(payload: Mapping[str, Json]) -> tuple[SaidBlock, ...]:
    output = payload.get("output")
    if isinstance(output, dict) and isinstance(output.get("content"), str):
        return result_blocks(output["content"])
    return result_blocks(output) if "output" in payload else result_blocks(as_json(payload.get("tools")))


def _mark(message: Message) -> tuple[str, str]:
    return message.role, plain_text(message)
