"""What agents report of their requests in lines and databases, by value: the prompt, what of it
came from the cache, and the whole answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import database, written
from recordings.importers.formats.test_reported_usage import Report, reports

from workbench import load

TIME = "2026-01-01T10:00:00Z"


def claude_answer(number: int, block: dict[str, Any], usage: dict[str, int]) -> dict[str, Any]:
    """A line of an answer of Claude Code; `number` is the answer's."""
    message = {"id": f"msg{number}", "role": "assistant", "model": "claude", "content": [block]}
    line = {"type": "assistant", "sessionId": "s", "timestamp": TIME, "parentUuid": None}
    return {**line, "uuid": f"{number}-{block['type']}", "message": {**message, "usage": usage}}


def claude_code(folder: Path) -> Path:
    """Two answers, the first of which is told in two lines with the same report."""
    first = {
        "input_tokens": 3,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 37,
        "output_tokens": 9,
    }
    call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": "lamp.py"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "volts = 11"}
    user = {"type": "user", "sessionId": "s", "timestamp": TIME, "parentUuid": None}
    lines = [
        {**user, "uuid": "u0", "message": {"role": "user", "content": "Why is the lamp dim?"}},
        {**claude_answer(1, {"type": "text", "text": "I look."}, first), "parentUuid": "u0"},
        {**claude_answer(1, call, first), "parentUuid": "1-text"},
        {
            **user,
            "uuid": "u1",
            "parentUuid": "1-tool_use",
            "message": {"role": "user", "content": [result]},
        },
        {
            **claude_answer(
                2,
                {"type": "text", "text": "Eleven volts."},
                {"input_tokens": 120, "output_tokens": 7},
            ),
            "parentUuid": "u1",
        },
    ]
    return written(folder, lines)


def pi(folder: Path) -> Path:
    """Two answers; what was written to the cache is a part of the prompt."""
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s1", "timestamp": TIME, "cwd": "/p"}
    ]
    question = {"role": "user", "content": [{"type": "text", "text": "Why is the lamp dim?"}]}
    lines.append({"type": "message", "id": "m0", "parentId": None, "message": question})
    for number in (1, 2):
        answer = {
            "role": "assistant",
            "content": [{"type": "text", "text": "Eleven volts."}],
            "usage": {"input": 5, "output": 7 * number, "cacheRead": 100, "cacheWrite": 20},
            "model": "big",
        }
        line = {"type": "message", "id": f"m{number}", "parentId": f"m{number - 1}"}
        lines.append({**line, "timestamp": TIME, "message": answer})
    return written(folder, lines)


