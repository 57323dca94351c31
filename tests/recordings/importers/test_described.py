"""A format that a table of field names describes is read from a list, from an object, and from
lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, written

from workbench import AssistantMessage, Session, load
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import ToolResult, Usage, plain_text
from workbench.recordings.importers.described import MessageShape, described
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.importer import known_formats
from workbench.recordings.importers.message_lists import message_sessions
from workbench.recordings.importers.usage import UsageFields

SHAPE = MessageShape(
    inside="entry",
    role="by",
    roles={"me": "user", "bot": "assistant", "shell": "tool"},
    notes=frozenset({"status"}),
    content="says",
    id="number",
    time="at",
    calls="actions",
    call_id="answers",
    failed="outcome=error",
    summary="is_summary",
    usage_in="tokens",
    usage=UsageFields("in", "out", cache_read="cache/hits", cache_in_input=True),
    system="rules",
)
TURNS = Format(
    "turns",
    "turns of a bot",
    (),
    lambda head: False,
    message_sessions(described(SHAPE, id="session"), lists=("turns",)),
)
ACTION = {"id": "c1", "name": "ls", "arguments": {"folder": "src"}}
FIGURES = {"in": 9, "out": 2, "cache": {"hits": 5}}
RECORDS: list[dict[str, Any]] = [
    {"entry": {"by": "me", "says": "list it", "number": 1, "at": "2026-01-01T10:00:00Z"}},
    {"entry": {"by": "status", "says": "a model is asked"}},
    {
        "entry": {
            "by": "bot",
            "says": "I look",
            "actions": [ACTION],
            "tokens": {"in": 9, "out": 2, "cache": {"hits": 5}},
        }
    },
    {"entry": {"by": "shell", "says": "no such folder", "answers": "c1", "outcome": "error"}},
    {"entry": {"by": "bot", "says": "so far: it is not there", "is_summary": True}},
    {"by": "me", "says": "then stop"},
]


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(known_formats(), "turns", TURNS)


def read(path: Path) -> Session:
    (session,) = load(path, format="turns")
    return session


def test_each_field_is_read_where_the_table_says(tmp_path: Path, turns: None) -> None:
    session = read(document(tmp_path, {"session": "s7", "rules": "be short", "turns": RECORDS}))
    system, asked, answer, result, last = session.messages
    assert isinstance(answer, AssistantMessage) and isinstance(result, ToolResult)
    assert (session.id, plain_text(system), plain_text(last)) == ("s7", "be short", "then stop")
    assert (asked.id, asked.time) == ("1", 1767261600.0)
    assert (answer.usage, answer.calls[0].arguments) == (Usage(4, 5, 0, 2), {"folder": "src"})
    assert (result.call_id, result.is_error) == ("c1", True)
    assert [plain_text(message) for message in fold(session.path)] == [
        "so far: it is not there",
        "be short",
        "then stop",
    ]
    assert [entry.type for entry in session.path].count("note") == 1


@pytest.mark.parametrize("form", ["list", "lines"])
def test_records_in_a_list_and_in_lines_are_the_same(
    tmp_path: Path, turns: None, form: str
) -> None:
    path = written(tmp_path, RECORDS) if form == "lines" else document(tmp_path, RECORDS)
    session = read(document(tmp_path, {"turns": RECORDS}, "whole.json"))
    assert [message.blocks for message in read(path).messages] == [
        message.blocks for message in session.messages
    ]


def test_a_role_that_the_table_has_not_is_counted_and_named(tmp_path: Path, turns: None) -> None:
    session = read(document(tmp_path, [*RECORDS, {"by": "ghost", "says": "boo"}]))
    assert "1 × message of role 'ghost': unknown, left out" in session.origin.skipped
