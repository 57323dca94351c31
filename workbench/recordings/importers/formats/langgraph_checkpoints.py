"""LangGraph's SQLite saver (3.1): a checkpoint a step, in each the whole list of messages."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from workbench.engine.transcript.message import Json
from workbench.recordings.importers.formats.langchain import LangChainBuilder
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.msgpack import unpacked_value
from workbench.recordings.importers.session_tables import (
    database_format,
    is_database_with,
    readable_database,
)
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    identifier,
    mapping,
    texts,
)

_TABLES_AND_COLUMNS = ("checkpoints", "writes", "thread_id", "checkpoint_ns", "channel")
_THREADS = """
SELECT thread_id, checkpoint_ns, max(checkpoint_id) AS newest FROM checkpoints
GROUP BY thread_id, checkpoint_ns ORDER BY min(checkpoint_id)
"""
_CHECKPOINT = """
SELECT * FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
"""
_ERRORS = """
SELECT value FROM writes
WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? AND channel = '__error__'
ORDER BY rowid
"""


class LangGraphCheckpoints:
    """The checkpoints of LangGraph: a session a thread, and one a sub-graph of it."""

    def knows(self, head: Head) -> bool:
        """Whether a file is a database with the saver's tables."""
        return is_database_with(_TABLES_AND_COLUMNS, head)

    def documents(self, source: SourceFile) -> Iterator[JsonObject]:
        """Each thread, whose `messages` are the states of its newest branch.

        Raises:
            FormatError: the database cannot be read.
        """
        with readable_database(source) as opened:
            for thread in opened.execute(_THREADS).fetchall():
                yield _thread(opened, thread)


def _thread(opened: sqlite3.Connection, thread: sqlite3.Row) -> JsonObject:
    """A thread with its states, the oldest first, along the parents of the newest."""
    names = (thread["thread_id"], thread["checkpoint_ns"])
    states: list[Json] = []
    seen_ids: set[str] = set()
    checkpoint_id = thread["newest"]
    while checkpoint_id and checkpoint_id not in seen_ids:
        seen_ids.add(checkpoint_id)
        row = opened.execute(_CHECKPOINT, (*names, checkpoint_id)).fetchone()
        if row is None:
            break
        errors = opened.execute(_ERRORS, (*names, checkpoint_id)).fetchall()
        states.append({**_state(row), "errors": _error_texts(errors)})
        checkpoint_id = row["parent_checkpoint_id"]
    return {"id": "-".join(filter(None, names)), "messages": states[::-1]}


def _state(row: sqlite3.Row) -> JsonObject:
    """What the channels held at one checkpoint, and when that was."""
    raw = row["checkpoint"]
    if row["type"] == "msgpack":
        checkpoint = unpacked_value(raw)
    else:
        if isinstance(raw, bytes):
            raw = raw.decode(errors="replace")
        checkpoint = decode_or(raw)
    holder = as_mapping(checkpoint)
    return {"ts": holder.get("ts"), "channels": holder.get("channel_values")}


def _error_texts(rows: Iterable[sqlite3.Row]) -> list[Json]:
    """The errors of a step in words, as far as they were written so."""
    error_texts: list[Json] = []
    for row in rows:
        value = row["value"]
        if isinstance(value, bytes):
            value = unpacked_value(value)
        if isinstance(value, str):
            error_texts.append(value)
    return error_texts


class LangGraphBuilder(LangChainBuilder):
    """Reads the states of one thread: messages that are new, compactions where known ones are
    gone, and the errors of the step after a state.
    """

    about = {"id": "id"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.entry_ids: dict[str, tuple[str, ...]] = {}

    def read(self, record: Record) -> None:
        """Read one state."""
        time = self.source.time(record, "ts")
        messages = _messages_of(mapping(record, "channels"))
        if messages:
            self._read_messages(record, messages, time)
        self.time = time
        for error in texts(record, "errors"):
            self.note("error", error)

    def _read_messages(
        self, record: Record, messages: list[JsonObject], time: float | None
    ) -> None:
        keys = [_message_key(message) for message in messages]
        if self.entry_ids and not set(keys) >= set(self.entry_ids):
            self._compact(messages, keys, time)
        for message, key in zip(messages, keys, strict=True):
            if key in self.entry_ids:
                continue
            count = len(self.log)
            super().read(_with_time(message, record.get("ts")))
            self.entry_ids[key] = self.ids[count:]

    def _compact(self, messages: list[JsonObject], keys: list[str], time: float | None) -> None:
        """Read the state after messages were removed; a new summary stands for them."""
        self.time = time
        remaining = {key: self.entry_ids[key] for key in keys if key in self.entry_ids}
        summary: str | None = None
        summary_key = ""
        for message, key in zip(messages, keys, strict=True):
            about = mapping(message, "kwargs")
            source = mapping(about, "additional_kwargs").get("lc_source")
            if key not in self.entry_ids and source == "summarization":
                summary = self.summary_in(about)
                summary_key = key
        kept_ids: list[str] = []
        for entry_ids in remaining.values():
            kept_ids += entry_ids
        entry_id = self.compaction(summary, kept=(*self.system_ids, *kept_ids))
        self.entry_ids = remaining
        if summary_key:
            self.entry_ids[summary_key] = (entry_id,)


def _messages_of(channels: Mapping[str, Json]) -> list[JsonObject]:
    """The messages of a state, in the channel `messages` or the first other one that has some."""
    names = sorted(channels, key=lambda name: name != "messages")
    for name in names:
        value = channels[name]
        if not isinstance(value, list) or not value:
            continue
        messages = [as_mapping(item) for item in value]
        if all(_is_message(message) for message in messages):
            return messages
    return []


def _is_message(record: Record) -> bool:
    """Whether a value is an object of one of LangChain's classes of messages."""
    names = record.get("id")
    if not isinstance(names, list) or not names:
        return False
    class_name = str(names[-1])
    return class_name.removesuffix("Chunk").endswith("Message")


def _with_time(message: Record, time: Json) -> JsonObject:
    """A message with the time of the state in which it is new."""
    about = mapping(message, "kwargs")
    return {**message, "kwargs": {**about, "timestamp": time}}


def _message_key(message: Record) -> str:
    """What tells a message from others: its id, else all of it."""
    about = mapping(message, "kwargs")
    return identifier(about, "id") or repr(about)


LANGGRAPH_DATABASE = database_format(
    name="langgraph_database",
    description="checkpoints of LangGraph (SQLite)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions", "system"),
    tables=LangGraphCheckpoints(),
    builder=LangGraphBuilder,
)