def codex_line(type_: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": TIME, "type": type_, "payload": payload}


def codex(folder: Path) -> Path:
    """Two answers; reasoning is inside the output, the cache inside the input."""
    lines = [codex_line("session_meta", {"id": "s1", "timestamp": TIME, "cwd": "/p"})]
    whole = 0
    for number in (1, 2):
        output = 9 * number
        whole += 100 + output
        usage = {
            "input_tokens": 100,
            "cached_input_tokens": 60,
            "output_tokens": output,
            "reasoning_output_tokens": 4,
            "total_tokens": 100 + output,
        }
        said = {"type": "message", "role": "user"}
        asked = [{"type": "input_text", "text": "Why is the lamp dim?"}]
        told = [{"type": "output_text", "text": "Eleven volts."}]
        answer = {"type": "message", "role": "assistant", "content": told}
        info = {"total_token_usage": {"total_tokens": whole}, "last_token_usage": usage}
        lines.append(codex_line("response_item", {**said, "content": asked}))
        lines.append(codex_line("response_item", answer))
        lines.append(codex_line("event_msg", {"type": "token_count", "info": info}))
    return written(folder, lines)


OPENCODE_TABLES = """
CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT, directory TEXT, time_created INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
"""


def opencode_database(folder: Path) -> Path:
    """A question and its answer; the cache and the reasoning stand beside input and output."""
    tokens = {
        "input": 5,
        "output": 7,
        "reasoning": 3,
        "cache": {"read": 100, "write": 20},
        "total": 135,
    }
    asked = {"role": "user", "time": {"created": 1}}
    told = {
        "role": "assistant",
        "modelID": "big",
        "providerID": "p",
        "time": {"created": 2, "completed": 3},
        "tokens": tokens,
    }
    messages = [
        ("m1", "s1", 1, json.dumps(asked)),
        ("m2", "s1", 2, json.dumps(told)),
    ]
    parts = [
        ("p1", "m1", "s1", 1, json.dumps({"type": "text", "text": "Why is the lamp dim?"})),
        ("p2", "m2", "s1", 2, json.dumps({"type": "text", "text": "Eleven volts."})),
    ]
    return database(
        folder, OPENCODE_TABLES, session=[("s1", "a lamp", "/p", 1)], message=messages, part=parts
    )


GOOSE_TABLES = """
CREATE TABLE sessions (id TEXT, description TEXT, working_dir TEXT, created_at TEXT, input_tokens INTEGER,
    output_tokens INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT,
    created_timestamp INTEGER, metadata_json TEXT);
"""
CRUSH_TABLES = """
CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, prompt_tokens INTEGER,
    completion_tokens INTEGER, created_at INTEGER, updated_at INTEGER);
CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER,
    finished_at INTEGER, is_summary_message INTEGER);
"""
SAID = (("user", "Why is the lamp dim?"), ("assistant", "Eleven volts."))


def goose_database(folder: Path) -> Path:
    """A session has the figures of its last request alone."""
    messages: list[tuple[Any, ...]] = []
    for number, (role, words) in enumerate(SAID, 1):
        content = json.dumps([{"type": "text", "text": words}])
        messages.append((number, f"m{number}", "s1", role, content, number, "{}"))
    sessions = [("s1", "a lamp", "/p", TIME, 100, 9)]
    return database(folder, GOOSE_TABLES, sessions=sessions, messages=messages)


def crush_database(folder: Path) -> Path:
    """Likewise; since January 2026 what was read from the cache is in neither figure."""
    written_at = 1_780_000_000
    messages: list[tuple[Any, ...]] = []
    for number, (role, words) in enumerate(SAID, 1):
        parts = json.dumps([{"type": "text", "data": {"text": words}}])
        messages.append((f"m{number}", "s1", role, parts, "big", written_at + number, 1, 0))
    sessions = [("s1", None, "a lamp", 100, 9, written_at, written_at + 2)]
    return database(folder, CRUSH_TABLES, sessions=sessions, messages=messages)


def droid(folder: Path) -> Path:
    """The document beside a session has the figures of its last request."""
    lines: list[dict[str, Any]] = [{"type": "session_start", "id": "s1", "cwd": "/p"}]
    for number, (role, words) in enumerate(SAID, 1):
        message = {"role": role, "content": [{"type": "text", "text": words}]}
        lines.append({"type": "message", "id": f"m{number}", "timestamp": TIME, "message": message})
    path = written(folder, lines)
    last = {"inputTokens": 40, "outputTokens": 9, "cacheReadTokens": 60}
    about = {"tokenUsage": {"inputTokens": 400}, "lastCallTokenUsage": last}
    path.with_suffix(".settings.json").write_text(json.dumps(about))
    return path


Written = Callable[[Path], Path]
FILES: dict[str, tuple[Written, list[Report]]] = {
    "claude_code": (claude_code, [Report(100, 60, 9), Report(120, 0, 7)]),
    "codex": (codex, [Report(100, 60, 9), Report(100, 60, 18)]),
    "pi": (pi, [Report(125, 100, 7), Report(125, 100, 14)]),
    "goose_database": (goose_database, [Report(100, 0, 9)]),
    "crush_database": (crush_database, [Report(100, 0, 9)]),
    "droid": (droid, [Report(100, 60, 9)]),
    "opencode_database": (opencode_database, [Report(125, 100, 10)]),
}


@pytest.mark.parametrize("name", FILES)
def test_each_request_has_the_figures_that_the_agent_wrote(tmp_path: Path, name: str) -> None:
    write, expected = FILES[name]
    sessions = load(write(tmp_path))
    assert sessions[0].origin.format == name
    assert reports(sessions) == expected
