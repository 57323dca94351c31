"""Sessions that `opencode export` wrote, versions 1.3 to 1.18, and `kilo export`, version 7: one
JSON document of messages and their parts.

The database behind it, `~/.local/share/opencode/opencode.db` (SQLite, since version 1.2) or
`~/.local/share/kilo/kilo.db`, is read as its exports are. Source: sst/opencode,
packages/opencode/src/session/session.sql.ts: messages and parts are JSON in a column `data`. What was
undone is a branch: of an undo that no message followed yet the session tells, of others the events.
"""

import re
import sqlite3
from collections.abc import Iterator

from workbench.engine.transcript.log import ClearingEntry
from workbench.engine.transcript.message import Json, SaidBlock, ToolCall, ToolResult, Usage
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import add_part, text_block
from workbench.recordings.importers.format import Format, json_document
from workbench.recordings.importers.formats.opencode_events import undone_messages
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.images import linked
from workbench.recordings.importers.json_text import decode, decode_or
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.session_tables import readable_database
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.sqlite import MAGIC
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    as_object,
    items,
    label,
    mapping,
    objects,
    text,
)

SILENT = frozenset({"step-start", "step-finish", "patch", "snapshot", "agent", "retry"})
_NEWER = "session_message"
USAGE = UsageFields("input", "output", "cache/read", "cache/write", "reasoning", total="total")
OPENCODE_ASIDE = (
    "messages.info.summary messages.parts.state.metadata messages.parts.state.title info.title"
    " info.revert.diff"
)
UNFINISHED = "is of a compaction that was not finished: its request is in no bill"
_UNDONE_LAST = -1
"""The number of the turn back that no message followed."""
_TABLES = re.compile(r"CREATE TABLE [`\"]?(message|part|session)\b")


