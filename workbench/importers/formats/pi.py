"""Sessions of the pi coding agent under `~/.pi/agent/sessions`: JSON lines, in order (version 1) or a tree (3)."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import FormatError
from workbench.importers.blocks import content
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import SourceFile
from workbench.importers.usage import UsageFields
from workbench.importers.values import label, mapping, optional_count, text, texts, timestamp
from workbench.transcript.files import FileOps
from workbench.transcript.message import Json, ToolResult
from workbench.transcript.session import Session

NOTES = frozenset({"model_change", "thinking_level_change", "label", "custom", "session_info"})
USAGE = UsageFields("input", "output", "cacheRead", "cacheWrite")


class PiBuilder(SessionBuilder):
    """Reads lines. In version 1 a line's place in the file is its name."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.header: Mapping[str, Json] = {}
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
            self.source.skipped.append(f"line {self.line}: the id {name!r} is taken already, left out")
            return
        self.log.leaf = self._parent(record)
        self._entry(record, name, type_)
        self.lines[place] = name

    def _parent(self, record: Mapping[str, Json]) -> str | None:
        if "parentId" not in record:
            return self.log.leaf
        parent = text(record, "parentId") or None
        if parent is None or parent in self.log:
            return parent
        why = f"the parent {parent!r} does not come before it, attached to the line before"
        self.source.skipped.append(f"line {self.line}: {why}")
        return self.log.leaf

    def _entry(self, record: Mapping[str, Json], entry_id: str, type_: str) -> None:
        if type_ == "message":
            self._message(record, entry_id)
            return
        self.time = timestamp(record, "timestamp")
        if type_ == "compaction":
            self._compaction(record, entry_id)
        elif type_ == "branch_summary":
            self.say_text("user", text(record, "summary"), id=entry_id, synthetic=True)
        elif type_ == "custom_message":
            self.say_content("user", content(record), id=entry_id, synthetic=True)
        elif type_ in NOTES:
            self.title = text(record, "name") if type_ == "session_info" else self.title
            shown = (label(record, key) for key in ("modelId", "thinkingLevel", "label", "name", "customType"))
            self.note(type_, next(filter(None, shown), ""), id=entry_id)
        else:
            self.source.unknown[f"record of type {type_!r}"] += 1
            self.time = None
            self.note(type_, id=entry_id)

    def _message(self, line: Mapping[str, Json], entry_id: str) -> None:
        record = mapping(line, "message")
        role = text(record, "role")
        self.time = timestamp(record, "timestamp") or timestamp(line, "timestamp")
        if role == "bashExecution":
            self.say_text("user", f"$ {text(record, 'command')}\n{text(record, 'output')}", id=entry_id, synthetic=True)
        elif role in ("compactionSummary", "branchSummary"):
            self.say_text("user", text(record, "summary"), id=entry_id, synthetic=True)
        elif role == "assistant":
            fields = {"model": text(record, "model"), "usage": USAGE.read(mapping(record, "usage"))}
            self.say_content("assistant", content(record), id=entry_id, stop=text(record, "stopReason"), **fields)
        elif role == "toolResult":
            found, name, failed = content(record), text(record, "toolName"), record.get("isError") is True
            self.source.unknown.update(found.unknown)
            call_id = text(record, "toolCallId")
            self.say(ToolResult(id=entry_id, call_id=call_id, blocks=found.said, name=name, is_error=failed))
        elif role in ("user", "custom", "hookMessage"):
            self.say_content("user", content(record), id=entry_id, synthetic=role != "user")
        else:
            known = "assistant, bashExecution, custom, toolResult and user"
            raise FormatError(f"unknown role {role!r}; known roles are {known}", field="message.role")

    def _compaction(self, record: Mapping[str, Json], entry_id: str) -> None:
        details = mapping(record, "details")
        first_kept, at = text(record, "firstKeptEntryId") or None, optional_count(record, "firstKeptEntryIndex")
        if at is not None:
            first_kept = next((entry for entry in self.lines[at:] if entry), None)
        self.compaction(
            text(record, "summary"),
            id=entry_id,
            files=FileOps(texts(details, "readFiles"), texts(details, "modifiedFiles")),
            first_kept=first_kept,
            tokens_before=optional_count(record, "tokensBefore"),
            reason="hook" if record.get("fromHook") is True else "",
        )

    def session(self) -> Session:
        """What has been read."""
        self.id, self.cwd, self.model = (text(self.header, name) for name in ("id", "cwd", "modelId"))
        return super().session()
