"""Frameworks that keep their sessions in SQLite, each tried with a database of its own code.

`llm` (0.36) logs threads of messages in `logs.db`. Agno (2.3 and 3.1) keeps runs, and in each the
messages of its requests. LlamaIndex's `Memory` (0.14) keeps messages by key. LangGraph's SQLite
saver (3.1) keeps a checkpoint a step, in each the whole list of messages.
"""

import sqlite3
from collections.abc import Iterator, Mapping

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json
from workbench.recordings.importers.described import DescribedBuilder, MessageShape
from workbench.recordings.importers.formats.langchain import LangChainBuilder
from workbench.recordings.importers.formats.llama_index import LlamaIndexBuilder
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.msgpack import unpacked_value
from workbench.recordings.importers.session_tables import SessionTables, TableVersions
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.sqlite import database
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_list,
    as_mapping,
    as_object,
    identifier,
    label,
    mapping,
    objects,
)

LLM_TABLES = SessionTables(
    ("threads", "tip_message_hash", "parent_hash", "turns", "part_fragments"),
    "SELECT id, name FROM threads ORDER BY datetime_utc, id",
    """
    WITH RECURSIVE chain(hash, depth) AS (
        SELECT tip_message_hash, 0 FROM threads WHERE id = ?1
        UNION ALL
        SELECT parent_hash, depth + 1 FROM chain JOIN messages USING (hash)
        WHERE parent_hash IS NOT NULL
    )
    SELECT messages.hash AS id, role, turns.model, input_tokens, output_tokens, token_details,
        datetime_utc AS timestamp,
        (SELECT json_group_array(json_object('type', type, 'text', words, 'payload', payload))
            FROM (SELECT type, payload, coalesce(nullif(text, ''), (
                    SELECT group_concat(content, char(10)) FROM part_fragments
                    JOIN fragments ON fragments.id = fragment_id WHERE part_id = parts.id)) AS words
                FROM parts WHERE message_hash = messages.hash ORDER BY position)) AS parts
    FROM chain JOIN messages USING (hash)
    LEFT JOIN turns ON turns.tip_message_hash = messages.hash AND turns.thread_id = ?1
    GROUP BY messages.hash ORDER BY depth DESC
    """,
    json=("parts", "token_details"),
)
AGNO_TABLES = TableVersions(
    (
        SessionTables(
            ("agno_sessions", "agno_runs", "run_data", "run_index"),
            "SELECT *, session_id AS id FROM agno_sessions ORDER BY created_at, session_id",
            "SELECT run_data AS runs FROM agno_runs WHERE session_id = ? ORDER BY run_index",
            json=("runs",),
        ),
        SessionTables(
            ("agno_sessions", "session_data", "agent_data", "runs"),
            "SELECT *, session_id AS id FROM agno_sessions ORDER BY created_at, session_id",
            "SELECT runs FROM agno_sessions WHERE session_id = ?",
            json=("runs",),
        ),
    )
)
AGNO_ASIDE = (
    "session_data agent_data team_data workflow_data metadata runs messages.runs.content "
    "messages.runs.tools messages.runs.session_state messages.runs.events"
)
"""What Agno keeps beside its messages; the content of a run repeats its answers, and `runs` of a
session all of `messages.runs`.
"""
LLAMA_INDEX_TABLES = SessionTables(
    ("llama_index_memory", "key", "role", "status", "data"),
    "SELECT key AS id FROM llama_index_memory GROUP BY key ORDER BY min(id)",
    "SELECT data FROM llama_index_memory WHERE key = ? ORDER BY timestamp, id",
    json=("data",),
)


class LlmBuilder(DescribedBuilder):
    """Reads the messages of one thread."""

    about = {"id": "id", "title": "name"}
    shape = MessageShape(
        usage=UsageFields(
            "input_tokens",
            "output_tokens",
            "token_details/prompt_tokens_details/cached_tokens",
            reasoning="token_details/completion_tokens_details/reasoning_tokens",
            cache_in_input=True,
        )
    )
    usage_fields = shape.usage

    def read(self, record: Record) -> None:
        """Read one row: a message with its parts, and of an answer what the provider reported."""
        parts: list[Json] = []
        for part in objects(record, "parts"):
            payload = as_mapping(decode_or(part.get("payload")))
            parts.append(_llm_part(part, payload))
        super().read({**record, "parts": None, "content": parts, "usage": dict(record)})


def _llm_part(part: Record, payload: Record) -> JsonObject:
    """A part of a message as other formats name it."""
    type_ = label(part, "type")
    if type_ == "reasoning":
        return {"type": "thinking", "thinking": part.get("text")}
    return {**payload, "type": type_, "text": part.get("text")}


