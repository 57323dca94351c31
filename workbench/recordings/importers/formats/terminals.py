"""Agents of the terminal that write JSON lines in a shape of their own.

Kimi CLI (0.x and 1.x) keeps `~/.kimi/sessions/*/*/context.jsonl`. Hermes keeps
`~/.hermes/sessions/*.jsonl`, and the same messages in a document. Goose kept
`~/.local/share/goose/sessions/*.jsonl` before 1.10, and exports a document. Qwen Code (0.3 and
newer) keeps `~/.qwen/projects/*/chats/*.jsonl`. `codex exec --json` prints the events of a run.
"""

import re
from dataclasses import replace
from typing import TypeAlias

from workbench.engine.transcript.log import MessageEntry
from workbench.engine.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Message,
    ToolCall,
    ToolResult,
    plain_text,
)
from workbench.recordings.importers.blocks import (
    Content,
    content,
    result_blocks,
    text_block,
    thought_block,
)
from workbench.recordings.importers.described import DescribedBuilder, MessageShape
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import Head, SourceFile
from workbench.recordings.importers.usage import GEMINI_USAGE
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    first_value,
    identifier,
    items,
    label,
    mapping,
    objects,
    text,
)

KIMI = MessageShape(roles={"_system_prompt": "system"}, notes=frozenset({"_checkpoint", "_usage"}))
HERMES = MessageShape(
    notes=frozenset({"session_meta"}),
    name="tool_name name",
    system="system_prompt",
    thinking="reasoning_content reasoning",
)
GOOSE = MessageShape(time="created timestamp")
_HERMES_SUMMARY = re.compile(r"\s*\[CONTEXT (?:COMPACTION|SUMMARY)")


def knows_kimi(head: Head) -> bool:
    """Whether a line has one of the roles that only this agent writes."""
    roles = {"_system_prompt", *KIMI.notes}
    return any(label(record, "role") in roles for record in head.records)


class KimiBuilder(DescribedBuilder):
    """Reads lines: messages, the system prompt, checkpoints, and sizes of the context. A folder
    is a session.
    """

    shape = KIMI

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.id = source.folder if source.stem == "context" else ""

    def shaped(self, message: Record, role: str) -> JsonObject:
        """The message in the shape of a chat API; the client's own words begin with a tag."""
        self.synthetic = content(message).words.startswith("<system")
        return super().shaped(message, role)


def knows_hermes(head: Head) -> bool:
    """Whether it begins with what the agent says of a session, in a line or around the messages."""
    if label(head.first_record, "role") == "session_meta":
        return True
    return head.is_object_with("session_id", "session_start", "messages")


class HermesBuilder(DescribedBuilder):
    """Reads messages; the one that begins with the mark of a summary stands for all before it."""

    shape = HERMES
    about = {"id": "session_id id", "model": "model", "title": "title"}

    def read(self, record: Record) -> None:
        """Read one message, or what the first line says of the session."""
        if record.get("role") == "session_meta":
            self.model = self.source.name(record, "model") or self.model
        if _HERMES_SUMMARY.match(label(record, "content")):
            self.time = self.source.time(record, "timestamp")
            self.compaction(label(record, "content"), kept=self.system_ids)
        else:
            super().read(record)


def knows_goose(head: Head) -> bool:
    """Whether it has the header of a session, or the document of an export."""
    if {"working_dir", "description", "message_count"} <= set(head.first_record):
        return True
    return head.is_object_with("working_dir", "conversation")


