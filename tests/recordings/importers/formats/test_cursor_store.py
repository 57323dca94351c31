"""Chats of Cursor's agent of the terminal: made-up databases in the shape that the program writes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import database, only

from workbench import AssistantMessage, UnknownFormat, UserMessage, load
from workbench.engine.transcript.message import ToolResult, plain_text

TABLES = """
CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
"""
FILE = "eight lamps stand in the hall"
CALL = {"toolCallId": "t1", "toolName": "Read"}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You look after the lamps of a house."},
    {"role": "user", "content": "<user_info>\nOS Version: linux, and no shell\n</user_info>"},
    {
        "role": "user",
        "content": [{"type": "text", "text": "<user_query>\nhow many\n</user_query>"}],
    },
    {
        "role": "assistant",
        "id": "1",
        "content": [
            {"type": "reasoning", "text": "I should read the list of lamps."},
            {"type": "tool-call", "args": {"path": "lamps.txt"}, **CALL},
        ],
    },
    {"role": "tool", "content": [{"type": "tool-result", "result": FILE, **CALL}]},
    {"role": "assistant", "content": [{"type": "text", "text": "There are eight lamps."}]},
]
FOLDER = b"file:///home/me/hall"


def blob(data: bytes) -> tuple[str, bytes]:
    return hashlib.sha256(data).hexdigest(), data


def field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


def store(
    folder: Path, blobs: list[tuple[str, bytes]], state: bytes, *, is_hexadecimal: bool = True
) -> Path:
    """The database of a chat whose newest state is this."""
    state_id, _ = blob(state)
    about = {"agentId": "a1", "name": "lamps", "lastUsedModel": "big", "latestRootBlobId": state_id}
    value = json.dumps(about)
    if is_hexadecimal:
        value = value.encode().hex()
    return database(folder, TABLES, blobs=[*blobs, (state_id, state)], meta=[("0", value)])


def state_of(blobs: list[tuple[str, bytes]]) -> bytes:
    """A state with these messages, a folder, and fields of other kinds."""
    listed = b"".join(field(1, bytes.fromhex(blob_id)) for blob_id, _ in blobs)
    number, fixed_64, fixed_32 = b"\x28\x96\x01", b"\x31" + bytes(8), b"\x3d" + bytes(4)
    return number + fixed_64 + listed + fixed_32 + field(9, FOLDER)


BLOBS = [blob(json.dumps(message).encode()) for message in MESSAGES]


@pytest.mark.parametrize("is_hexadecimal", [True, False])
def test_the_messages_of_the_newest_state_are_read_in_its_order(
    tmp_path: Path, is_hexadecimal: bool
) -> None:
    path = store(tmp_path, BLOBS[::-1], state_of(BLOBS), is_hexadecimal=is_hexadecimal)
    session = only(path)
    assert (session.origin.format, session.id, session.title, session.model, session.project) == (
        "cursor_store",
        "a1",
        "lamps",
        "big",
        "hall",
    )
    roles = [message.role for message in session.messages]
    assert roles == ["system", "user", "user", "assistant", "tool", "assistant"]
    machine, question = session.messages[1:3]
    assert isinstance(machine, UserMessage) and isinstance(question, UserMessage)
    assert (machine.synthetic, question.synthetic) == (True, False)
    answer, result = session.messages[3:5]
    assert isinstance(answer, AssistantMessage) and isinstance(result, ToolResult)
    assert [block.type for block in answer.blocks] == ["thinking", "tool_call"]
    assert (result.call_id, result.name, plain_text(result)) == ("t1", "Read", FILE)
    assert (session.origin.text_read, session.origin.skipped) == (1.0, ())


def test_messages_of_earlier_states_and_those_that_lack_are_told(tmp_path: Path) -> None:
    path = store(tmp_path, BLOBS[:-1], state_of(BLOBS[1:]))
    session = only(path)
    assert len(session.messages) == 4
    assert session.origin.skipped[:2] == (
        "1 × message that the database lacks: unknown, left out",
        "1 × system message of an earlier state: unknown, left out",
    )
    assert "system message of an earlier state" in str(session.origin.unread)


def test_a_state_that_breaks_off_gives_the_messages_before(tmp_path: Path) -> None:
    path = store(tmp_path, BLOBS, state_of(BLOBS)[: 3 + 9 + 2 * 34 + 20])
    session = only(path)
    assert len(session.messages) == 2


def test_a_database_with_further_tables_is_no_chat(tmp_path: Path) -> None:
    other_table = "CREATE TABLE other (id TEXT);"
    path = database(tmp_path, TABLES + other_table, other=[("x",)])
    with pytest.raises(UnknownFormat):
        load(path)
