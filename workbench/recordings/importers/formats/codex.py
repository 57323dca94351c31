"""Sessions of OpenAI's Codex, the command line and the desktop.

Read are the rollout files under `~/.codex/sessions`, versions 0.119 to 0.171, JSON lines of items
and events, and the bare items of older ones.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace

from workbench.engine.transcript.log import MessageEntry
from workbench.engine.transcript.message import Thinking, ToolCall, Usage, plain_text
from workbench.recordings.importers.blocks import KINDS, add_part, content
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.formats.hosted_tools import hosted_parts, is_hosted
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import OPENAI_USAGE
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    label,
    mapping,
    objects,
    text,
)

_RECORD_TYPES = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
)

IGNORED = frozenset({"ghost_snapshot", "other", "compaction_trigger"})
_CLIENT = re.compile(
    r"\s*(?:# AGENTS\.md instructions|<(?:[a-z]+_[a-z_]+|permissions"
    r" instructions|skill|turn_aborted)>)"
)
_EXIT = re.compile(r"(?:Exit code:|exited with code|\"exit_code\":) ?(-?\d+)")
_HEADER = 300
_ROLES = ("assistant", "developer", "system", "user")
_OF_CLIENT = frozenset({"world_state", "inter_agent_communication_metadata"})
"""Types of records that the client keeps for itself; what of them a model is told is a message."""
_OF_AN_AGENT = "agent_message"
"""An item with what another agent sent to this one, which its model reads as a user's words."""

_OF_A_REVIEW = "is of a request of a review, whose answer is in no file: it is in no bill"

_COPYING = 1.0
"""Seconds in which a fork writes all that it copied; the answer to a request takes longer."""
_ITEMS_ONLY = frozenset(
    {"message", "reasoning", "function_call", "function_call_output", "custom_tool_call"}
)
"""Types of items, which no event should have."""


@dataclass(frozen=True, slots=True)
class _Message:
    """A message item: who speaks, its content, and the further fields of the message."""

    role: str
    parts: Content
    fields: JsonObject = field(default_factory=dict)


