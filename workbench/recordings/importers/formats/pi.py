"""Sessions of the pi coding agent under `~/.pi/agent/sessions`: JSON lines, in order (version 1)
or a tree (3).
"""

import re

from workbench.engine.transcript.files import FileOps
from workbench.recordings.importers.blocks import content
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.formats.droid import knows_droid
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import Record, as_mapping, label, mapping, text, texts

NOTES = frozenset({"model_change", "thinking_level_change", "label", "custom", "session_info"})
USAGE = UsageFields("input", "output", "cacheRead", "cacheWrite")
OF_SUB_AGENTS = "is of sub-agents, whose requests are in no bill"


class PiBuilder(SessionBuilder):
    """Reads lines. In version 1 a line's place in the file is its name.

    Attributes:
        began: when the session was begun; messages before it were copied from its parent.
    """

    about = {"id": "id", "cwd": "cwd", "model": "modelId"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.lines: list[str] = []
        self.began: float | None = None

    def begin(self, document: Record) -> None:
        """Read the header, which names the file of the session that this one was forked from."""
        super().begin(document)
        parent_file = label(document, "parentSession")
        self.forked_from = re.split(r"[/\\]", parent_file)[-1]
        self.began = self.source.time(document, "timestamp")

    def read(self, record: Record) -> None:
        """Read one line."""
        place = len(self.lines)
        self.lines.append("")
        if text(record, "type") == "session":
            self.begin(record)
            if record.get("message"):
                self.source.leave_record("message in the record of a session", record)
            return
        name = text(record, "id") or f"e{place}"
        if name in self.log:
            self._skip(f"the id {name!r} is taken already, left out")
            return
        parent = text(record, "parentId") or None
        if parent is not None and parent not in self.log:
            self._skip(
                f"the parent {parent!r} does not come before it, attached to the line before"
            )
        elif "parentId" in record:
            self.log.leaf = parent
        self._entry(record, name)
        self.lines[place] = name

    def _skip(self, reason: str) -> None:
        self.source.skipped.append(f"line {self.line}: {reason}")

    def _entry(self, line: Record, entry_id: str) -> None:
        """Read a message by its role, or a line of another type."""
        type_ = text(line, "type")
        record = mapping(line, "message") if type_ == "message" else line
        self.time = self.source.time(record, "timestamp")
        if not self.time:
            self.time = self.source.time(line, "timestamp")
        self.is_copied = self._is_of_parent()
        match type_:
            case "message":
                self._message(record, entry_id)
            case "custom_message":
                self.say_content(
                    "user",
                    content(record),
                    id=entry_id,
                    synthetic=True,
                )
            case "branch_summary":
                self._summary(record, entry_id)
            case "compaction":
                self._compaction(record, entry_id)
            case _ if type_ in NOTES:
                if type_ == "session_info":
                    self.title = text(record, "name")
                self.note(type_, _note(record), id=entry_id)
            case _:
                self.source.unknown[f"record of type {type_!r}"] += 1
                self.time = None
                self.note(type_, id=entry_id)

    def _is_of_parent(self) -> bool:
        """Whether a line of a fork is older than the fork."""
        if not self.forked_from or self.time is None or self.began is None:
            return False
        return self.time < self.began

    def _message(self, record: Record, entry_id: str) -> None:
        role = text(record, "role")
        match role:
            case "assistant":
                self._answer(record, entry_id)
            case "toolResult":
                self._result(record, entry_id)
            case "user" | "custom" | "hookMessage":
                synthetic = role != "user"
                self.say_content(
                    "user",
                    content(record),
                    id=entry_id,
                    synthetic=synthetic,
                )
            case "compactionSummary" | "branchSummary":
                self._summary(record, entry_id)
            case "bashExecution":
                words = f"$ {text(record, 'command')}\n{text(record, 'output')}"
                self.say_text("user", words, id=entry_id, synthetic=True)
            case _:
                self.source.leave_record(f"message of role {role!r:.40}", record)
                self.time = None

    def _summary(self, record: Record, entry_id: str) -> None:
        self.say_text(
            "user",
            text(record, "summary"),
            id=entry_id,
            synthetic=True,
        )

    def _answer(self, record: Record, entry_id: str) -> None:
        model = self.source.name(record, "model")
        stop = self.source.name(record, "stopReason")
        usage = self.source.usage(USAGE, record, "usage")
        parts = content(record)
        self.say_content(
            "assistant",
            parts,
            id=entry_id,
            usage=usage,
            model=model,
            stop=stop,
        )

    def _result(self, record: Record, entry_id: str) -> None:
        parts = content(record)
        name = text(record, "toolName")
        self.source.leave_unknown(parts.unknown)
        call_id = text(record, "toolCallId")
        blocks = parts.said_by("tool", self.source.unknown)
        failed = record.get("isError") is True
        runs = self.source.report(record, "details").get("results")
        if isinstance(runs, list) and runs:
            first_run = as_mapping(runs[0])
            if first_run.get("usage"):
                self.source.note(OF_SUB_AGENTS, field="details.results.usage")
        self.say_result(
            call_id,
            blocks,
            id=entry_id,
            name=name,
            failed=failed,
        )

    def _compaction(self, record: Record, entry_id: str) -> None:
        details = mapping(record, "details")
        first_kept = text(record, "firstKeptEntryId") or None
        first_index = self.source.count(record, "firstKeptEntryIndex")
        if first_index is not None:
            first_kept = next(filter(None, self.lines[first_index:]), None)
        self.compaction(
            text(record, "summary"),
            id=entry_id,
            files=FileOps(texts(details, "readFiles"), texts(details, "modifiedFiles")),
            first_kept=first_kept,
            tokens_before=self.source.count(record, "tokensBefore"),
            reason="hook" if record.get("fromHook") is True else "",
        )


def _note(record: Record) -> str:
    """What a line that is no message names: a model, a label, a name."""
    for field in ("modelId", "thinkingLevel", "label", "name", "customType"):
        name = label(record, field)
        if name:
            return name
    return ""


def knows_pi(head: Head) -> bool:
    """Whether a line is pi's session header, or an entry of its tree."""
    if knows_droid(head):
        return False
    return any(_is_pi_header(record) or _is_pi_entry(record) for record in head.records)


def _is_pi_header(record: Record) -> bool:
    return record.get("type") == "session" and {"cwd", "timestamp"} <= set(record)


def _is_pi_entry(record: Record) -> bool:
    return record.get("type") == "message" and {"parentId", "message"} <= set(record)


PI = Format(
    name="pi",
    description="pi coding agent sessions, version 1 and 3 (JSON lines)",
    carries=("tree", "calls", "thinking", "images", "usage", "times", "model", "compactions"),
    knows=knows_pi,
    sessions=json_lines(PiBuilder),
    aside="message.details message.content.partialJson message.diagnostics message.errorMessage",
)