class AgnoBuilder(DescribedBuilder):
    """Reads the runs of one session; a run of a team's member is a sub-agent's."""

    about = {"id": "session_id"}
    shape = MessageShape(time="created_at", failed="tool_call_error", usage_in="metrics")
    usage_fields = UsageFields(
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        reasoning="reasoning_tokens",
        cache_in_input=True,
    )

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.instructions = ""

    def read(self, record: Record) -> None:
        """Read one row: a run, or all of a session."""
        runs = decode_or(record.get("runs"), record.get("runs"))
        for run in as_list(runs):
            self._read_run(as_object(run, "runs"))

    def _read_run(self, run: Record) -> None:
        if identifier(run, "parent_run_id"):
            self.turn_to(identifier(run, "run_id"))
        messages = objects(run, "messages")
        for message in messages:
            if message.get("from_history") is not True:
                self._read_message_of(run, message)
        if not messages:
            self._read_unfinished(run)
        self.turn_to("")

    def _read_message_of(self, run: Record, message: Record) -> None:
        """Read a message that is new in this run; instructions are said once."""
        if message.get("role") == "system":
            instructions = label(message, "content")
            if instructions == self.instructions:
                return
            self.instructions = instructions
        named = {
            **message,
            "name": message.get("tool_name"),
            "model": run.get("model"),
            "metrics": _agno_usage(run, message),
        }
        super().read(named)

    def _read_unfinished(self, run: Record) -> None:
        """Read a run that no model answered: what was asked, and what the framework says of it."""
        self.time = self.source.time(run, "created_at")
        prompt = label(mapping(run, "input"), "input_content")
        if prompt:
            self.say_text("user", prompt)
        words = label(run, "content")
        if words:
            self.note(label(run, "status") or "run", words)


def _agno_usage(run: Record, message: Record) -> Json:
    """What an answer used; Anthropic's input is without what the cache held."""
    figures = as_mapping(message.get("metrics"))
    if label(run, "model_provider") != "Anthropic" or not figures:
        return figures or None
    input_tokens = 0
    for field in ("input_tokens", "cache_read_tokens", "cache_write_tokens"):
        figure = figures.get(field)
        if isinstance(figure, int):
            input_tokens += figure
    return {**figures, "input_tokens": input_tokens}


class LlamaIndexRowBuilder(LlamaIndexBuilder):
    """Reads the rows of one key."""

    about = {"id": "id"}

    def read(self, record: Record) -> None:
        """Read one row."""
        super().read(as_object(record.get("data"), "data"))


class LangGraphCheckpoints:
    """The checkpoints of LangGraph: a session a thread, and one a sub-graph of it."""

    tables = frozenset({"checkpoints", "writes", "thread_id", "checkpoint_ns", "channel"})

    def knows(self, head: Head) -> bool:
        """Whether a file is a database with the saver's tables."""
        return SessionTables(tuple(self.tables), "", "").knows(head)

    def documents(self, source: SourceFile) -> Iterator[JsonObject]:
        """Each thread, whose `messages` are the states of its newest branch.

        Raises:
            FormatError: the database cannot be read.
        """
        try:
            with database(source.database_bytes()) as opened:
                threads = opened.execute(
                    "SELECT thread_id, checkpoint_ns, max(checkpoint_id) AS newest FROM checkpoints"
                    " GROUP BY thread_id, checkpoint_ns ORDER BY min(checkpoint_id)"
                ).fetchall()
                for thread in threads:
                    yield _thread(opened, thread)
        except sqlite3.Error as error:
            raise FormatError(
                f"the database cannot be read ({error})", where=source.where
            ) from None


def _thread(opened: sqlite3.Connection, thread: sqlite3.Row) -> JsonObject:
    """A thread with its states, the oldest first, along the parents of the newest."""
    names = (thread["thread_id"], thread["checkpoint_ns"])
    states: list[Json] = []
    checkpoint_id = thread["newest"]
    while checkpoint_id:
        row = opened.execute(
            "SELECT * FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
            " AND checkpoint_id = ?",
            (*names, checkpoint_id),
        ).fetchone()
        if row is None:
            break
        states.append(_state(row))
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


class LangGraphBuilder(LangChainBuilder):
    """Reads the states of one thread: messages that are new, and compactions where known ones are
    gone.
    """

    about = {"id": "id"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.entry_ids: dict[str, tuple[str, ...]] = {}

    def read(self, record: Record) -> None:
        """Read one state."""
        time = self.source.time(record, "ts")
        messages = _messages_of(mapping(record, "channels"))
        if not messages:
            return
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
