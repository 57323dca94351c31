"""Compactions are counted in lines and in tables; what the importer reads of the same file judges."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.samples import LINES

from workbench import load
from workbench.recordings.importers.compaction_counts import (
    BLOCK,
    MARKS,
    CompactionCount,
    counted_compactions,
)

PAYLOAD = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
CODEX = [
    {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s"}},
    {"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": PAYLOAD},
    {"timestamp": "2026-01-01T00:00:02Z", "type": "compacted", "payload": {"message": "short"}},
]
PI = [
    {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"},
    {
        "type": "message",
        "id": "a",
        "parentId": None,
        "timestamp": "2026-01-01T00:00:01Z",
        "message": {"role": "user", "content": "compaction?"},
    },
    {
        "type": "compaction",
        "id": "b",
        "parentId": "a",
        "timestamp": "2026-01-01T00:00:02Z",
        "summary": "short",
        "firstKeptEntryId": "a",
    },
]
COMMON = {"sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w", "version": "2.1.0"}
CLAUDE = [
    {
        **COMMON,
        "type": "user",
        "uuid": "a",
        "parentUuid": None,
        "message": {"role": "user", "content": "what is a compact_boundary?"},
    },
    {
        **COMMON,
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
        "logicalParentUuid": "a",
        "compactMetadata": {"trigger": "auto", "preTokens": 9000},
    },
]
SAMPLES: Mapping[str, Sequence[Any]] = {**LINES, "codex": CODEX, "pi": PI, "claude_code": CLAUDE}


def in_lines(folder: Path, records: Sequence[Any], name: str = "a") -> Path:
    file = folder / f"{name}.jsonl"
    text = "".join(json.dumps(record) + "\n" for record in records)
    file.write_text(text, encoding="utf-8")
    return file


def read_compactions(file: Path, format: str) -> int:
    """As many compactions as the importer reads; what a person cleared is none."""
    compactions = 0
    for session in load(file, format=format):
        for entry in session.log:
            compactions += entry.type == "compaction" and entry.reason != "clear"
    return compactions


@pytest.mark.parametrize("format", MARKS)
def test_a_mark_finds_what_the_importer_reads(format: str, tmp_path: Path) -> None:
    file = in_lines(tmp_path, SAMPLES[format])
    expected = read_compactions(file, format)
    assert expected > 0
    assert counted_compactions(format, [file], 60) == CompactionCount(expected, 1, 1)


def test_a_compaction_that_failed_is_none(tmp_path: Path) -> None:
    record = {"type": "session.compaction_complete", "id": "x", "data": {"success": False}}
    file = in_lines(tmp_path, [*SAMPLES["copilot_cli"], record])
    expected = read_compactions(file, "copilot_cli")
    assert counted_compactions("copilot_cli", [file], 60) == CompactionCount(expected, 1, 1)


def test_a_mark_is_found_where_two_blocks_meet(tmp_path: Path) -> None:
    mark = json.dumps(CLAUDE[1])
    spaces = " " * (BLOCK - mark.index("compact_boundary") - 5)
    file = tmp_path / "a.jsonl"
    file.write_text(f"{spaces}{mark}\n")
    assert counted_compactions("claude_code", [file], 60) == CompactionCount(1, 1, 1)


def opencode(file: Path, messages: Sequence[Mapping[str, Any]]) -> Path:
    """A database of OpenCode with these answers of one session."""
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE session (id, title, directory, time_created)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, session_id, time_created, data)")
        database.execute("INSERT INTO session VALUES ('ses_1', 't', '/w', 1)")
        for number, message in enumerate(messages):
            data = json.dumps({"role": "assistant", **message}, separators=(",", ":"))
            name = f"m{number}"
            database.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (name, number, data))
            part = (f"p{number}", name, number, '{"type":"text","text":"short"}')
            database.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?, ?)", part)
    database.close()
    return file


def test_finished_summaries_of_a_database_count(tmp_path: Path) -> None:
    finished = {"created": 1, "completed": 2}
    messages = [
        {"time": finished},
        {"summary": True, "time": finished},
        {"summary": True, "time": {"created": 3}},
        {"summary": True, "time": finished, "error": {"name": "Aborted"}},
    ]
    file = opencode(tmp_path / "opencode.db", messages)
    expected = read_compactions(file, "opencode_database")
    assert expected == 1
    assert counted_compactions("opencode_database", [file], 60) == CompactionCount(1, 1, 1)


def test_what_cannot_be_read_is_not_counted_as_read(tmp_path: Path) -> None:
    file = in_lines(tmp_path, CLAUDE)
    count = counted_compactions("claude_code", [tmp_path / "gone.jsonl", file], 60)
    assert count == CompactionCount(1, 1, 2)
    no_database = in_lines(tmp_path, CLAUDE, "opencode")
    assert counted_compactions("opencode_database", [no_database], 60) == CompactionCount(0, 0, 1)


def test_a_format_without_a_mark_is_not_counted(tmp_path: Path) -> None:
    assert counted_compactions("aider", [tmp_path / ".aider.chat.history.md"], 60) is None