class OpenCodeBuilder(SessionBuilder):
    """Reads messages of parts; a compaction is asked for in one and answered in a later one.

    Attributes:
        compaction_requests: those that no summary has answered yet, by the ids of their messages.
        cleared: when each result was pruned, and its call's id.
        last_size: tokens of the newest request and its answer.
        undone_from: the message with which begins what was undone last; empty where nothing was.
        began: when the session was created.
        turn: the number of the turn back whose messages are read; 0 in what was not undone.
        branch_point: the entry behind which the messages of a turn back hang.
    """

    about = {"id": "info/id", "title": "info/title", "cwd": "info/directory"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.compaction_requests: dict[str, Record] = {}
        self.cleared: list[tuple[float, str]] = []
        self.last_size: int | None = None
        self.undone_from = ""
        self.began: float | None = None
        self.turn = 0
        self.branch_point: str | None = None

    def begin(self, document: Record) -> None:
        """Read what is said of the session, and where an undo begins that no message followed."""
        super().begin(document)
        self.undone_from = text(mapping(document, "info/revert"), "messageID")
        self.began = self.source.time(document, "info/time/created")
        if self.began is None:
            self.began = self.source.time(document, "info/time_created")

    def read(self, record: Record) -> None:
        """Read one message."""
        info = mapping(record, "info")
        self._branch(record)
        self.time = self.source.time(info, "time/created")
        self.is_copied = self._is_older_than_session()
        role = text(info, "role")
        parts = Content()
        is_typed = False
        is_request = False
        for part in objects(record, "parts"):
            if part.get("type") == "compaction":
                self.compaction_requests[text(info, "id")] = part
                is_request = True
                continue
            self._part(parts, part)
            if part.get("type") == "text" and part.get("synthetic") is not True:
                is_typed = True
        if role == "user":
            if parts.blocks or not is_request:
                synthetic = bool(parts.blocks) and not is_typed
                self.say_content(
                    "user",
                    parts,
                    id=text(info, "id"),
                    synthetic=synthetic,
                )
        elif role == "assistant":
            self._answer(info, parts)
        else:
            self.source.leave_record(f"message of role {role!r:.40}", record)

    def _is_older_than_session(self) -> bool:
        """Whether a message is older than its session: a fork copied it."""
        if self.time is None:
            return False
        if self.began is None:
            return False
        return self.time < self.began

    def _branch(self, record: Record) -> None:
        """Begin a branch with what was undone, and go on where it began."""
        turn = record.get("undone", 0)
        message_id = text(record, "info/id")
        is_first = bool(self.undone_from) and message_id == self.undone_from
        if is_first or self.turn == _UNDONE_LAST:
            turn = _UNDONE_LAST
        if turn == self.turn:
            return
        if self.turn == 0:
            self.branch_point = self.log.leaf
        else:
            self.log.leaf = self.branch_point
        assert isinstance(turn, int)
        self.turn = turn

    def _answer(self, info: Record, parts: Content) -> None:
        """Read an answer, or the summary that a compaction asked for."""
        message_id = text(info, "id")
        usage = self.source.usage(USAGE, info, "tokens")
        if info.get("summary") is True:
            if _is_finished(info, parts.words):
                self.note_thoughts(parts)
                self._summary(info, parts.words, usage)
            else:
                self.note("unfinished_compaction", parts.words, id=message_id)
                if usage is not None and usage.prompt + usage.output:
                    self.source.note(UNFINISHED, field="info.tokens")
            return
        if usage is not None and usage.prompt:
            self.last_size = usage.prompt + usage.output
        stop = text(info, "finish")
        if not stop and info.get("error"):
            stop = "error"
        self.say_content(
            "assistant",
            parts,
            id=message_id,
            model=self.source.name(info, "modelID"),
            usage=usage,
            stop=stop,
        )

    def _summary(self, info: Record, words: str, usage: Usage | None) -> None:
        """Read the summary that a message asked for: its parent, or the newest that none
        answered.
        """
        asked_in = text(info, "parentID")
        if asked_in not in self.compaction_requests:
            asked_in = next(reversed(self.compaction_requests), "")
        request = self.compaction_requests.pop(asked_in, {})
        if usage is not None and not usage.prompt:
            usage = None
        self.compaction(
            words,
            id=text(info, "id"),
            model=self.source.name(info, "modelID"),
            first_kept=text(request, "tail_start_id") or None,
            tokens_before=self.last_size,
            usage=usage,
            reason="auto" if request.get("auto") is True else "manual",
        )

    def _part(self, parts: Content, part: Record) -> None:
        match text(part, "type"):
            case "file":
                parts.blocks += _file(part)
            case "tool":
                self._tool(parts, part)
            case "text" if _is_transient(part):
                self.source.leave_record("text that Kilo Code shows for a moment", part)
            case type_ if type_ not in SILENT:
                add_part(parts, part)
                if part.get("state"):
                    self.source.unknown[f"state of a {type_}"] += 1
            case type_ if part.get("text") or part.get("state"):
                self.source.unknown[f"words in a {type_}"] += 1

    def _tool(self, parts: Content, part: Record) -> None:
        """Read a call, and its result where it has one."""
        state = mapping(part, "state")
        call = tool_call({**part, "input": state.get("input")})
        parts.blocks.append(call)
        status = label(state, "status")
        if status in ("completed", "error"):
            parts.results.append(self._result(state, call))
        elif state.get("output") or state.get("error"):
            self.source.unknown[f"output of a tool whose status is {status!r}"] += 1
        if status == "error" and state.get("output"):
            self.source.unknown["output of a tool that failed"] += 1
        if part.get("text"):
            self.source.unknown["words in a tool"] += 1

    def _result(self, state: Record, call: ToolCall) -> ToolResult:
        failed = text(state, "status") == "error"
        words = text(state, "error" if failed else "output")
        blocks: list[SaidBlock] = [*text_block(words)]
        for attached in objects(state, "attachments"):
            blocks += _file(attached)
        cleared = self.source.time(state, "time/compacted")
        if cleared is not None:
            self.cleared.append((cleared, call.id))
        return ToolResult(
            id=f"{call.id}-result",
            call_id=call.id,
            blocks=tuple(blocks),
            name=call.name,
            is_error=failed,
            time=self.source.time(state, "time/end"),
        )

    def close(self) -> None:
        """Add a clearing for results that were pruned while the session ran."""
        self.time = None
        if self.turn:
            self.log.leaf = self.branch_point
        if self.compaction_requests:
            self.note("unanswered_compaction")
        if self.cleared:
            call_ids = tuple(call_id for _, call_id in sorted(self.cleared))
            newest, _ = max(self.cleared)
            self.add(
                ClearingEntry(
                    id="",
                    parent=None,
                    call_ids=call_ids,
                    time=newest,
                )
            )


def _is_transient(part: Record) -> bool:
    """Whether Kilo Code shows a text for a moment, and sends it to no model."""
    about = mapping(part, "metadata")
    return about.get("kilocode.lifecycle") == "transient"


def _is_finished(info: Record, words: str) -> bool:
    """Whether a summary was written to its end; the program may have been stopped meanwhile."""
    times = mapping(info, "time")
    was_stopped = "created" in times and "completed" not in times
    return bool(words) and not info.get("error") and not was_stopped


def _file(part: Record) -> list[SaidBlock]:
    """A picture as a placeholder; the text of other files is in a text part beside it."""
    if not text(part, "mime").startswith(("image/", "application/pdf")):
        return []
    return [linked(text(part, "url"))]


def knows_database(head: Head) -> bool:
    """Whether it is a database with OpenCode's tables."""
    if not head.text.startswith(MAGIC):
        return False
    tables = set(_TABLES.findall(head.text))
    return {"message", "part"} <= tables


def database_sessions(source: SourceFile) -> Iterator[Session]:
    """The sessions, those of sub-agents among them, in the order in which they were begun."""
    for document in database_values(source):
        builder = OpenCodeBuilder(source)
        with source.at():
            builder.begin(document)
            builder.read_all(items(document, "messages"), "messages")
            yield builder.session()


def database_values(source: SourceFile) -> Iterator[JsonObject]:
    """Each session as `opencode export` would write it."""
    with readable_database(source) as opened:
        rows = opened.execute("SELECT * FROM session ORDER BY time_created, id")
        for row in rows.fetchall():
            messages = _messages(opened, row["id"])
            if not messages and _has_newer_messages(opened, row["id"]):
                source.leave_out(
                    f"session {row['id']}: its messages are in the table {_NEWER} alone"
                )
            info = dict(row)
            if info.get("revert"):
                info["revert"] = decode_or(info["revert"])
            yield {"info": info, "messages": messages}


def _has_newer_messages(opened: sqlite3.Connection, session_id: str) -> bool:
    """Whether the table of the next version has messages of a session (Kilo-Org/kilocode,
    packages/core/src/session/sql.ts), which the present ones fill beside their own.
    """
    tables = opened.execute("SELECT name FROM sqlite_master WHERE name = ?", (_NEWER,))
    if tables.fetchone() is None:
        return False
    query = f"SELECT 1 FROM {_NEWER} WHERE session_id = ?"
    return opened.execute(query, (session_id,)).fetchone() is not None


def _messages(opened: sqlite3.Connection, session_id: str) -> list[JsonObject]:
    """The messages of a session, each with its parts; those that were undone stand where they
    were said.
    """
    messages: list[JsonObject] = []
    undone = undone_messages(opened, session_id)
    for info in _rows(opened, "message", "session_id", session_id):
        while undone and _created(undone[0]["info"]) < _created(info):
            messages.append(undone.pop(0))
        parts = _rows(opened, "part", "message_id", info["id"])
        messages.append({"info": info, "parts": parts})
    return messages + undone


def _created(info: Json) -> float:
    """When a message was created, in milliseconds since 1970; 0 where nothing says it."""
    created = mapping(as_mapping(info), "time").get("created")
    if isinstance(created, int | float):
        return created
    return 0


def _rows(opened: sqlite3.Connection, table: str, field: str, value: str) -> list[JsonObject]:
    """What the rows of a table hold that have this value in a field, oldest first."""
    query = f"SELECT id, data FROM {table} WHERE {field} = ? ORDER BY time_created, id"
    rows: list[JsonObject] = []
    for row in opened.execute(query, (value,)).fetchall():
        data = as_object(decode(row["data"]), f"{table}.data")
        rows.append({**data, "id": row["id"]})
    return rows


def knows_opencode(head: Head) -> bool:
    """Whether it is an object about a session, which is no trace."""
    return head.is_object_with("info") and '"ses_' in head.text and "traces" not in head.keys


OPENCODE = Format(
    name="opencode",
    description="exports of OpenCode and Kilo Code (JSON)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions"),
    knows=knows_opencode,
    sessions=json_document("messages", OpenCodeBuilder),
    aside=OPENCODE_ASIDE,
)

OPENCODE_DATABASE = Format(
    name="opencode_database",
    description="the database of OpenCode and Kilo Code (SQLite)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions"),
    knows=knows_database,
    sessions=database_sessions,
    aside=OPENCODE_ASIDE,
    values=database_values,
)
