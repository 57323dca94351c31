"""Conversations of Kiro's command line and of Amazon Q's, saved and in their databases."""

from __future__ import annotations

import copy
import json
from pathlib import Path

from recordings.importers.agent_samples import (
    ANSWER,
    FILE,
    KIRO,
    KIRO_LINES,
    QUESTION,
    SUMMARY,
    kiro_line,
)
from recordings.importers.files import database, document, only, written

from workbench import AssistantMessage, UserMessage
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import ToolResult, plain_text

KIRO_TABLES = """
CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, created_at INTEGER,
    updated_at INTEGER);
"""
AMAZON_Q_TABLES = """
CREATE TABLE auth_kv (key TEXT, value TEXT);
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
"""


def test_conversations_of_kiro_are_read_from_its_database(tmp_path: Path) -> None:
    row = ("/home/me/hall", "k1", json.dumps(KIRO), 1, 2)
    session = only(database(tmp_path, KIRO_TABLES, conversations_v2=[row]))
    assert (session.id, session.model, session.cwd, session.window) == (
        "k1",
        "big",
        "/home/me/hall",
        200_000,
    )
    assert (session.origin.format, session.origin.text_read) == ("kiro_database", 1.0)
    assert [entry.type for entry in session.log] == ["compaction", *["message"] * 4]


def test_amazon_q_wrote_an_entry_as_a_pair(tmp_path: Path) -> None:
    history = [[entry["user"], entry["assistant"]] for entry in KIRO["history"]]
    conversation = {**KIRO, "history": history, "latest_summary": None}
    rows = [("/home/me/hall", json.dumps(conversation))]
    stored = only(database(tmp_path, AMAZON_Q_TABLES, conversations=rows))
    saved = only(document(tmp_path, conversation))
    assert stored.log == saved.log
    assert [message.role for message in saved.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    question, asked, result, _ = saved.messages
    assert plain_text(question) == QUESTION and question.time == 1767261600.0
    assert isinstance(asked, AssistantMessage) and isinstance(result, ToolResult)
    assert [(call.name, call.arguments) for call in asked.calls] == [
        ("fs_read", {"path": "lamp.py"})
    ]
    assert (result.name, plain_text(result), result.is_error) == ("fs_read", FILE, False)


def test_what_kiro_was_not_let_do_failed_and_what_a_hook_added_is_the_client_s(
    tmp_path: Path,
) -> None:
    refused = {"tool_use_id": "c1", "content": [{"Json": {"why": "no"}}], "status": "Error"}
    cancelled = {"prompt": "Do not.", "tool_use_results": [refused]}
    history = copy.deepcopy(KIRO["history"])
    history[1]["user"]["content"] = {"CancelledToolUses": cancelled}
    history[1]["user"]["additional_context"] = "The hall is dark."
    session = only(document(tmp_path, {**KIRO, "history": history}))
    _, _, result, added, typed, _ = session.messages
    assert isinstance(result, ToolResult) and result.is_error
    assert isinstance(added, UserMessage) and isinstance(typed, UserMessage)
    assert (plain_text(added), added.synthetic) == ("The hall is dark.", True)
    assert (plain_text(typed), typed.synthetic) == ("Do not.", False)


def test_messages_of_kinds_that_kiro_does_not_have_yet_are_named(tmp_path: Path) -> None:
    history = copy.deepcopy(KIRO["history"])
    history[1]["user"]["content"] = {"Drawing": {"words": "what a later version may write"}}
    history[1]["assistant"] = {"Song": {"words": "and what it may answer"}}
    session = only(document(tmp_path, {**KIRO, "history": history}))
    assert session.origin.skipped[:2] == (
        "1 × answer of an unknown kind: unknown, left out",
        "1 × message of an unknown kind: unknown, left out",
    )


def test_lines_of_kiro_are_read_with_what_the_document_beside_them_says(tmp_path: Path) -> None:
    path = written(tmp_path, KIRO_LINES, "k1.jsonl")
    model_info = {"model_id": "big", "context_window_tokens": 200_000}
    about = {
        "session_id": "s1",
        "cwd": "/home/me/hall",
        "session_state": {"rts_model_state": {"model_info": model_info}},
    }
    (tmp_path / "k1.json").write_text(json.dumps(about))
    session = only(path)
    assert (session.id, session.cwd, session.model, session.window) == (
        "s1",
        "/home/me/hall",
        "big",
        200_000,
    )
    assert (session.origin.format, session.origin.skipped) == ("kiro_lines", ())
    assert [plain_text(message) for message in fold(session.path)] == [
        SUMMARY,
        FILE,
        "One more question for you?",
        "go on",
        ANSWER,
    ]


def test_an_export_of_kiro_has_the_document_and_the_lines_in_one(tmp_path: Path) -> None:
    about = {"session_id": "s1", "cwd": "/home/me/hall", "title": "lamps"}
    export = {"format": "kiro-session-export-v1", "metadata": about, "log_entries": KIRO_LINES}
    session = only(document(tmp_path, export))
    assert (session.origin.format, session.id, session.cwd) == (
        "kiro_lines",
        "s1",
        "/home/me/hall",
    )
    assert session.messages == only(written(tmp_path, KIRO_LINES)).messages


def test_a_cleared_conversation_of_kiro_begins_anew_and_an_unknown_record_is_named(
    tmp_path: Path,
) -> None:
    clear = {"version": "v1", "kind": "Clear", "data": None}
    reset = {"version": "v1", "kind": "ResetTo", "data": {"message_id": "p1"}}
    failed = {
        "toolUseId": "c1",
        "content": [{"kind": "json", "data": {"exit": 1}}],
        "status": "error",
    }
    lines = [*KIRO_LINES[:2], kiro_line("ToolResults", "r1", ("toolResult", failed))]
    session = only(written(tmp_path, [*lines, clear, reset, *KIRO_LINES[-2:]]))
    assert [plain_text(message) for message in fold(session.path)] == ["go on", ANSWER]
    (result,) = [message for message in session.messages if isinstance(message, ToolResult)]
    assert (result.is_error, plain_text(result)) == (True, '{"exit": 1}')
    assert session.origin.skipped == ("1 × record of kind 'ResetTo': unknown, left out",)
