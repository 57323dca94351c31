"""A file that is refused is told what it looks most like, and what it lacks."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.agent_samples import AGENT_DATABASES, FRAMEWORK_DATABASES, STORES
from recordings.importers.files import document, format_names
from recordings.importers.samples import DOCUMENTS, LINES

from workbench import FormatError, load
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.nearest import FIELDS

SAMPLES: dict[str, str] = {name: json.dumps(value) for name, value in DOCUMENTS.items()} | {
    name: "\n".join(map(json.dumps, lines)) for name, lines in LINES.items()
}
NO_JSON = {
    "aider",
    "specstory",
    "native",
    "opencode_database",
    *AGENT_DATABASES,
    *FRAMEWORK_DATABASES,
    *STORES,
}
"""Formats of other text, and our own."""


def without(value: Any, field: str) -> Any:
    """A document in which no object has this field."""
    if isinstance(value, dict):
        return {key: without(inner, field) for key, inner in value.items() if key != field}
    return [without(inner, field) for inner in value] if isinstance(value, list) else value


def test_every_format_of_json_is_compared() -> None:
    assert FIELDS.keys() == format_names() - NO_JSON


@pytest.mark.parametrize("name", SAMPLES)
def test_a_real_file_lacks_nothing_of_its_format(name: str) -> None:
    head = Head.of(SAMPLES[name])
    names = set(head.keys).union(*head.records)
    assert [field for field in FIELDS[name] if field not in names] == []


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("gemini_cli", "projectHash"), ("adk", "app_name"), ("continue", "history"), ("inspect_ai", "eval"),
        ("tau_bench", "traj"), ("opencode", "info"),
    ],
)  # fmt: skip
def test_a_file_without_one_of_its_fields_is_told_which(
    name: str, field: str, tmp_path: Path
) -> None:
    file = document(tmp_path, without(DOCUMENTS[name], field))
    with pytest.raises(FormatError, match=f"nearest is {name}, but it lacks `{field}`"):
        load(file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"sessionId": "a", "turns": []}', "nearest is continue, but it lacks `history`"),
        (
            '{"sessionId": "a", "startTime": "b", "messages": []}',
            "nearest is gemini_cli, but it lacks `projectHash`",
        ),
        ('{"speaker": "me"}', "whose fields are `speaker`: no format is near it;"),
        ('{"version": "1.0", "dependencies": {}}', "`version`: no format is near it;"),
        ('{"level": "info"}\n{"level": "warning"}', "`level`: no format is near it;"),
        ("Dear diary, nothing happened.", "which is no JSON: no format is near it;"),
        ("id,role,text\n1,user,hi", "which is no JSON: no format is near it;"),
        ("%PDF-1.7\n1 0 obj", "which is no JSON: no format is near it;"),
        ("[[1, 2]]", "a JSON list without an object in it: no format is near it;"),
        ("[]", "a JSON list without an object in it: no format is near it;"),
        ("{}", "which is JSON without a field: no format is near it;"),
        ('"Dear diary"', "which is JSON without a field: no format is near it;"),
    ],
)
def test_the_refusal_names_the_nearest_format_and_the_page_on_own_formats(
    text: str, expected: str, tmp_path: Path
) -> None:
    file = tmp_path / "session.json"
    file.write_text(text)
    with pytest.raises(FormatError) as refusal:
        load(file)
    assert expected in str(refusal.value)
    assert str(refusal.value).endswith("docs/own-format.md says how to read a format of your own")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# Lamps\n_Exported on 7/1/2026 at 10:00:00 GMT+2 from Cursor (3.8.11)_\n",
            "Cursor's export for readers",
        ),
        ("# 🤖 Copilot CLI Session\n\n> **Session ID:** `1a`\n", "Copilot's export for readers"),
        ("# Lamps\n\n**Session ID:** ses_1a\n", "`opencode export` prints what is read"),
        ("**User:**\n\n<task>\nmend it\n</task>\n", "`api_conversation_history.json` in the"),
        (
            '{"type": "metadata", "protocol_version": "1.3"}\n'
            '{"timestamp": 1.5, "message": {"type": "StepBegin", "payload": {"n": 1}}}\n',
            "`context.jsonl` beside it is what the model was sent",
        ),
    ],
)
def test_what_an_agent_writes_for_people_is_told_with_what_to_give_instead(
    text: str, expected: str, tmp_path: Path
) -> None:
    file = tmp_path / "session.txt"
    file.write_text(text)
    with pytest.raises(FormatError) as refusal:
        load(file)
    assert expected in str(refusal.value)


def test_a_database_of_another_program_names_its_tables(tmp_path: Path) -> None:
    file = tmp_path / "places.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE places (id, url)")
    database.close()
    with pytest.raises(FormatError, match="with the tables `places`: no format is near it;"):
        load(file)
