"""LlamaIndex's chat messages (0.10 to 0.14): in a chat store, a memory, a list, or the database of
`Memory` (0.14).
"""

import re
from collections.abc import Iterator

from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_lists import message_sessions
from workbench.recordings.importers.session_tables import SessionTables, database_format
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_list,
    as_mapping,
    as_object,
    items,
    label,
    objects,
)

_BLOCK = re.compile(r'"block_type":\s*"')
_STORE = re.compile(
    r'"class_name":\s*"(?:SimpleChatStore|ChatMemoryBuffer|ChatSummaryMemoryBuffer)"'
)
_OLD_MESSAGE = frozenset({"role", "content", "additional_kwargs"})
LLAMA_INDEX_TABLES = SessionTables(
    ("llama_index_memory", "key", "role", "status", "data"),
    "SELECT key AS id FROM llama_index_memory GROUP BY key ORDER BY min(id)",
    "SELECT data FROM llama_index_memory WHERE key = ? ORDER BY timestamp, id",
    json=("data",),
)


def knows_llama_index(head: Head) -> bool:
    """Whether it is a chat store or a memory, or its messages have LlamaIndex's blocks or fields."""
    if '"additional_kwargs"' not in head.text:
        return False
    if {"store", "chat_store"} & head.keys:
        return True
    if _BLOCK.search(head.text) or _STORE.search(head.text):
        return True
    return head.keys >= _OLD_MESSAGE and not {"type", "id"} & head.keys


def llama_index_lists(document: Json) -> dict[str, Json]:
    """The lists of messages of a document, by the key of each."""
    holder = as_mapping(document)
    store = as_mapping(holder.get("chat_store")) or holder
    lists = as_mapping(store.get("store"))
    if lists:
        return dict(lists)
    if isinstance(document, list):
        return {"": document}
    return {"": items(holder, "messages")}


class LlamaIndexBuilder(ChatBuilder):
    """Reads messages, of blocks or, in old versions, of a text."""

    def read(self, record: Record) -> None:
        """Read one message; its calls may stand in its blocks and beside them."""
        more = as_mapping(record.get("additional_kwargs"))
        blocks: list[Json] = [_block(block) for block in objects(record, "blocks")]
        content = blocks or record.get("content")
        super().read({**more, "role": record.get("role"), "content": content})


def _block(block: Record) -> JsonObject:
    """A block as other formats name its fields; one without the fields of its type stays unknown."""
    type_ = label(block, "block_type")
    if type_ == "thinking" and "content" in block:
        return {"type": type_, "thinking": block["content"]}
    if type_ == "tool_call" and "tool_name" in block:
        return {
            "type": type_,
            "id": block.get("tool_call_id"),
            "name": block["tool_name"],
            "input": block.get("tool_kwargs"),
        }
    if type_ in ("thinking", "tool_call"):
        type_ = f"odd {type_}"
    return {**block, "type": type_}


def llama_index_sessions(source: SourceFile) -> Iterator[Session]:
    """Reads a session a key of a store, or the one of a list of messages."""
    if source.in_lines():
        yield from message_sessions(LlamaIndexBuilder)(source)
        return
    for key, messages in llama_index_lists(source.document()).items():
        builder = LlamaIndexBuilder(source)
        builder.id = key
        with source.at(field=key):
            builder.read_all(as_list(messages), "messages")
            yield builder.session()


class LlamaIndexRowBuilder(LlamaIndexBuilder):
    """Reads the rows of one key."""

    about = {"id": "id"}

    def read(self, record: Record) -> None:
        """Read one row."""
        super().read(as_object(record.get("data"), "data"))


LLAMA_INDEX_DATABASE = database_format(
    name="llama_index_database",
    description="memories of LlamaIndex (SQLite)",
    carries=("calls", "thinking", "images", "system"),
    tables=LLAMA_INDEX_TABLES,
    builder=LlamaIndexRowBuilder,
)

LLAMA_INDEX = Format(
    name="llama_index",
    description="LlamaIndex's chat stores, memories and messages (JSON)",
    carries=("calls", "thinking", "images", "system"),
    knows=knows_llama_index,
    sessions=llama_index_sessions,
)
