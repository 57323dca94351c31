"""Conversations of Kiro's command line and of its predecessor, Amazon Q's.

Source: aws/amazon-q-developer-cli, crates/chat-cli/src/cli/chat/conversation.rs and message.rs. `/save`
writes a conversation as JSON, and the database `data.sqlite3` has the same JSON in a column. An
entry of the history is a user's message and the answer to it; Amazon Q wrote the two as a pair. A
compaction leaves its summary alone of what it replaced. What requests used is not kept.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.engine.transcript.message import Json, SaidBlock, ToolCall
from workbench.recordings.importers.blocks import result_blocks, text_block
from workbench.recordings.importers.format import Format, json_document
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.session_tables import (
    database_format,
    is_database_with,
    readable_database,
)
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import first_present
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    as_object,
    identifier,
    items,
    label,
    mapping,
    objects,
)

_PROMPTS = ("Prompt", "CancelledToolUses", "ToolUseResults")
_ANSWERS = ("Response", "ToolUse")


class KiroBuilder(SessionBuilder):
    """Reads entries: what the user said or tools returned, and the answer to it."""

    about = {"id": "conversation_id", "model": "model_info/model_id model"}

    def begin(self, document: Record) -> None:
        """Read what is known of the conversation, and the summary of what was compacted."""
        super().begin(document)
        model_info = self.source.report(document, "model_info")
        self.window = self.source.count(model_info, "context_window_tokens")
        summary = document.get("latest_summary")
        if isinstance(summary, list) and summary:
            summary = summary[0]
        if isinstance(summary, str) and summary:
            self.compaction(summary)

    def read_all(self, records: Iterable[Json], field: str) -> None:
        """Read the history."""
        super().read_all((_entry(record) for record in records), field)

    def read(self, record: Record) -> None:
        """Read one entry."""
        about = self.source.report(record, "request_metadata")
        self._prompt(mapping(record, "user"), about)
        answer = mapping(record, "assistant")
        content = mapping(answer, *_ANSWERS)
        if content:
            self._answer(content, about)
        elif answer:
            self.source.leave_record("answer of an unknown kind", answer)

    def _prompt(self, user: Record, about: Record) -> None:
        """Read a user's message: results, what hooks added, and what was typed."""
        self.time = self.source.time(user, "timestamp")
        if self.time is None:
            self.time = self.source.time(about, "request_start_timestamp_ms")
        environment = self.source.report(user, "env_context/env_state")
        self.cwd = self.cwd or self.source.name(environment, "current_working_directory")
        prompt = mapping(user, "content")
        content = mapping(prompt, *_PROMPTS)
        if prompt and not content:
            self.source.leave_record("message of an unknown kind", prompt)
        for result in objects(content, "tool_use_results"):
            self.say_result(
                identifier(result, "tool_use_id"),
                _result_blocks(result),
                failed=label(result, "status") == "Error",
            )
        added = label(user, "additional_context")
        if added:
            self.say_text("user", added, synthetic=True)
        typed = label(content, "prompt")
        if typed:
            self.say_text("user", typed)
        if user.get("images"):
            self.source.leave_record("picture of a message", user["images"])

    def _answer(self, content: Record, about: Record) -> None:
        """Read an answer, with the calls as the model wrote them."""
        self.time = self.source.time(about, "stream_end_timestamp_ms") or self.time
        parts = Content([*text_block(label(content, "content"))])
        for use in objects(content, "tool_uses"):
            name = label(use, "orig_name") or label(use, "name")
            arguments = as_mapping(use.get("orig_args")) or as_mapping(use.get("args"))
            parts.blocks.append(ToolCall(identifier(use, "id"), name, arguments))
        self.say_content(
            "assistant",
            parts,
            id=identifier(content, "message_id"),
            model=self.source.name(about, "model_id"),
        )


def _entry(value: Json) -> Json:
    """An entry, also where it is a pair."""
    if isinstance(value, list) and len(value) == 2:
        return {"user": value[0], "assistant": value[1]}
    return value


def _result_blocks(result: Record) -> list[SaidBlock]:
    """What a tool returned: texts, and JSON as text."""
    blocks: list[SaidBlock] = []
    for part in objects(result, "content"):
        blocks += result_blocks(first_present(part, ("Text", "Json")))
    return blocks


@dataclass(frozen=True, slots=True)
class KiroTable:
    """The table of conversations: Kiro's has several of a folder, Amazon Q's the newest."""

    table: str
    columns: tuple[str, ...]

    def knows(self, head: Head) -> bool:
        """Whether a file is a database with this table."""
        return is_database_with((self.table, *self.columns), head)

    def documents(self, source: SourceFile) -> Iterator[JsonObject]:
        """Each conversation, with its history as `messages`."""
        with readable_database(source) as opened:
            rows = opened.execute(f"SELECT value FROM {self.table} ORDER BY rowid").fetchall()
        for row in rows:
            document = as_object(decode_or(row["value"]), f"{self.table}.value")
            history = items(document, "history")
            conversation_id = identifier(document, "conversation_id")
            yield {**document, "id": conversation_id, "messages": history, "history": None}


@dataclass(frozen=True, slots=True)
class KiroTables:
    """The tables of both programs."""

    tables: tuple[KiroTable, ...]

    def knows(self, head: Head) -> bool:
        """Whether a file is a database with one of these tables."""
        return any(table.knows(head) for table in self.tables)

    def documents(self, source: SourceFile) -> Iterator[JsonObject]:
        """Each conversation, those of the newer program first."""
        head = next(source.heads())
        for table in self.tables:
            if table.knows(head):
                yield from table.documents(source)


def knows_kiro(head: Head) -> bool:
    """Whether it is a conversation whose messages have the kinds of this program."""
    if not head.is_object_with("conversation_id", "history"):
        return False
    return '"env_context"' in head.text or '"additional_context"' in head.text


def _aside(history: str) -> str:
    """What the client keeps for itself; calls have their arguments twice."""
    fields = ["transcript", "tools", "model_info", "context_manager", "checkpoint_manager"]
    for answer in (f"{history}.assistant.ToolUse", f"{history}.ToolUse"):
        fields.append(f"{answer}.tool_uses.args")
    return " ".join(fields)


KIRO = Format(
    name="kiro",
    description="conversations of Kiro's command line and of Amazon Q's (JSON)",
    carries=("calls", "times", "model", "compactions"),
    knows=knows_kiro,
    sessions=json_document("history", KiroBuilder),
    aside=_aside("history"),
)

KIRO_DATABASE = database_format(
    name="kiro_database",
    description="the database of Kiro's command line and of Amazon Q's (SQLite)",
    carries=("calls", "times", "model", "compactions"),
    tables=KiroTables(
        (
            KiroTable("conversations_v2", ("key", "conversation_id", "value", "updated_at")),
            KiroTable("conversations", ("key", "value", "auth_kv")),
        )
    ),
    builder=KiroBuilder,
    aside=_aside("messages"),
)
