"""Sessions of the pi coding agent: JSON lines in order (version 1) or as a tree (version 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.content import content
from workbench.importers.fields import epoch, inner, items, maybe_whole, objects, whole, words
from workbench.importers.growth import main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source
from workbench.transcript.files import FileOps
from workbench.transcript.log import CompactionEntry, Entry, Log, MessageEntry, NoteEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    Message,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from workbench.transcript.session import Session

NOTES = frozenset({"model_change", "thinking_level_change", "label", "custom", "session_info"})


class Pi:
    """The files under `~/.pi/agent/sessions`."""

    name: ClassVar[str] = "pi"
    description: ClassVar[str] = "pi coding agent sessions, version 1 and 3 (JSON lines)"
    carries: ClassVar[tuple[Carries, ...]] = (
        "tree", "calls", "thinking", "images", "usage", "times", "model", "compactions",
    )  # fmt: skip

    def knows(self, head: str) -> bool:
        """Whether a line is pi's session header, or an entry of its tree."""
        return any(
            (record.get("type") == "session" and {"cwd", "timestamp"} <= set(record))
            or (record.get("type") == "message" and {"parentId", "message"} <= set(record))
            for record in seen(head).records
        )

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file; a second header starts another."""
        reading = _Reading(source)
        for line, record in source.records():
            if record.get("type") == "session" and reading.header is not None:
                yield reading.session()
                reading = _Reading(source)
            with source.at(line):
                reading.hear(line, record)
        yield reading.session()


class _Reading:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.header: Mapping[str, Json] | None = None
        self.log = Log()
        self.lines: list[str] = []
        self.names: dict[str, str] = {}
        self.title = ""

    def hear(self, line: int, record: Mapping[str, Json]) -> None:
        """Read one line. In version 1 its place in the file is its name."""
        place = len(self.lines)
        self.lines.append("")
        type_ = words(record, "type")
        if type_ == "session":
            self.header = record
            return
        name = words(record, "id") or f"e{place}"
        if name in self.log:
            self.source.skipped.append(f"line {line}: the entry {name!r} stands in the file already")
            return
        self.log.append(self._entry(record, name, self._parent(line, record), type_))
        self.lines[place] = name

    def _parent(self, line: int, record: Mapping[str, Json]) -> str | None:
        if "parentId" not in record:
            return self.log.leaf
        parent = words(record, "parentId") or None
        if parent is not None and parent not in self.log:
            self.source.skipped.append(
                f"line {line}: the parent {parent!r} does not stand before it, taken to follow the line before"
            )
            return self.log.leaf
        return parent

    def _entry(self, record: Mapping[str, Json], entry_id: str, parent: str | None, type_: str) -> Entry:
        if type_ == "message":
            return MessageEntry(id=entry_id, parent=parent, message=self._message(record, entry_id))
        time = epoch(record, "timestamp")
        if type_ == "compaction":
            return self._compaction(record, entry_id, parent, time)
        if type_ == "branch_summary":
            text = words(record, "summary")
            user = UserMessage(id=entry_id, blocks=(Text(text),), synthetic=True, time=time)
            return MessageEntry(id=entry_id, parent=parent, message=user)
        if type_ == "custom_message":
            found = content(record)
            user = UserMessage(id=entry_id, blocks=found.said, synthetic=True, time=time)
            return MessageEntry(id=entry_id, parent=parent, message=user)
        if type_ in NOTES:
            self.title = words(record, "name") if type_ == "session_info" else self.title
            shown = (record.get(key) for key in ("modelId", "thinkingLevel", "label", "name", "customType"))
            text = next((value for value in shown if isinstance(value, str)), "")
            return NoteEntry(id=entry_id, parent=parent, kind=type_, text=text, time=time)
        self.source.unknown[f"record of type {type_!r}"] += 1
        return NoteEntry(id=entry_id, parent=parent, kind=type_)

    def _message(self, whole_record: Mapping[str, Json], entry_id: str) -> Message:
        record = inner(whole_record, "message")
        role = words(record, "role")
        time = epoch(record, "timestamp") or epoch(whole_record, "timestamp")
        if role == "bashExecution":
            text = f"$ {words(record, 'command')}\n{words(record, 'output')}"
            return UserMessage(id=entry_id, blocks=(Text(text),), synthetic=True, time=time)
        if role in ("compactionSummary", "branchSummary"):
            return UserMessage(id=entry_id, blocks=(Text(words(record, "summary")),), synthetic=True, time=time)
        if role == "assistant":
            return self._answer(record, entry_id, time)
        found = content(record)
        if found.unknown:
            self.source.unknown.update(found.unknown)
        if role == "toolResult":
            call_id = words(record, "toolCallId")
            name = words(record, "toolName") or self.names.get(call_id, "")
            error = record.get("isError") is True
            return ToolResult(id=entry_id, call_id=call_id, blocks=found.said, name=name, is_error=error, time=time)
        if role in ("user", "custom", "hookMessage"):
            return UserMessage(id=entry_id, blocks=found.said, synthetic=role != "user", time=time)
        raise FormatError(
            f"no role is named {role!r}; known are assistant, bashExecution, custom, toolResult and user",
            field="message.role",
        )

    def _answer(self, record: Mapping[str, Json], entry_id: str, time: float | None) -> AssistantMessage:
        blocks: list[AnswerBlock] = []
        for part in objects(record, "content"):
            type_ = words(part, "type")
            if type_ == "toolCall":
                call = ToolCall(words(part, "id"), words(part, "name"), inner(part, "arguments"))
                self.names[call.id] = call.name
                blocks.append(call)
            elif type_ == "thinking":
                blocks.append(Thinking(words(part, "thinking"), words(part, "thinkingSignature")))
            else:
                found = content({"content": [part]})
                blocks += found.blocks
                if found.unknown:
                    self.source.unknown.update(found.unknown)
        return AssistantMessage(
            id=entry_id,
            blocks=tuple(blocks),
            model=words(record, "model"),
            usage=_usage(inner(record, "usage")),
            stop=words(record, "stopReason"),
            time=time,
        )

    def _compaction(
        self, record: Mapping[str, Json], entry_id: str, parent: str | None, time: float | None
    ) -> CompactionEntry:
        details = inner(record, "details")
        files = FileOps(_paths(details, "readFiles"), _paths(details, "modifiedFiles"))
        first_kept = words(record, "firstKeptEntryId") or None
        at = maybe_whole(record, "firstKeptEntryIndex")
        if at is not None:
            first_kept = next((entry for entry in self.lines[at:] if entry), None)
        return CompactionEntry(
            id=entry_id,
            parent=parent,
            summary=Summary(id=f"{entry_id}-summary", text=words(record, "summary"), files=files, time=time),
            first_kept=first_kept,
            tokens_before=maybe_whole(record, "tokensBefore"),
            reason="hook" if record.get("fromHook") is True else "",
            time=time,
        )

    def session(self) -> Session:
        """What has been read."""
        header = self.header or {}
        cwd = words(header, "cwd")
        return Session(
            id=words(header, "id") or self.source.stem,
            log=self.log,
            model=main_model(self.log) or words(header, "modelId"),
            title=self.title,
            cwd=cwd,
            project=project(cwd, self.source.folder),
        )


def _usage(record: Mapping[str, Json]) -> Usage | None:
    usage = Usage(
        whole(record, "input"), whole(record, "cacheRead"), whole(record, "cacheWrite"), whole(record, "output")
    )
    return usage if usage != Usage() else None


def _paths(details: Mapping[str, Json], field: str) -> tuple[str, ...]:
    return tuple(path for path in items(details, field) if isinstance(path, str))
