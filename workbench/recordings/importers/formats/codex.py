"""Sessions of OpenAI's Codex, the command line and the desktop; and items of OpenAI's Responses
API, which it writes.

Read are the rollout files under `~/.codex/sessions`, versions 0.119 to 0.142, JSON lines of items
and events, and the bare items of older ones; of the API a request's `input`, its `output`, or a
list of items.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

from workbench.engine.transcript.log import MessageEntry
from workbench.engine.transcript.message import Json, Text, Thinking, ToolCall, Usage, plain_text
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import KINDS, Content, add_part, content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import Head, SourceFile
from workbench.recordings.importers.usage import OPENAI_USAGE
from workbench.recordings.importers.values import as_object, items, label, mapping, objects, text

IGNORED = frozenset({"ghost_snapshot", "other", "compaction_trigger"})
_CLIENT = re.compile(
    r"\s*(?:# AGENTS\.md instructions|<(?:[a-z]+_[a-z_]+|permissions"
    r" instructions|skill|turn_aborted)>)"
)
_EXIT = re.compile(r"(?:Exit code:|exited with code|\"exit_code\":) ?(-?\d+)")
_HEADER = 300
_ROLES = ("assistant", "developer", "system", "user")

_ITEM_TYPES = tuple(
    f'"{name}"'
    for name in (
        "function_call",
        "function_call_output",
        "input_text",
        "output_text",
        "custom_tool_call",
    )
)


class CodexBuilder(SessionBuilder):
    """Reads items; those of one answer are gathered until the next begins."""

    about = {"id": "id", "cwd": "cwd"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.meta: Mapping[str, Json] = {}
        self.gathered = Content()
        self.usage: Usage | None = None
        self.began: float | None = None
        self.last_prompt: int | None = None
        self.reported: dict[str, Usage] = {}
        self.compacted: Mapping[str, Json] = {}

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read what the first record says that tells of the session."""
        if self.meta:
            return
        self.meta = document
        super().begin(document)
        if instructions := text(document, "base_instructions/text", "instructions"):
            self.say_text("system", instructions)

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one line: an item, an event, or what is known of the session."""
        type_, payload = text(record, "type"), mapping(record, "payload")
        if type_ != "token_usage_record":
            self._compact()
        self.time = self.source.time(record, "timestamp")
        if type_ == "token_usage_record":
            self._reported(payload)
        elif type_ == "response_item":
            self._item(payload)
        elif type_ == "session_meta":
            self.begin(mapping(payload, "meta") or payload)
        elif type_ == "turn_context":
            self.close()
            self.model = text(payload, "model") or self.model
        elif type_ == "event_msg":
            self._event(payload)
        elif type_ == "compacted":
            self.compacted = payload
        elif "payload" not in record and (type_ in KINDS or type_ == "message"):
            self._item(record)
        elif "instructions" in record and not self.meta:
            self.begin(record)
        elif "record_type" not in record:
            self.source.unknown[f"record of type {type_!r}"] += 1

    def _event(self, payload: Mapping[str, Json]) -> None:
        match text(payload, "type"):
            case (
                "message"
                | "reasoning"
                | "function_call"
                | "function_call_output"
                | "custom_tool_call" as item
            ):
                self.source.unknown[f"event of type {item!r}"] += 1
            case "token_count":
                info = mapping(payload, "info")
                self.window = self.source.count(info, "model_context_window") or self.window
                usage = self.source.usage(OPENAI_USAGE, info, "last_token_usage")
                self.usage = usage if usage is not None and self.gathered.blocks else self.usage
            case "task_started":
                self.close()
                self.window = self.source.count(payload, "model_context_window") or self.window
            case "turn_aborted":
                self.close()
                self.note("turn_aborted", text(payload, "reason"))

    def _item(self, payload: Mapping[str, Json]) -> None:
        type_ = text(payload, "type")
        if type_ == "message" and label(payload, "role") not in _ROLES:
            self.source.leave_record(f"message of role {payload.get('role')!r:.40}", payload)
            return
        if type_ == "message" and text(payload, "role") != "assistant":
            self.close()
            role, parts, fields = self._message(payload)
            self.say_content(role, parts, **fields)
            return
        parts = Content()
        if type_ == "message":
            parts = content(payload)
        elif type_ not in IGNORED:
            add_part(parts, payload)
        self.source.leave_unknown(parts.unknown)
        if parts.blocks and (self.usage is not None or self.gathered.results):
            self.close()
        if parts.blocks and self.began is None:
            self.began = self.time
        for block in parts.blocks:
            if isinstance(block, ToolCall) and not block.id:
                block = replace(block, id=self._call_id(type_))
            self.gathered.blocks += [block] if block != Thinking("") else []
        for result in parts.results:
            code = _EXIT.search(plain_text(result)[:_HEADER])
            failed = code is not None and code[1] != "0"
            self.gathered.results.append(replace(result, is_error=failed, time=self.time))

    def _call_id(self, type_: str) -> str:
        """An id for a call without one, that no other call of this answer has."""
        used = {call.id for call in self.gathered.blocks if isinstance(call, ToolCall)}
        name = base = f"{type_}-{len(self.log)}"
        for number in count(2):
            if name not in used:
                break
            name = f"{base}~{number}"
        return name

    def _message(self, payload: Mapping[str, Json]) -> tuple[str, Content, dict[str, Json]]:
        """The role of a message item, its content, and the further fields of the message."""
        parts, role = content(payload), text(payload, "role")
        if role in ("developer", "system"):
            return "system", parts, {}
        if role == "assistant":
            return "assistant", Content([*parts.said], unknown=parts.unknown), {"model": self.model}
        first_text = next((block.text for block in parts.said if isinstance(block, Text)), "")
        return "user", parts, {"synthetic": _CLIENT.match(first_text) is not None}

    def _reported(self, payload: Mapping[str, Json]) -> None:
        """Read what one response used; that of a compaction is in no total, and in no other
        record.
        """
        usage = self.source.usage(OPENAI_USAGE, payload, "usage")
        if usage is not None:
            self.reported[text(payload, "response_id")] = usage

    def _compact(self) -> None:
        """Read the compaction whose usage was waited for."""
        payload, self.compacted = self.compacted, {}
        if payload:
            self._compacted(payload)

    def close(self) -> None:
        """Write what is waiting: a compaction, or an answer and behind it the results of its
        calls.
        """
        self._compact()
        if self.gathered.blocks or self.gathered.results:
            model, usage, time = self.model, self.usage, self.began
            self.say_content("assistant", self.gathered, model=model, usage=usage, time=time)
        self.last_prompt = self.usage.prompt if self.usage is not None else self.last_prompt
        self.gathered, self.usage, self.began = Content(), None, None

    def _compacted(self, payload: Mapping[str, Json]) -> None:
        """Read a compaction: it lists what the model is sent from now on, old messages and new
        ones.
        """
        self.close()
        summary, sealed = text(payload, "message"), 0
        entry_ids: dict[tuple[str, str], list[str]] = defaultdict(list)
        for entry in self.log:
            if isinstance(entry, MessageEntry):
                entry_ids[entry.message.role, plain_text(entry.message)].append(entry.id)
        kept_ids: list[str] = []
        added: list[tuple[str, Content, dict[str, Json]]] = []
        for item in objects(payload, "replacement_history"):
            if text(item, "type") == "message" and label(item, "role") in _ROLES:
                role, parts, fields = self._message(item)
                if same := entry_ids[role, parts.words]:
                    kept_ids.append(same.pop())
                else:
                    added.append((role, parts, fields))
            elif text(item, "type") in ("compaction", "compaction_summary"):
                sealed += len(text(item, "encrypted_content"))
                summary = summary or text(item, "summary")
        usage = self.reported.get(text(payload, "compaction_response_id"))
        self.compaction(
            summary or None, kept=tuple(kept_ids), tokens_before=self.last_prompt, usage=usage
        )
        if not summary:
            self.note(
                "hidden_summary",
                f"encrypted, {sealed} characters" if sealed else "not in the recording",
            )
        for role, parts, fields in added:
            self.say_content(role, parts, **fields)


class ResponsesBuilder(CodexBuilder):
    """Reads items as Codex writes them; a compaction among them stands for all before it."""

    about = {"id": "id", "model": "model"}

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the instructions, the model and the id."""
        self.time = self.source.time(document, "created_at")
        super().begin(document)

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one item."""
        if not text(record, "type") and not text(record, "role"):
            self.source.leave_record("item without a type and a role", record)
        elif text(record, "type") in ("compaction", "compaction_summary"):
            self._compacted({"message": text(record, "summary"), "replacement_history": [record]})
        else:
            self._item({"type": "message", **record})


def knows_responses(head: Head) -> bool:
    """Whether it is a list of items, or an object with `input` or `output` that has some."""
    listed = {"input", "output"} & head.keys if not head.is_list else {"type", "role"} & head.keys
    return bool(listed) and any(
        f'"type":{space}{name}' in head.text for name in _ITEM_TYPES for space in ("", " ")
    )


def responses_sessions(source: SourceFile) -> Iterator[Session]:
    """The one conversation of a file: its input, and what came out."""
    document = source.document()
    response: Mapping[str, Json] = (
        {"input": document} if isinstance(document, list) else as_object(document)
    )
    built = ResponsesBuilder(source)
    with source.at():
        built.begin(response)
        prompt = response.get("input")
        built.read_all(
            (
                [{"role": "user", "content": prompt}]
                if isinstance(prompt, str)
                else items(response, "input")
            ),
            "input",
        )
        built.read_all(items(response, "output"), "output")
        built.usage = source.usage(OPENAI_USAGE, response, "usage")
        yield built.session()