class CodexBuilder(SessionBuilder):
    """Reads items; those of one answer are gathered until the next begins."""

    about = {"id": "id", "cwd": "cwd"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.meta: Record = {}
        self.answer = Content()
        self.usage: Usage | None = None
        self.session_total: Record = {}
        self.unanswered_usage: Usage | None = None
        self.answer_time: float | None = None
        self.last_prompt: int | None = None
        self.usage_of_response: dict[str, Usage] = {}
        self.pending_compaction: Record = {}
        self.instruction_ids: tuple[str, ...] = ()
        self.waiting: list[_Message] = []
        self.copied_until: float | None = None
        self.is_reviewing = False

    def begin(self, document: Record) -> None:
        """Read what the first record says that tells of the session."""
        if self.meta:
            return
        self.meta = document
        super().begin(document)
        self.forked_from = label(document, "forked_from_id")
        if self.forked_from and self.time is not None:
            self.copied_until = self.time + _COPYING
        instructions = text(document, "base_instructions/text", "instructions")
        if instructions:
            self.say_text("system", instructions)
            self.instruction_ids = self.ids[-1:]

    def read(self, record: Record) -> None:
        """Read one line: an item, an event, or what is known of the session."""
        type_ = text(record, "type")
        payload = mapping(record, "payload")
        if type_ != "token_usage_record":
            self._compact()
        self.time = self.source.time(record, "timestamp")
        match type_:
            case "token_usage_record":
                self._reported(payload)
            case "response_item":
                self._item(payload)
            case "session_meta":
                self.begin(mapping(payload, "meta") or payload)
            case "turn_context":
                self.close()
                self.model = text(payload, "model") or self.model
            case "event_msg":
                self._event(payload)
            case "compacted":
                self.pending_compaction = payload
            case _:
                self._bare(record, type_)

    def _bare(self, record: Record, type_: str) -> None:
        """Read a line of an older version: an item itself, or what is known of the session."""
        if "payload" not in record and (type_ in KINDS or type_ == "message"):
            self._item(record)
        elif "instructions" in record and not self.meta:
            self.begin(record)
        elif type_ not in _OF_CLIENT and "record_type" not in record:
            self.source.unknown[f"record of type {type_!r}"] += 1

    def _event(self, payload: Record) -> None:
        type_ = text(payload, "type")
        match type_:
            case "token_count":
                info = mapping(payload, "info")
                self.window = self.source.count(info, "model_context_window") or self.window
                self._count(info)
            case "task_started":
                self.close()
                self.window = self.source.count(payload, "model_context_window") or self.window
            case "turn_aborted":
                self.close()
                self.note("turn_aborted", text(payload, "reason"))
            case "entered_review_mode" | "exited_review_mode":
                self.is_reviewing = type_ == "entered_review_mode"
            case _ if type_ in _ITEMS_ONLY:
                self.source.unknown[f"event of type {type_!r}"] += 1

    def _count(self, info: Record) -> None:
        """Read what the newest request used. An event that repeats the session's total tells of no
        new one; a second request after an answer is that of a compaction.
        """
        total = mapping(info, "total_token_usage")
        if total and total == self.session_total:
            return
        self.session_total = total
        usage = self.source.usage(OPENAI_USAGE, info, "last_token_usage")
        if usage is None:
            return
        if self.is_reviewing:
            self.source.note(_OF_A_REVIEW, field="payload.info.last_token_usage")
        elif self.answer.blocks and self.usage is None:
            self.usage = usage
        elif usage != self.usage:
            self.unanswered_usage = usage

    def _item(self, payload: Record) -> None:
        type_ = text(payload, "type")
        is_message = type_ == "message"
        if is_message and label(payload, "role") not in _ROLES:
            self.source.leave_record(f"message of role {payload.get('role')!r:.40}", payload)
            return
        if type_ == _OF_AN_AGENT or (is_message and label(payload, "role") != "assistant"):
            self._said_by_client(self._message(payload))
            return
        parts = Content()
        if is_message:
            parts = content(payload)
        elif is_hosted(payload):
            parts = hosted_parts(payload)
        elif type_ not in IGNORED:
            add_part(parts, payload)
        self.source.leave_unknown(parts.unknown)
        self._gather(type_, parts)

    def _said_by_client(self, message: _Message) -> None:
        """Say a message of the client. One between a call and its result, as where a command was
        approved for good, waits for the result: the usage of the answer is told behind it.
        """
        called_ids = {call.id for call in self.answer.calls}
        result_ids = {result.call_id for result in self.answer.results}
        if self.usage is None and called_ids - result_ids:
            timed = {**message.fields, "time": self.time}
            self.waiting.append(replace(message, fields=timed))
            return
        self.close()
        self._say(message)

    def _gather(self, type_: str, parts: Content) -> None:
        """Put what an item of this type holds to the answer that is gathered."""
        if parts.blocks and self._is_answered():
            self.close()
        self.unanswered_usage = None
        if parts.blocks and self.answer_time is None:
            self.answer_time = self.time
        for block in parts.blocks:
            if isinstance(block, ToolCall) and not block.id:
                block = replace(block, id=self._call_id(type_))
            if block != Thinking(""):
                self.answer.blocks.append(block)
        for result in parts.results:
            exit_code = _EXIT.search(plain_text(result)[:_HEADER])
            failed = exit_code is not None and exit_code[1] != "0"
            result = replace(result, is_error=failed, time=self.time)
            self.answer.results.append(result)

    def _is_answered(self) -> bool:
        """Whether the answer that is gathered has ended: what follows is of the next one."""
        if self.usage is not None:
            return True
        if self.answer.results:
            return True
        waiting_roles = {message.role for message in self.waiting}
        return "user" in waiting_roles

    def _call_id(self, type_: str) -> str:
        """An id for a call without one, that no other call of this answer has."""
        used_ids = {call.id for call in self.answer.calls}
        base = f"{type_}-{len(self.log)}"
        call_id = base
        number = 1
        while call_id in used_ids:
            number += 1
            call_id = f"{base}~{number}"
        return call_id

    def _message(self, payload: Record) -> _Message:
        """A message item, likewise."""
        parts = content(payload)
        role = text(payload, "role")
        if role in ("developer", "system"):
            return _Message("system", parts)
        if role == "assistant":
            parts = Content([*parts.said], unknown=parts.unknown)
            return _Message("assistant", parts, {"model": self.model})
        is_of_agent = text(payload, "type") == _OF_AN_AGENT
        synthetic = is_of_agent or _CLIENT.match(parts.first_text) is not None
        return _Message("user", parts, {"synthetic": synthetic})

    def _say(self, message: _Message) -> None:
        self.say_content(message.role, message.parts, **message.fields)

    def _reported(self, payload: Record) -> None:
        """Read what one response used; that of a compaction is in no total, and in no other
        record.
        """
        usage = self.source.usage(OPENAI_USAGE, payload, "usage")
        if usage is not None:
            self.usage_of_response[text(payload, "response_id")] = usage

    def _compact(self) -> None:
        """Read the compaction whose usage was waited for."""
        payload = self.pending_compaction
        self.pending_compaction = {}
        if payload:
            self._compacted(payload)

    def close(self) -> None:
        """Write what is waiting: a compaction, or an answer and behind it the results of its
        calls.
        """
        self._compact()
        usage = self.usage
        if self.answer.blocks or self.answer.results:
            self.is_copied = self._is_of_parent(self.answer_time)
            self.say_content(
                "assistant",
                self.answer,
                model=self.model,
                usage=usage,
                time=self.answer_time,
            )
        if usage is not None:
            self.last_prompt = usage.prompt
        self.answer = Content()
        self.usage = None
        self.answer_time = None
        waiting = self.waiting
        self.waiting = []
        for message in waiting:
            self._say(message)

    def _is_of_parent(self, time: float | None) -> bool:
        """Whether an answer of this time was copied from the session that was forked."""
        if time is None or self.copied_until is None:
            return False
        return time <= self.copied_until

    def _compacted(self, payload: Record) -> None:
        """Read a compaction: it lists what the model is sent from now on, old messages and new
        ones.
        """
        summary = text(payload, "message")
        self._take_summary(summary)
        self.close()
        sealed_characters = 0
        entry_ids = self._entry_ids()
        kept_ids = [*self.instruction_ids]
        added: list[_Message] = []
        for item in objects(payload, "replacement_history"):
            type_ = text(item, "type")
            if type_ == _OF_AN_AGENT or (type_ == "message" and label(item, "role") in _ROLES):
                message = self._message(item)
                same_entries = entry_ids[message.role, message.parts.words]
                if same_entries:
                    kept_ids.append(same_entries.pop())
                elif message.parts.words != summary:
                    added.append(message)
            elif type_ in ("compaction", "compaction_summary"):
                sealed_characters += len(text(item, "encrypted_content"))
                summary = summary or text(item, "summary")
        response_id = text(payload, "compaction_response_id")
        self.compaction(
            summary or None,
            hidden_summary=not summary,
            kept=tuple(kept_ids),
            tokens_before=self.last_prompt,
            usage=self.usage_of_response.get(response_id, self.unanswered_usage),
        )
        self.unanswered_usage = None
        if not summary:
            state = "not in the recording"
            if sealed_characters:
                state = f"encrypted, {sealed_characters} characters"
            self.note("hidden_summary", state)
        for message in added:
            self._say(message)

    def _take_summary(self, summary: str) -> None:
        """Take the answer that became this summary for what it is: no answer of the conversation.
        Its request was the compaction's; since 0.171 the answer stands before its compaction.
        """
        words = self.answer.words
        is_summary = bool(words) and summary.endswith(words)
        if not is_summary or self.answer.calls:
            return
        self.unanswered_usage = self.usage
        self.note_thoughts(self.answer)
        self.answer = Content()
        self.usage = None
        self.answer_time = None

    def _entry_ids(self) -> dict[tuple[str, str], list[str]]:
        """The ids of the messages so far, by role and words."""
        entry_ids: dict[tuple[str, str], list[str]] = defaultdict(list)
        for entry in self.log:
            if isinstance(entry, MessageEntry):
                message = entry.message
                entry_ids[message.role, plain_text(message)].append(entry.id)
        return entry_ids


def knows_codex(head: Head) -> bool:
    """Whether a line is of one of the client's types, or begins an old session."""
    for record in head.records:
        if label(record, "type") in _RECORD_TYPES and "payload" in record:
            return True
    return head.is_object_with("id", "timestamp", "instructions")


CODEX = Format(
    name="codex",
    description="OpenAI Codex rollouts (JSON lines)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions", "system"),
    knows=knows_codex,
    sessions=json_lines(CodexBuilder),
    aside="payload.changes payload.aggregated_output payload.parsed_cmd payload.result payload.tools "
    "payload.dynamic_tools",
)