class GooseBuilder(DescribedBuilder):
    """Reads messages. A compaction hides old ones from the agent; what it added, the user is not
    shown.
    """

    shape = GOOSE
    about = {"id": "id", "title": "description name", "cwd": "working_dir"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.visible: list[str] = []
        self.is_hidden = False

    def read(self, record: Record) -> None:
        """Read the header or one message."""
        if "role" not in record and "working_dir" in record:
            self.begin(record)
            return
        about = mapping(record, "metadata")
        parts = [part for part in items(record, "content") if isinstance(part, dict)]
        if any(part.get("type") == "systemNotification" for part in parts):
            self._notice(parts)
            return
        for_agent = about.get("agentVisible") is not False
        for_user = about.get("userVisible") is not False
        if for_agent and not for_user and self.is_hidden:
            self.time = self.source.time(record, "created")
            self.compaction(self.summary_in(record), kept=tuple(self.visible))
            self.is_hidden = False
            return
        content = [part for part in parts if part.get("type") != "conversationCompacted"]
        entry_count = len(self.log)
        super().read({**record, "content": content})
        if for_agent:
            self.visible += self.ids[entry_count:]
        else:
            self.is_hidden = True

    def _notice(self, parts: list[JsonObject]) -> None:
        """Read what the client tells its user alone."""
        for part in parts:
            if label(part, "msg"):
                self.note("systemNotification", label(part, "msg"))
            else:
                self.source.leave_record("part of a notice without its message", part)


MessageKey: TypeAlias = tuple[str, str, tuple[str, ...]]

QWEN_CLIENT = frozenset(
    {"notification", "cron", "background_task_completed", "goal_runtime", "agent_launch_prompt"}
)
"""Subtypes of a user's records that the client wrote."""


def knows_qwen(head: Head) -> bool:
    """Whether a line has a message in Gemini's shape, or the client's own record, with its place
    in a tree.
    """
    return any(_is_qwen_record(record) for record in head.records)


def _is_qwen_record(record: Record) -> bool:
    if not {"uuid", "parentUuid", "sessionId"} <= set(record):
        return False
    return "systemPayload" in record or "parts" in as_mapping(record.get("message"))


class QwenBuilder(SessionBuilder):
    """Reads records of a tree; a compression lists what the model is sent from now on."""

    about = {"id": "sessionId", "cwd": "cwd"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.places: dict[str, str | None] = {}

    def read(self, record: Record) -> None:
        """Read one record, behind its parent."""
        if not self.id:
            self.begin(record)
        self.time = self.source.time(record, "timestamp")
        parent = text(record, "parentUuid")
        uuid = text(record, "uuid")
        if parent in self.places:
            self.log.leaf = self.places[parent]
        match text(record, "type"):
            case "assistant":
                usage = self.source.usage(GEMINI_USAGE, record, "usageMetadata")
                parts = content(mapping(record, "message"), "parts")
                model = self.source.name(record, "model")
                self.say_content("assistant", parts, id=uuid, model=model, usage=usage)
            case "user" | "tool_result":
                synthetic = label(record, "subtype") in QWEN_CLIENT
                parts = content(mapping(record, "message"), "parts")
                parts.results = [replace(result, id=uuid) for result in parts.results]
                self.say_content("user", parts, id=uuid, synthetic=synthetic)
            case "system":
                self._system(record, uuid)
            case type_:
                self.source.leave_record(f"record of type {type_!r:.40}", record)
        self.places[uuid] = self.log.leaf

    def _system(self, record: Record, uuid: str) -> None:
        subtype = text(record, "subtype")
        payload = mapping(record, "systemPayload")
        if subtype == "chat_compression":
            self._compression(payload, uuid)
        elif subtype == "custom_title":
            self.title = text(payload, "customTitle")
        elif record.get("message") or "compressedHistory" in payload:
            self.source.leave_record(f"record of subtype {subtype!r:.40}", record)

    def _compression(self, payload: Record, uuid: str) -> None:
        """Read a compaction: contents that are in the log already were kept, the first other one
        is the summary.
        """
        places: dict[MessageKey, str] = {}
        for entry in self.log.path():
            if isinstance(entry, MessageEntry):
                places[_key(entry.message)] = entry.id
        kept_ids: list[str] = []
        added: list[tuple[str, Content]] = []
        for record in objects(payload, "compressedHistory"):
            parts = content(record, "parts")
            role = "assistant" if record.get("role") == "model" else "user"
            keys = _keys(role, parts)
            if keys and all(key in places for key in keys):
                kept_ids += [places[key] for key in keys]
            else:
                added.append((role, parts))
        info = mapping(payload, "info")
        tokens_before = self.source.count(info, "originalTokenCount")
        tokens_after = self.source.count(info, "newTokenCount")
        summary: str | None = None
        if added:
            _, summary_parts = added.pop(0)
            summary = summary_parts.words
        self.compaction(
            summary,
            id=uuid,
            kept=tuple(kept_ids),
            tokens_before=tokens_before,
            tokens_after=tokens_after,
        )
        for role, parts in added:
            if role == "user":
                self.say_content("user", parts, synthetic=True)
            else:
                self.say_content("assistant", parts)


def _key(message: Message) -> MessageKey:
    """By what a message of a compressed history is found in the log."""
    if isinstance(message, ToolResult):
        return "tool", "", (message.call_id,)
    calls = message.calls if isinstance(message, AssistantMessage) else ()
    return message.role, plain_text(message), tuple(call.id for call in calls)


def _keys(role: str, parts: Content) -> list[MessageKey]:
    """Likewise of the results and the message that a content of a compressed history holds."""
    keys: list[MessageKey] = []
    for result in parts.results:
        keys.append(("tool", "", (result.call_id,)))
    if parts.blocks:
        call_ids = tuple(call.id for call in parts.calls)
        keys.append((role, parts.words, call_ids))
    return keys


EXEC_RUNNING = frozenset({"item.started", "item.updated"})
EXEC_ITEMS = EXEC_RUNNING | {"item.completed"}
EXEC_EVENTS = EXEC_ITEMS | {"thread.started", "turn.started", "turn.completed", "turn.failed"}
EXEC_WORDS = frozenset({"agent_message", "plan", "reasoning", "error"})
EXEC_RESULTS = frozenset(
    {"id", "type", "status", "aggregated_output", "exit_code", "result", "error"}
)


def knows_codex_exec(head: Head) -> bool:
    """Whether it begins with the start of a thread, or holds its items."""
    for record in head.records:
        if record.get("type") == "thread.started" and "thread_id" in record:
            return True
        if label(record, "type") in EXEC_EVENTS and "id" in as_mapping(record.get("item")):
            return True
    return False


class CodexExecBuilder(SessionBuilder):
    """Reads events: an item is a message, a thought, or a call with its result. The prompt is not
    among them.

    The items of one answer are gathered until the next begins: behind a result.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.answer = Content()
        self.calls: dict[str, ToolCall] = {}

    def read(self, record: Record) -> None:
        """Read one event."""
        type_ = text(record, "type")
        if "item" in record and type_ not in EXEC_ITEMS:
            self.source.leave_record(f"item in an event of type {type_!r:.40}", record)
        elif type_ == "thread.started":
            self.id = text(record, "thread_id")
        elif type_ in EXEC_ITEMS:
            self._item(mapping(record, "item"), is_whole=type_ == "item.completed")
        elif type_ in ("turn.failed", "error"):
            self.note(type_, text(record, "error/message") or label(record, "message"))
        elif type_ not in EXEC_EVENTS:
            self.source.leave_record(f"event of type {type_!r:.40}", record)

    def _item(self, item: Record, *, is_whole: bool) -> None:
        type_ = text(item, "type")
        if type_ not in EXEC_WORDS:
            self._call(item, type_, is_whole=is_whole)
        elif is_whole and type_ == "error":
            self.note("error", text(item, "message"))
        elif is_whole and type_ == "reasoning":
            self._gather([*thought_block(text(item, "text"))])
        elif is_whole:
            self._gather([*text_block(text(item, "text"))])

    def _call(self, item: Record, type_: str, *, is_whole: bool) -> None:
        """Read a call when it begins, and its result when it ends."""
        call_id = identifier(item, "id")
        name_parts = (label(item, "server"), label(item, "tool"))
        name = ".".join(filter(None, name_parts)) or type_
        call = self.calls.get(call_id)
        if call is None:
            fields = {field: value for field, value in item.items() if field not in EXEC_RESULTS}
            call = ToolCall(call_id, name, as_mapping(item.get("arguments")) or fields)
            self.calls[call_id] = call
            self._gather([call])
        elif call.name != name:
            self.source.leave_record("item with the id of another", item)
        if is_whole:
            self.answer.results.append(_exec_result(item, call))

    def _gather(self, blocks: list[AnswerBlock]) -> None:
        if self.answer.results:
            self.close()
        self.answer.blocks += blocks

    def close(self) -> None:
        """Write the answer that was gathered, and behind it the results of its calls."""
        if self.answer.blocks or self.answer.results:
            self.say_content("assistant", self.answer)
        self.answer = Content()


def _exec_result(item: Record, call: ToolCall) -> ToolResult:
    blocks = result_blocks(first_value(item, "aggregated_output result/content error/message"))
    code = item.get("exit_code")
    failed = label(item, "status") in ("failed", "declined")
    if isinstance(code, int) and code != 0:
        failed = True
    return ToolResult(
        id=f"{call.id}-result", call_id=call.id, blocks=blocks, name=call.name, is_error=failed
    )
