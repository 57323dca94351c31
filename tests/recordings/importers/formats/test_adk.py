"""Databases of Google's ADK: made-up ones in the two shapes that its session services write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import database, document, only
from recordings.importers.framework_samples import ANSWER, FILE, QUESTION

from workbench import AssistantMessage
from workbench.engine.transcript.message import Usage, plain_text

SESSION_TABLES = """
CREATE TABLE app_states (app_name TEXT, state TEXT);
CREATE TABLE user_states (app_name TEXT, user_id TEXT, state TEXT);
CREATE TABLE sessions (app_name TEXT, user_id TEXT, id TEXT, state TEXT, create_time TEXT);
"""
WHOLE_EVENTS = """
CREATE TABLE events (id TEXT, session_id TEXT, invocation_id TEXT, timestamp REAL, event_data TEXT);
"""
EVENTS_IN_COLUMNS = """
CREATE TABLE events (id TEXT, session_id TEXT, invocation_id TEXT, timestamp TEXT, author TEXT,
    content TEXT, actions BLOB, usage_metadata TEXT, partial BOOLEAN);
"""
SESSIONS = [
    ("helper", "me", "s1", "{}", "2026-01-01 10:00:00"),
    ("helper", "me", "empty", "{}", "2026-01-01 11:00:00"),
]
FIGURES = {"prompt_token_count": 100, "candidates_token_count": 9, "cached_content_token_count": 60}
CALL = {"function_call": {"id": "c1", "name": "read", "args": {"path": "lamp.py"}}}
RESULT = {"function_response": {"id": "c1", "name": "read", "response": {"result": FILE}}}


def event(role: str, author: str, part: dict[str, Any], *, partial: bool = False) -> dict[str, Any]:
    """An event with one part; a partial one comes again whole."""
    said = {"role": role, "parts": [part]}
    figures = FIGURES if role == "model" and not partial else None
    return {"author": author, "content": said, "usage_metadata": figures, "partial": partial}


EVENTS = [
    event("user", "user", {"text": QUESTION}),
    event("model", "helper", {"text": "Two files tell of"}, partial=True),
    event("model", "helper", CALL),
    event("user", "helper", RESULT),
    event("model", "helper", {"text": ANSWER}),
]


def whole_events(folder: Path) -> Path:
    """A database of `SqliteSessionService`."""
    rows: list[tuple[Any, ...]] = []
    for number, record in enumerate(EVENTS):
        time = 1767261600.5 + number
        data = json.dumps({**record, "timestamp": time})
        rows.append((f"e{number}", "s1", "i1", time, data))
    return database(folder, SESSION_TABLES + WHOLE_EVENTS, sessions=SESSIONS, events=rows)


def events_in_columns(folder: Path) -> Path:
    """A database of `DatabaseService`."""
    rows: list[tuple[Any, ...]] = []
    for number, record in enumerate(EVENTS):
        time = f"2026-01-01 10:00:0{number}.500000"
        said = json.dumps(record["content"])
        figures = json.dumps(record["usage_metadata"])
        place = (f"e{number}", "s1", "i1", time)
        rows.append((*place, record["author"], said, b"\x80\x05", figures, record["partial"]))
    return database(folder, SESSION_TABLES + EVENTS_IN_COLUMNS, sessions=SESSIONS, events=rows)


@pytest.mark.parametrize("write", [whole_events, events_in_columns])
def test_each_session_of_the_database_with_events_is_read(tmp_path: Path, write: Any) -> None:
    session = only(write(tmp_path))
    assert (session.id, session.project) == ("s1", "helper")
    assert session.origin.format == "adk_database"
    roles = [message.role for message in session.messages]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert FILE in plain_text(session.messages[2])
    assert plain_text(session.messages[3]) == ANSWER
    answers = [message for message in session.messages if isinstance(message, AssistantMessage)]
    spent = Usage(input=40, cache_read=60, output=9)
    assert [answer.usage for answer in answers] == [spent, spent]
    assert session.messages[0].time == 1767261600.5
    assert (session.origin.text_read, session.origin.skipped) == (1.0, ())


def test_a_session_before_version_1_is_read_and_its_calls_without_ids_are_answered(
    tmp_path: Path,
) -> None:
    call = {"function_call": {"name": "read", "args": {}}}
    result = {"function_response": {"name": "read", "response": {"result": FILE}}}
    events: list[dict[str, Any]] = []
    for _ in range(2):
        events += [event("model", "helper", call), event("user", "helper", result)]
    for number, record in enumerate(events):
        record |= {"id": f"e{number}", "invocation_id": "i1", "timestamp": 1767261600.5}
    session = only(document(tmp_path, {"id": "s1", "context": {}, "events": events}))
    assert (session.id, session.origin.format) == ("s1", "adk")
    roles = [message.role for message in session.messages]
    assert roles == ["assistant", "tool", "assistant", "tool"]
    for answer, answered in zip(session.messages[::2], session.messages[1::2], strict=True):
        assert answer.calls[0].id == answered.call_id  # type: ignore[union-attr]
    assert session.origin.skipped == ()
