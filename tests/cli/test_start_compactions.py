"""`workbench` alone counts compactions without reading a session; what `load` reads of the same
file judges.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.samples import LINES

from workbench import load
from workbench.cli import main

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
PLACES = {
    "claude_code": ("Claude Code", ".claude/projects/p/1.jsonl"),
    "codex": ("Codex", ".codex/sessions/2026/11/27/rollout-1.jsonl"),
    "copilot_cli": ("Copilot CLI", ".copilot/session-state/ad23/events.jsonl"),
    "droid": ("Droid", ".factory/sessions/-p/1.jsonl"),
    "kimi_code": ("Kimi Code", ".kimi-code/sessions/1f/one/agents/main/wire.jsonl"),
    "kiro_lines": ("Kiro CLI", ".kiro/sessions/cli/1.jsonl"),
    "opencode_database": ("OpenCode", ".local/share/opencode/opencode.db"),
    "pi": ("pi", ".pi/agent/sessions/--p--/1.jsonl"),
    "qwen_code": ("Qwen Code", ".qwen/projects/-p/chats/1.jsonl"),
}
"""By format its agent, and where that keeps a session."""
BLOCK = 1 << 20
"""Bytes of a file that are searched at once."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without any session."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "KIRO_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kept(home: Path, format: str) -> Path:
    """Where a session of this format lies, in a folder that is there."""
    _, place = PLACES[format]
    file = home / place
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def write_lines(file: Path, records: Sequence[Any]) -> None:
    text = "".join(json.dumps(record) + "\n" for record in records)
    file.write_text(text, encoding="utf-8")


def listed(format: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The compactions that `workbench` alone lists of an agent."""
    assert main([]) == 0
    agent, _ = PLACES[format]
    (line,) = [row for row in capsys.readouterr().out.splitlines() if row.startswith(f"{agent} ")]
    _, _, _, compactions, *_ = line.removeprefix(agent).split()
    return compactions


def read_compactions(file: Path, format: str) -> int:
    """As many compactions as the importer reads; what a person cleared is none."""
    compactions = 0
    for session in load(file, format=format):
        for entry in session.log:
            compactions += entry.type == "compaction" and entry.reason != "clear"
    return compactions


@pytest.mark.parametrize("format", sorted(PLACES.keys() - {"opencode_database"}))
def test_as_many_are_listed_as_the_importer_reads(
    format: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kept(home, format)
    write_lines(file, SAMPLES[format])
    expected = read_compactions(file, format)
    assert expected > 0
    assert listed(format, capsys) == str(expected)


def test_a_compaction_that_failed_is_none(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = {"type": "session.compaction_complete", "id": "x", "data": {"success": False}}
    file = kept(home, "copilot_cli")
    write_lines(file, [*SAMPLES["copilot_cli"], record])
    assert listed("copilot_cli", capsys) == str(read_compactions(file, "copilot_cli"))


def test_one_is_seen_where_two_blocks_of_a_file_meet(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = json.dumps(CLAUDE[1])
    spaces = " " * (BLOCK - mark.index("compact_boundary") - 5)
    kept(home, "claude_code").write_text(f"{spaces}{mark}\n")
    assert listed("claude_code", capsys) == "1"


def write_opencode(file: Path, messages: Sequence[Mapping[str, Any]]) -> None:
    """Write a database of OpenCode with these answers of one session."""
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


def test_finished_summaries_of_a_database_count(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finished = {"created": 1, "completed": 2}
    messages: list[dict[str, Any]] = [
        {"time": finished},
        {"summary": True, "time": finished},
        {"summary": True, "time": {"created": 3}},
        {"summary": True, "time": finished, "error": {"name": "Aborted"}},
    ]
    file = kept(home, "opencode_database")
    write_opencode(file, messages)
    assert read_compactions(file, "opencode_database") == 1
    assert listed("opencode_database", capsys) == "1"


def test_of_a_file_that_cannot_be_read_nothing_is_claimed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(kept(home, "opencode_database"), CLAUDE)
    assert listed("opencode_database", capsys) == "0+"
