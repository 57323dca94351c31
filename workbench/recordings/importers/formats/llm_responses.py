"""The log of the `llm` command before 0.36: a row of `responses` is a prompt with its answer.

Checked with what 0.12 and 0.27 wrote. Tables for fragments, attachments and tools came one by one,
so each may be missing.
"""

import sqlite3
from collections.abc import Iterator, Mapping

from workbench.engine.transcript.message import AnswerBlock, Image, Json
from workbench.recordings.importers.blocks import text_block
from workbench.recordings.importers.formats.llm_database import LLM_USAGE
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.images import image, linked
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.session_tables import (
    SessionTables,
    database_format,
    readable_database,
)
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.usage import OPENAI_USAGE
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    identifier,
    label,
    objects,
    text,
)

RESPONSES = SessionTables(
    ("conversations", "responses", "prompt_json", "options_json", "conversation_id"),
    "SELECT * FROM conversations ORDER BY rowid",
    "SELECT * FROM responses WHERE conversation_id = ? ORDER BY rowid",
    json=("response_json", "token_details"),
)
_BESIDE_A_RESPONSE: Mapping[str, str] = {
    "prompt_fragments": "SELECT content FROM prompt_fragments JOIN fragments ON fragments.id ="
    ' fragment_id WHERE response_id = ? ORDER BY "order"',
    "system_fragments": "SELECT content FROM system_fragments JOIN fragments ON fragments.id ="
    ' fragment_id WHERE response_id = ? ORDER BY "order"',
    "prompt_attachments": "SELECT type, url, content FROM prompt_attachments JOIN attachments ON"
    ' attachments.id = attachment_id WHERE response_id = ? ORDER BY "order"',
    "tool_calls": "SELECT * FROM tool_calls WHERE response_id = ? ORDER BY id",
    "tool_results": "SELECT * FROM tool_results WHERE response_id = ? ORDER BY id",
}
"""By the name of a table that a version may lack: the query of its rows for one response."""


class LlmResponses:
    """The responses of each conversation, each with what other tables say of it."""

    def knows(self, head: Head) -> bool:
        """Whether a file is a database with these tables, and without the newer ones."""
        return RESPONSES.knows(head) and "tip_message_hash" not in head.text

    def documents(self, source: SourceFile) -> Iterator[JsonObject]:
        """Each conversation, whose `messages` are its responses.

        Raises:
            FormatError: the database cannot be read.
        """
        with readable_database(source) as opened:
            queries = _queries_beside(opened)
            for conversation in RESPONSES.documents_in(opened):
                for response in objects(conversation, "messages"):
                    _add_rows_beside(opened, queries, response)
                yield conversation


def _queries_beside(opened: sqlite3.Connection) -> dict[str, str]:
    """Those of the queries beside a response whose tables a database has."""
    tables = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    queries: dict[str, str] = {}
    for table in tables:
        name = table["name"]
        if name in _BESIDE_A_RESPONSE:
            queries[name] = _BESIDE_A_RESPONSE[name]
    return queries


def _add_rows_beside(
    opened: sqlite3.Connection,
    queries: Mapping[str, str],
    response: JsonObject,
) -> None:
    """Add the rows of other tables to a response, each list under the name of its table."""
    for table, query in queries.items():
        rows = opened.execute(query, (response.get("id"),)).fetchall()
        if rows:
            response[table] = [dict(row) for row in rows]


class LlmResponseBuilder(SessionBuilder):
    """Reads the responses of one conversation."""

    about = {"id": "id", "title": "name", "model": "model"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.system_prompt = ""

    def read(self, record: Record) -> None:
        """Read one response: results of tools, the prompt, and the answer."""
        self.time = self.source.time(record, "datetime_utc")
        self._read_system_prompt(record)
        for result in objects(record, "tool_results"):
            self.say_result(
                identifier(result, "tool_call_id"),
                text_block(text(result, "output")),
                name=text(result, "name"),
                failed=bool(result.get("exception")),
            )
        self._read_prompt(record)
        self._read_answer(record)

    def _read_system_prompt(self, record: Record) -> None:
        """Read the system prompt, which stands in each response that had one."""
        words = _with_fragments(record, "system_fragments", "system")
        if words and words != self.system_prompt:
            self.system_prompt = words
            self.say_text("system", words)

    def _read_prompt(self, record: Record) -> None:
        """Read what was typed, with its pictures; nothing where tools alone are answered."""
        words = _with_fragments(record, "prompt_fragments", "prompt")
        prompt = Content([*text_block(words)])
        for attachment in objects(record, "prompt_attachments"):
            kind = label(attachment, "type")
            if kind.startswith("image/"):
                prompt.blocks.append(_picture(attachment))
            else:
                self.source.leave_record(f"attachment of type {kind!r:.40}", attachment)
        if prompt.blocks:
            self.say_content("user", prompt)

    def _read_answer(self, record: Record) -> None:
        blocks: list[AnswerBlock] = [*text_block(text(record, "response"))]
        for call in objects(record, "tool_calls"):
            blocks.append(tool_call(_shaped_call(call)))
        if not blocks:
            return
        usage = self.source.usage(LLM_USAGE, record)
        if usage is None:
            reported = as_mapping(record.get("response_json"))
            usage = self.source.usage(OPENAI_USAGE, reported, "usage")
        model = text(record, "resolved_model", "model")
        self.say_content(
            "assistant",
            Content(blocks),
            id=identifier(record, "id"),
            model=model,
            usage=usage,
        )


def _picture(attachment: Record) -> Image:
    """A picture, which the log holds, or only its place."""
    data = attachment.get("content")
    if isinstance(data, bytes):
        return image(label(attachment, "type"), data)
    return linked(label(attachment, "url"))


def _with_fragments(record: Record, fragments: str, field: str) -> str:
    """The words that were sent: fragments of other texts, and then what was typed."""
    words: list[str] = []
    for fragment in objects(record, fragments):
        words.append(text(fragment, "content"))
    words.append(text(record, field))
    return "\n".join(filter(None, words))


def _shaped_call(call: Record) -> JsonObject:
    """A call as chat APIs have it."""
    arguments: Json = decode_or(call.get("arguments"), {})
    return {
        "id": call.get("tool_call_id"),
        "name": call.get("name"),
        "arguments": arguments,
    }


LLM_RESPONSES = database_format(
    name="llm_responses",
    description="log of the `llm` command before 0.36 (SQLite)",
    carries=("calls", "images", "usage", "times", "model", "system"),
    tables=LlmResponses(),
    builder=LlmResponseBuilder,
    aside="name",
)
