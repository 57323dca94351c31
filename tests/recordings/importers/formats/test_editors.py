"""Agents inside editors: a small made-up recording of each says what is read, and real ones are
read whole.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, only, written
from recordings.importers.samples import (
    AMP,
    ANTIGRAVITY,
    CONTINUE,
    COPILOT,
    CURSOR,
    DOCUMENTS,
    DROID,
    LINES,
    RESPONSES,
    TEXTS,
    VSCODE_CHAT,
    WINDSURF,
)

from workbench import (
    AssistantMessage,
    CompactionEntry,
    NoteEntry,
    Session,
    ToolCall,
    UserMessage,
    load,
)
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import Thinking, ToolResult, Usage, plain_text
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.importer import known_formats

WANTED = Path(__file__).parents[5] / "shared" / "wanted-formats"
GENERAL = {"openai_chat", "anthropic_messages"}
"""Formats of any chat: they come last, and know what others know better."""


def words(session: Session) -> list[tuple[str, str]]:
    return [(message.role, plain_text(message)) for message in session.messages]


def answers(session: Session) -> list[AssistantMessage]:
    return [message for message in session.messages if isinstance(message, AssistantMessage)]


def test_amp_results_are_what_the_tool_s_run_returned(tmp_path: Path) -> None:
    session = only(document(tmp_path, AMP))
    assert words(session) == [("user", "read it"), ("assistant", ""), ("tool", "1: x = 1")]
    assert answers(session)[0].usage == Usage(3, 900, 40, 7)
    assert (session.model, session.window, session.project) == ("big", 168_000, "shop")
    assert [entry.text for entry in session.log if isinstance(entry, NoteEntry)] == [
        "the thread was shared"
    ]


def test_continue_keeps_results_in_the_states_of_the_calls(tmp_path: Path) -> None:
    session = only(document(tmp_path, CONTINUE))
    assert [role for role, _ in words(session)] == [
        "system",
        "user",
        "user",
        "assistant",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    assert answers(session)[0].blocks == (Thinking("hm"),)
    assert answers(session)[1].usage == Usage(30, 60, 0, 7)
    assert [(plain_text(m), m.is_error) for m in session.messages if isinstance(m, ToolResult)] == [
        ("a.py", False),
        ("", True),
    ]
    assert [plain_text(message) for message in fold(session.path)] == [
        "so far: listed src",
        "rules",
        "go on",
    ]


def test_a_thought_of_continue_may_be_empty_and_a_result_stand_twice(tmp_path: Path) -> None:
    thought = {"message": {"role": "thinking", "content": ""}}
    result = {"message": {"role": "tool", "toolCallId": "c1", "content": "a.py"}}
    history = [*CONTINUE["history"], thought, result]
    session = only(document(tmp_path, {**CONTINUE, "history": history}))
    assert words(session) == words(only(document(tmp_path, CONTINUE)))


def test_the_command_line_of_continue_keeps_the_figures_as_openai_names_them(
    tmp_path: Path,
) -> None:
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 800},
        "model": "big",
    }
    answer = {"role": "assistant", "content": "it has eleven volts", "usage": usage}
    recording = {**CONTINUE, "history": [*CONTINUE["history"], {"message": answer}]}
    newest_answer = answers(only(document(tmp_path, recording)))[-1]
    assert (newest_answer.usage, newest_answer.model) == (Usage(100, 800, 0, 20), "big")


def test_vscode_chat_has_rounds_results_and_summaries(tmp_path: Path) -> None:
    session = only(document(tmp_path, VSCODE_CHAT))
    assert words(session) == [
        ("user", "the system is Linux"),
        ("user", "<file>a.py</file>\nfind it"),
        ("assistant", "I search."),
        ("tool", "1 match\na.py: it"),
        ("assistant", "Found."),
        ("user", "thanks"),
        ("assistant", "You are welcome."),
    ]
    assert answers(session)[1].usage == Usage(500, 0, 0, 9)
    (compaction_entry,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert (
        compaction_entry.tokens_before,
        compaction_entry.summary and compaction_entry.summary.text,
    ) == (480, "so far")


def test_an_exported_chat_of_vscode_has_no_id(tmp_path: Path) -> None:
    export = {"responderUsername": "GitHub Copilot", "initialLocation": "panel", **VSCODE_CHAT}
    del export["sessionId"]
    session = only(document(tmp_path, export, "chat.json"))
    assert session.origin.format == "vscode_chat"
    assert words(session) == words(only(document(tmp_path, VSCODE_CHAT)))


def test_vscode_chat_s_log_of_changes_is_followed_to_its_newest_state(tmp_path: Path) -> None:
    first, second = VSCODE_CHAT["requests"]
    changes: list[dict[str, Any]] = [
        {"kind": 0, "v": VSCODE_CHAT | {"requests": [], "customTitle": "untitled"}},
        {"kind": 2, "k": ["requests"], "v": [first, {"requestId": "gone"}]},
        {"kind": 1, "k": ["customTitle"], "v": "a chat"},
        {"kind": 2, "k": ["requests"], "v": [second], "i": 1},
        {"kind": 1, "k": ["requests", 7, "message"], "v": "nowhere"},
        {"kind": 3, "k": ["version"]},
    ]
    logged = only(written(tmp_path, changes))
    assert logged.title == "a chat"
    assert words(logged) == words(only(document(tmp_path, VSCODE_CHAT)))


def test_what_droid_tells_the_user_alone_is_a_note(tmp_path: Path) -> None:
    notice = {"role": "user", "content": [{"type": "text", "text": "the limit is reached"}]}
    line = {"type": "message", "id": "n1", "message": {**notice, "visibility": "user_only"}}
    session = only(written(tmp_path, [*DROID, line]))
    assert session.messages == only(written(tmp_path, DROID)).messages
    assert [entry.text for entry in session.log if isinstance(entry, NoteEntry)] == [
        "the limit is reached"
    ]


def test_droid_keeps_what_follows_the_message_that_a_summary_names(tmp_path: Path) -> None:
    session = only(written(tmp_path, DROID))
    assert [plain_text(message) for message in fold(session.path)] == [
        "it was asked",
        "",
        "x = 1",
        "x is 1",
    ]
    assert (session.id, session.title, session.project) == ("s1", "a task", "shop")


def test_what_droid_says_of_the_machine_again_behind_a_summary_is_sent(tmp_path: Path) -> None:
    lines = json.loads(json.dumps(DROID))
    lines[5]["systemInfoText"] = "User system info (linux)"
    session = only(written(tmp_path, lines))
    sent = fold(session.path)
    assert plain_text(sent[-2]) == "User system info (linux)"
    assert isinstance(sent[-2], UserMessage) and sent[-2].synthetic
    assert plain_text(sent[-1]) == "x is 1"


def test_the_last_answer_of_droid_has_what_the_file_beside_says(tmp_path: Path) -> None:
    path = written(tmp_path, DROID)
    settings = {"lastCallTokenUsage": {"inputTokens": 90, "outputTokens": 7, "cacheReadTokens": 5}}
    document(tmp_path, settings, "one.settings.json")
    assert [answer.usage for answer in answers(only(path))] == [None, Usage(90, 5, 0, 7)]


def test_a_torn_file_beside_a_recording_of_droid_costs_the_usage_alone(tmp_path: Path) -> None:
    path = written(tmp_path, DROID)
    (tmp_path / "one.settings.json").write_text('{"lastCallTokenUsage": {"inputTo')
    session = only(path)
    assert [answer.usage for answer in answers(session)] == [None, None]
    assert any("not used" in words for words in session.origin.skipped)


def test_what_droid_used_for_a_summary_is_no_usage_of_an_answer(tmp_path: Path) -> None:
    path = written(tmp_path, DROID[:6])
    document(tmp_path, {"lastCallTokenUsage": {"inputTokens": 90}}, "one.settings.json")
    assert [answer.usage for answer in answers(only(path))] == [None]


def test_a_fork_of_droid_says_whose_requests_its_first_messages_are(tmp_path: Path) -> None:
    fork = [{**DROID[0], "parent": "s0", "forkedAtMessageId": "d2"}, *DROID[1:]]
    session = only(written(tmp_path, fork))
    assert any("says that it is a fork" in sentence for sentence in session.origin.skipped)


def test_droid_names_the_model_of_each_answer(tmp_path: Path) -> None:
    lines = json.loads(json.dumps(DROID))
    lines[2]["message"]["modelId"] = "custom:big"
    session = only(written(tmp_path, lines))
    assert [message.model for message in answers(session)] == ["custom:big", ""]


def test_cursor_transcripts_have_calls_without_results(tmp_path: Path) -> None:
    session = only(written(tmp_path, CURSOR))
    assert [call.name for answer in answers(session) for call in answer.calls] == ["Read"]
    assert not any(isinstance(message, ToolResult) for message in session.messages)


def test_antigravity_steps_are_read_in_their_order_with_results_behind_their_calls(
    tmp_path: Path,
) -> None:
    logs = tmp_path / "brain" / "d3" / ".system_generated" / "logs"
    logs.mkdir(parents=True)
    session = only(written(logs, ANTIGRAVITY, "transcript_full.jsonl"))
    assert (session.id, session.model) == ("d3", "Gemini 3.5 Flash (High)")
    assert words(session)[1:] == [
        ("assistant", "I look"),
        ("tool", "a.py"),
        ("tool", "no such file"),
        ("assistant", "one file"),
    ]
    listing, viewing = answers(session)[0].calls
    assert (listing.name, listing.arguments) == ("list_dir", {"DirectoryPath": "/home/me/shop"})
    assert answers(session)[0].usage == Usage(80, 20, 0, 50)
    results = [message for message in session.messages if isinstance(message, ToolResult)]
    assert [(result.call_id, result.is_error) for result in results] == [
        (listing.id, False),
        (viewing.id, True),
    ]


def test_antigravity_says_where_a_result_may_be_another_calls(tmp_path: Path) -> None:
    missing = [step for step in ANTIGRAVITY if step["type"] != "LIST_DIRECTORY"]
    notes = only(written(tmp_path, missing)).origin.skipped
    assert any(
        "2 calls before it have 1 result; which is whose is a guess" in note for note in notes
    )


def test_antigravity_says_of_a_result_of_no_call_how_it_is_read(tmp_path: Path) -> None:
    without_calls = [step | {"tool_calls": []} for step in ANTIGRAVITY]
    notes = only(written(tmp_path, without_calls)).origin.skipped
    assert any("a result of no call" in note and "1 times more" in note for note in notes)


def test_antigravity_s_first_checkpoint_is_no_compaction(tmp_path: Path) -> None:
    session = only(written(tmp_path, ANTIGRAVITY))
    (compaction,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert compaction.summary and "the folder was listed" in compaction.summary.text
    assert [plain_text(message) for message in fold(session.path)][1:] == ["one file"]


def test_a_step_of_antigravity_that_was_written_while_it_ran_counts_once(tmp_path: Path) -> None:
    running = ANTIGRAVITY[-1] | {"status": "RUNNING", "content": "one"}
    session = only(written(tmp_path, [*ANTIGRAVITY[:-1], running, ANTIGRAVITY[-1]]))
    assert words(session) == words(only(written(tmp_path, ANTIGRAVITY)))
    twice = only(written(tmp_path, [*ANTIGRAVITY, ANTIGRAVITY[-1] | {"content": "two files"}]))
    assert [text for _, text in words(twice)][-2:] == ["one file", "two files"]
    assert any("both are kept" in note for note in twice.origin.skipped)


def test_antigravity_says_where_texts_stand_that_are_cut_short(tmp_path: Path) -> None:
    cut = ANTIGRAVITY[0] | {"truncated_fields": ["content"]}
    session = only(written(tmp_path, [cut, *ANTIGRAVITY[1:]]))
    assert any("transcript_full.jsonl" in note for note in session.origin.skipped)


def test_windsurf_steps_are_calls_with_their_results(tmp_path: Path) -> None:
    session = only(written(tmp_path, WINDSURF))
    assert words(session) == [
        ("user", "list it"),
        ("assistant", "I look"),
        ("tool", "a.py"),
        ("assistant", ""),
        ("tool", '{"total_results": 0}'),
        ("assistant", ""),
        ("tool", ""),
        ("assistant", "one file"),
    ]
    assert answers(session)[0].calls[0].arguments == {"command": "ls", "cwd": "/home/me/shop"}
    assert [m.is_error for m in session.messages if isinstance(m, ToolResult)] == [
        False,
        False,
        True,
    ]


def test_responses_items_of_one_answer_are_one_message(tmp_path: Path) -> None:
    session = only(document(tmp_path, RESPONSES))
    assert [role for role, _ in words(session)] == [
        "system",
        "user",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert answers(session)[0].blocks == (Thinking("hm"), ToolCall("c1", "ls", {"dir": "src"}))
    assert answers(session)[1].usage == Usage(40, 60, 0, 9)
    (compaction_entry,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert compaction_entry.summary is None


def test_a_list_of_responses_items_is_read_too(tmp_path: Path) -> None:
    assert len(only(document(tmp_path, RESPONSES["input"][2:])).messages) == 3


def test_an_anthropic_compaction_block_stands_for_all_before_it(tmp_path: Path) -> None:
    blocks = [{"type": "compaction", "content": "so far"}, {"type": "text", "text": "I go on"}]
    said = [
        {"role": "user", "content": "an old question"},
        {"role": "assistant", "content": blocks},
    ]
    session = only(document(tmp_path, {"system": "rules", "messages": said}))
    assert [plain_text(message) for message in fold(session.path)] == ["so far", "rules", "I go on"]


def knowing(text: str) -> set[str]:
    head = Head.of(text)
    return {format.name for format in known_formats().values() if format.knows(head)} - GENERAL


@pytest.mark.parametrize("name", [*DOCUMENTS, *LINES, *TEXTS])
def test_each_made_up_recording_is_claimed_by_one_importer(name: str) -> None:
    lines = "\n".join(map(json.dumps, LINES.get(name, [])))
    text = TEXTS.get(name) or lines or json.dumps(DOCUMENTS[name])
    assert knowing(text) == {name}


REAL = sorted(path for path in WANTED.glob("*.json*")) if WANTED.is_dir() else []


@pytest.mark.parametrize("path", REAL, ids=[path.name for path in REAL])
def test_real_recordings_of_editors_are_claimed_by_one_importer_and_read_whole(path: Path) -> None:
    assert len(knowing(path.read_text(encoding="utf-8"))) == 1
    (session,) = load(path)
    results = [message for message in session.messages if isinstance(message, ToolResult)]
    assert session.origin.text_read == 1.0
    assert session.origin.skipped == ()
    assert sum(not result.blocks for result in results) <= len(results) / 4


@pytest.mark.parametrize(
    "figures",
    [
        {"inputTokens": 900, "outputTokens": 40, "cacheReadTokens": 700},
        {"input": 900, "output": 40, "cachedInput": 700},
    ],
)
def test_what_copilot_used_for_a_summary_is_its_compaction_s(
    tmp_path: Path, figures: dict[str, int]
) -> None:
    lines = json.loads(json.dumps(COPILOT))
    compacted = next(line for line in lines if line["type"] == "session.compaction_complete")
    compacted["data"]["compactionTokensUsed"] = figures
    session, *_ = load(written(tmp_path, lines))
    (compaction,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert compaction.usage == Usage(200, 700, output=40)
    compacted["data"]["success"] = False
    session, *_ = load(written(tmp_path, lines))
    assert not session.recorded
    (sentence,) = session.origin.skipped
    assert "is of a compaction that was not finished: its request is in no bill" in sentence
