"""Sessions of the pi coding agent: JSON lines in order (version 1) or as a tree (version 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.errors import FormatError
from workbench.importers.blocks import content
from workbench.importers.format import Importer
from workbench.importers.head import Head
from workbench.importers.session_builder import SessionBuilder, compaction
from workbench.importers.source import Source
from workbench.importers.usage import UsageFields
from workbench.importers.values import mapping, objects, optional_count, text, texts, timestamp
from workbench.transcript.files import FileOps
from workbench.transcript.log import CompactionEntry, Entry, MessageEntry, NoteEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from workbench.transcript.session import Session

NOTES = frozenset({"model_change", "thinking_level_change", "label", "custom", "session_info"})
USAGE = UsageFields(input=("input",), output=("output",), cache_read=("cacheRead",), cache_write=("cacheWrite",))


class PiBuilder(SessionBuilder):
    """Reads lines. In version 1 a line's place in the file is its name."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.header: Mapping[str, Json] | None = None
        self.lines: list[str] = []

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one line."""
        place = len(self.lines)
        self.lines.append("")
        type_ = text(record, "type")
        if type_ == "session":
            self.header = record
            return
        name = text(record, "id") or f"e{place}"
        if name in self.log:
            self.source.skipped.append(f"line {self.line}: the entry {name!r} stands in the file already")
            return
        self.append(self._entry(record, name, self._parent(record), type_))
        self.lines[place] = name

    def _parent(self, record: Mapping[str, Json]) -> str | None:
        if "parentId" not in record:
            return self.log.leaf
        parent = text(record, "parentId") or None
        if parent is None or parent in self.log:
            return parent
        why = f"the parent {parent!r} does not stand before it, taken to follow the line before"
        self.source.skipped.append(f"line {self.line}: {why}")
        return self.log.leaf

    def _entry(self, record: Mapping[str, Json], entry_id: str, parent: str | None, type_: str) -> Entry:
        if type_ == "message":
            return MessageEntry(id=entry_id, parent=parent, message=self._message(record, entry_id))
        time = timestamp(record, "timestamp")
        if type_ == "compaction":
            return replace(self._compaction(record, entry_id, time), parent=parent)
        if type_ in ("branch_summary", "custom_message"):
            blocks = (Text(text(record, "summary")),) if type_ == "branch_summary" else content(record).said
            user = UserMessage(id=entry_id, blocks=blocks, synthetic=True, time=time)
            return MessageEntry(id=entry_id, parent=parent, message=user)
        if type_ in NOTES:
            self.title = text(record, "name") if type_ == "session_info" else self.title
            shown = (record.get(key) for key in ("modelId", "thinkingLevel", "label", "name", "customType"))
            words = next((value for value in shown if isinstance(value, str)), "")
            return NoteEntry(id=entry_id, parent=parent, kind=type_, text=words, time=time)
        self.source.unknown[f"record of type {type_!r}"] += 1
        return NoteEntry(id=entry_id, parent=parent, kind=type_)

    def _message(self, line: Mapping[str, Json], entry_id: str) -> Message:
        record = mapping(line, "message")
        role = text(record, "role")
        time = timestamp(record, "timestamp") or timestamp(line, "timestamp")
        if role == "bashExecution":
            shell = Text(f"$ {text(record, 'command')}\n{text(record, 'output')}")
            return UserMessage(id=entry_id, blocks=(shell,), synthetic=True, time=time)
        if role in ("compactionSummary", "branchSummary"):
            return UserMessage(id=entry_id, blocks=(Text(text(record, "summary")),), synthetic=True, time=time)
        if role == "assistant":
            return self._answer(record, entry_id, time)
        found = content(record)
        self.source.unknown.update(found.unknown)
        if role == "toolResult":
            call_id, error = text(record, "toolCallId"), record.get("isError") is True
            name = text(record, "toolName") or self.names.get(call_id, "")
            return ToolResult(id=entry_id, call_id=call_id, blocks=found.said, name=name, is_error=error, time=time)
        if role in ("user", "custom", "hookMessage"):
            return UserMessage(id=entry_id, blocks=found.said, synthetic=role != "user", time=time)
        known = "assistant, bashExecution, custom, toolResult and user"
        raise FormatError(f"no role is named {role!r}; known are {known}", field="message.role")

    def _answer(self, record: Mapping[str, Json], entry_id: str, time: float | None) -> AssistantMessage:
        blocks: list[AnswerBlock] = []
        for part in objects(record, "content"):
            match text(part, "type"):
                case "toolCall":
                    call = ToolCall(text(part, "id"), text(part, "name"), mapping(part, "arguments"))
                    self.names[call.id] = call.name
                    blocks.append(call)
                case "thinking":
                    blocks.append(Thinking(text(part, "thinking"), text(part, "thinkingSignature")))
                case _:
                    found = content({"content": [part]})
                    blocks += found.blocks
                    self.source.unknown.update(found.unknown)
        return AssistantMessage(
            id=entry_id,
            blocks=tuple(blocks),
            model=text(record, "model"),
            usage=USAGE.read(mapping(record, "usage")),
            stop=text(record, "stopReason"),
            time=time,
        )

    def _compaction(self, record: Mapping[str, Json], entry_id: str, time: float | None) -> CompactionEntry:
        details = mapping(record, "details")
        first_kept, at = text(record, "firstKeptEntryId") or None, optional_count(record, "firstKeptEntryIndex")
        if at is not None:
            first_kept = next((entry for entry in self.lines[at:] if entry), None)
        return compaction(
            entry_id,
            text(record, "summary"),
            files=FileOps(texts(details, "readFiles"), texts(details, "modifiedFiles")),
            first_kept=first_kept,
            tokens_before=optional_count(record, "tokensBefore"),
            reason="hook" if record.get("fromHook") is True else "",
            time=time,
        )

    def session(self) -> Session:
        """What has been read."""
        header = self.header or {}
        self.id, self.cwd, self.model = text(header, "id"), text(header, "cwd"), text(header, "modelId")
        return super().session()


class Pi(Importer):
    """The files under `~/.pi/agent/sessions`."""

    name = "pi"
    description = "pi coding agent sessions, version 1 and 3 (JSON lines)"
    carries = ("tree", "calls", "thinking", "images", "usage", "times", "model", "compactions")

    def knows(self, head: Head) -> bool:
        """Whether a line is pi's session header, or an entry of its tree."""
        return any(
            (record.get("type") == "session" and {"cwd", "timestamp"} <= set(record))
            or (record.get("type") == "message" and {"parentId", "message"} <= set(record))
            for record in head.records
        )

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file; a second header starts another."""
        builder = PiBuilder(source)
        for line, record in source.records():
            if record.get("type") == "session" and builder.header is not None:
                with source.at():
                    yield builder.session()
                builder = PiBuilder(source)
            builder.line = line
            with source.at(line):
                builder.read(record)
        with source.at():
            yield builder.session()
