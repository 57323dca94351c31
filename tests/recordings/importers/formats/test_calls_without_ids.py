"""Calls that were recorded without an id, and the results that answer them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recordings.importers.files import database, document, only

from workbench import AssistantMessage, Session
from workbench.engine.transcript.message import ToolResult, plain_text

AGENTS_TABLES = """
CREATE TABLE agent_sessions (session_id TEXT, created_at TEXT);
CREATE TABLE agent_messages (id INTEGER, session_id TEXT, message_data TEXT);
"""


def answered(session: Session) -> dict[str, list[str]]:
    """By the name of each call, the words of the results that answer it."""
    names: dict[str, str] = {}
    words: dict[str, list[str]] = {}
    for message in session.messages:
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                names[call.id] = call.name
        elif isinstance(message, ToolResult):
            words.setdefault(names[message.call_id], []).append(plain_text(message))
    return words


def test_items_of_the_agents_sdk_with_empty_ids_are_paired_in_order(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"type": "function_call", "id": "__fake_id__", "call_id": ""}
    result: dict[str, Any] = {"type": "function_call_output", "call_id": ""}
    items = [
        {"role": "user", "content": "Why is the hall dark?"},
        {**asked, "name": "read", "arguments": '{"path": "lamp.py"}'},
        {**result, "output": "volts = 11"},
        {**asked, "name": "look", "arguments": "{}"},
        {**asked, "name": "list", "arguments": "{}"},
        {**result, "output": "a dim bulb"},
        {**result, "output": "lamp.py"},
    ]
    rows = [(number, "s1", json.dumps(item)) for number, item in enumerate(items)]
    session = only(
        database(tmp_path, AGENTS_TABLES, agent_sessions=[("s1", "2026")], agent_messages=rows)
    )
    words = {"read": ["volts = 11"], "look": ["a dim bulb"], "list": ["lamp.py"]}
    assert answered(session) == words
    assert session.origin.skipped == ()


def test_items_of_the_agents_sdk_have_the_time_of_their_row(tmp_path: Path) -> None:
    tables = AGENTS_TABLES.replace("message_data TEXT", "message_data TEXT, created_at TEXT")
    said = [("Why is it dark?", "2026-01-01 10:00:00"), ("And now?", "2026-01-01 12:00:00")]
    rows = []
    for number, (words, time) in enumerate(said):
        item = json.dumps({"role": "user", "content": words})
        rows.append((number, "s1", item, time))
    created = [("s1", "2026-01-01 10:00:00")]
    session = only(database(tmp_path, tables, agent_sessions=created, agent_messages=rows))
    assert [message.time for message in session.messages] == [1767261600.0, 1767268800.0]


def part(role: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"role": role, "parts": [{kind: fields}]}


def test_gemini_cli_s_error_report_has_ids_in_its_results_alone(tmp_path: Path) -> None:
    context = [
        {"role": "user", "parts": [{"text": "Why is the hall dark?"}]},
        part("model", "functionCall", name="read", args={"path": "lamp.py"}),
        part("user", "functionResponse", id="read-17", name="read", response={"output": "11 V"}),
        part("model", "functionCall", name="look", args={}),
        part("user", "functionResponse", id="look-18", name="look", response={"output": "dim"}),
    ]
    error = {"message": "got status: UNAVAILABLE", "stack": "ApiError"}
    session = only(document(tmp_path, {"error": error, "context": context}))
    assert session.origin.format == "gemini_contents"
    assert list(answered(session)) == ["read", "look"]
    assert not any("answers no call" in sentence for sentence in session.origin.skipped)
