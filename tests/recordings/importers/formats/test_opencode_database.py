"""OpenCode's database gives the same sessions as its exports."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, only
from recordings.importers.samples import OPENCODE

from workbench import AssistantMessage, FormatError, UnknownFormat, load
from workbench.engine.transcript.message import plain_text

SCHEMA = """
CREATE TABLE `session` (`id` text PRIMARY KEY, `title` text, `directory` text, `time_created` integer);
CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text, `time_created` integer, `data` text);
CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text, `session_id` text, `time_created` integer, `data` text);
"""


def database(folder: Path, *, parts: str = "part") -> Path:
    """The made-up export as OpenCode stores it, with a write-ahead log."""
    path = folder / "opencode.db"
    info = OPENCODE["info"]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(SCHEMA.replace("`part`", f"`{parts}`"))
        connection.execute(
            "INSERT INTO session VALUES (?, ?, ?, 1)",
            (info["id"], info["title"], info["directory"]),
        )
        for i, message in enumerate(OPENCODE["messages"]):
            about = {key: value for key, value in message["info"].items() if key != "id"}
            row = (message["info"]["id"], info["id"], i, json.dumps(about))
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            for j, part in enumerate(message["parts"]):
                part_row = (f"p{i}-{j}", message["info"]["id"], info["id"], j, json.dumps(part))
                connection.execute(f"INSERT INTO {parts} VALUES (?, ?, ?, ?, ?)", part_row)
    return path


def test_a_database_is_read_as_its_export(tmp_path: Path) -> None:
    exported, stored = only(document(tmp_path, OPENCODE)), only(database(tmp_path))
    assert stored.origin.format == "opencode_database"
    assert (stored.log, stored.id, stored.title, stored.cwd) == (
        exported.log,
        exported.id,
        exported.title,
        exported.cwd,
    )


def test_what_is_still_in_the_write_ahead_log_is_read_and_the_files_stay_as_they_are(
    tmp_path: Path,
) -> None:
    exported = only(document(tmp_path, OPENCODE))
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as running_agent:
        running_agent.execute("PRAGMA journal_mode=WAL")
        running_agent.execute("CREATE TABLE todo (id text)")
        path = database(tmp_path)
        log_file = tmp_path / "opencode.db-wal"
        files_before = [path.read_bytes(), log_file.read_bytes()]
        assert b"CREATE TABLE" not in files_before[0]
        stored = only(path)
        assert [path.read_bytes(), log_file.read_bytes()] == files_before
    assert (stored.log, stored.origin.skipped) == (exported.log, ())


def test_a_database_that_later_versions_gave_more_tables_is_known_though_its_tables_are_named_behind_its_messages(
    tmp_path: Path,
) -> None:
    path = database(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO part VALUES ('p', 'none', 'none', 9, ?)",
            (json.dumps({"text": "long " * 40_000}),),
        )
        for i in range(60):
            connection.execute(
                f"CREATE TABLE later_{i} ({', '.join(f'a_long_name_{j} text' for j in range(9))})"
            )
    assert "CREATE TABLE" not in path.read_bytes()[: 1 << 16].decode(errors="replace")
    assert only(path).origin.format == "opencode_database"


def test_a_session_whose_messages_only_the_table_of_a_later_version_has_is_named(
    tmp_path: Path,
) -> None:
    path = database(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE session_message (id text, session_id text, data text)")
        connection.execute("INSERT INTO session VALUES ('ses_2', 'newer', '/home/me', 2)")
        connection.execute("INSERT INTO session_message VALUES ('m9', 'ses_2', '{}')")
    sessions = load(path)
    assert sessions[0].id == OPENCODE["info"]["id"] and sessions[0].messages
    assert sessions[-1].origin.skipped == (
        "session ses_2: its messages are in the table session_message alone",
    )


EVENTS = "CREATE TABLE event (aggregate_id text, seq integer, type text, data text)"


def undone(number: int) -> list[tuple[str, dict[str, Any]]]:
    """The events of a question and its answer that were said behind the second message."""
    session_id = OPENCODE["info"]["id"]
    created = 1_767_261_600_000 + number
    events: list[tuple[str, dict[str, Any]]] = []
    for role, words in (("user", f"wrong {number}"), ("assistant", f"sorry {number}")):
        message_id = f"u{number}-{role}"
        info = {"id": message_id, "role": role, "time": {"created": created}}
        if role == "assistant":
            info["tokens"] = {"input": 100 + number, "output": 7}
        part = {"id": f"{message_id}-part", "messageID": message_id, "type": "text", "text": "..."}
        shown = {**part, "id": f"{message_id}-shown"}
        shown_id = {"messageID": message_id, "partID": shown["id"]}
        events.append(("message.updated.1", {"sessionID": session_id, "info": info}))
        events.append(("message.part.updated.1", {"part": part}))
        events.append(("message.part.updated.1", {"part": shown}))
        events.append(("message.part.removed.1", shown_id))
        events.append(("message.part.updated.1", {"part": {**part, "text": words}}))
    for role in ("user", "assistant"):
        events.append(("message.removed.1", {"messageID": f"u{number}-{role}"}))
    return events


def test_messages_that_were_undone_are_branches_with_their_reports(tmp_path: Path) -> None:
    path = database(tmp_path)
    stored = only(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(EVENTS)
        for number, (type_, data) in enumerate([*undone(1), *undone(2)]):
            row = (OPENCODE["info"]["id"], number, type_, json.dumps(data))
            connection.execute("INSERT INTO event VALUES (?, ?, ?, ?)", row)
    session = only(path)
    assert session.path == stored.path
    assert session.branches == 2
    words = {
        entry.id: plain_text(entry.message) for entry in session.log if entry.type == "message"
    }
    assert [words[f"u{number}-assistant"] for number in (1, 2)] == ["sorry 1", "sorry 2"]
    prompts: list[int] = []
    for entry in session.log:
        message = entry.message if entry.type == "message" else None
        if isinstance(message, AssistantMessage) and message.usage is not None:
            prompts.append(message.usage.prompt)
    assert sorted(prompts) == [101, 102, 8905]


def test_another_database_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormat, match="no importer recognises"):
        load(database(tmp_path, parts="something"))


def test_a_database_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    path = database(tmp_path)
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(FormatError, match="the database cannot be read"):
        load(path)
