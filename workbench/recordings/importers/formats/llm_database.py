"""The log of the `llm` command (0.36): threads of messages in `logs.db`."""

from workbench.engine.transcript.message import Json
from workbench.recordings.importers.described import DescribedBuilder, MessageShape
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.session_tables import SessionTables, database_format
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    label,
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
LLM_USAGE = UsageFields(
    "input_tokens",
    "output_tokens",
    "token_details/prompt_tokens_details/cached_tokens",
    reasoning="token_details/completion_tokens_details/reasoning_tokens",
    cache_in_input=True,
)


class LlmBuilder(DescribedBuilder):
    """Reads the messages of one thread."""

    about = {"id": "id", "title": "name"}
    shape = MessageShape(usage=LLM_USAGE)
    usage_fields = LLM_USAGE

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


LLM_DATABASE = database_format(
    name="llm_database",
    description="log of the `llm` command of 0.36 (SQLite)",
    carries=("calls", "thinking", "usage", "times", "model", "system"),
    tables=LLM_TABLES,
    builder=LlmBuilder,
    aside="name",
)
