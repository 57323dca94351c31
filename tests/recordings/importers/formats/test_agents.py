"""Agents and frameworks with messages of their own shape: what a small made-up recording of each
holds, exactly.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.agent_samples import (
    AGENT_DOCUMENTS,
    AGENT_LINES,
    ANSWER,
    CHATGPT_EXPORT,
    CLAUDE_STREAM,
    FILE,
    GEMINI_LINES,
    GOOSE,
    GOOSE_CALL,
    GOOSE_RESULT,
    HERMES,
    HERMES_DOCUMENT,
    KIMI,
    LANGCHAIN,
    MLFLOW,
    PHOENIX,
    QUESTION,
    QWEN,
    SUMMARY,
    THOUGHT,
    chatgpt,
    goose,
    in_columns,
    qwen,
)
from recordings.importers.files import database, document, only, written
from recordings.importers.framework_samples import (
    AUTOGEN,
    AUTOGEN_AGENT,
    AUTOGEN_TEAM,
    DROID_STREAM,
    GROK,
    KIMI_CODE,
    MANAGED_AGENTS,
    PROMPT,
    SMOLAGENTS,
    SMOLAGENTS_CODE,
    WEAVE,
    droid,
)
from recordings.importers.samples import COPILOT, copilot

from workbench import AssistantMessage, CompactionEntry, FormatError, NoteEntry, Session, load
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import ToolResult, Usage, plain_text


@dataclass(frozen=True)
class Counts:
    """What a recording holds, dead branches included."""

    messages: int
    calls: int
    results: int
    thoughts: int
    compactions: int
    usages: int
    notes: int = 0


def counts(sessions: list[Session]) -> Counts:
    entries = [entry for session in sessions for entry in session.log]
    messages = [entry.message for entry in entries if entry.type == "message"]
    answers = [message for message in messages if isinstance(message, AssistantMessage)]
    return Counts(
        messages=len(messages),
        calls=sum(len(answer.calls) for answer in answers),
        results=sum(isinstance(message, ToolResult) for message in messages),
        thoughts=sum(block.type == "thinking" for answer in answers for block in answer.blocks),
        compactions=sum(entry.type == "compaction" for entry in entries),
        usages=sum(answer.usage is not None for answer in answers),
        notes=sum(entry.type == "note" for entry in entries),
    )


def left_out(session: Session) -> tuple[str, ...]:
    """What was left out, but for the share of the text, which is large where a recording is
    small.
    """
    return tuple(words for words in session.origin.skipped if "of the file's text" not in words)


HELD = {
    "pydantic_ai": Counts(6, 1, 1, 1, 0, 1),
    "vercel": Counts(5, 1, 1, 1, 0, 0),
    "vercel_ui": Counts(4, 1, 1, 1, 0, 0),
    "bedrock": Counts(5, 1, 1, 1, 0, 0),
    "gemini_contents": Counts(5, 1, 1, 0, 0, 0),
    "sharegpt": Counts(9, 2, 2, 1, 0, 0),
    "roo_task": Counts(4, 1, 1, 0, 1, 1),
    "langchain": Counts(5, 1, 1, 0, 1, 1),
    "claude_export": Counts(5, 1, 1, 1, 0, 0),
    "chatgpt_export": Counts(6, 1, 1, 1, 0, 0),
    "langsmith": Counts(4, 1, 1, 0, 0, 2),
    "kiro": Counts(4, 1, 1, 0, 1, 0),
    "claude_stream": Counts(6, 1, 1, 1, 1, 2),
    "kiro_lines": Counts(6, 1, 1, 1, 1, 0),
    "qwen_code": Counts(5, 1, 1, 1, 1, 1, notes=1),
    "kimi": Counts(5, 1, 1, 1, 0, 0, notes=2),
    "hermes": Counts(4, 1, 1, 1, 1, 0, notes=1),
    "goose": Counts(4, 1, 1, 0, 1, 0, notes=1),
    "codex_exec": Counts(3, 2, 1, 1, 0, 0),
    "kimi_code": Counts(6, 1, 1, 1, 1, 2),
    "muse": Counts(4, 1, 1, 1, 0, 2),
    "llama_index": Counts(4, 1, 1, 1, 0, 0),
    "gemini_stream": Counts(4, 1, 1, 0, 0, 0, notes=1),
    "droid_stream": Counts(4, 1, 1, 1, 0, 0),
    "managed_agents": Counts(4, 1, 1, 0, 1, 2),
    "grok": Counts(6, 1, 1, 1, 0, 0),
    "smolagents": Counts(8, 2, 2, 0, 0, 3),
    "autogen": Counts(4, 1, 1, 1, 0, 2),
    "weave": Counts(5, 1, 1, 0, 0, 2),
}
LEFT_OUT = {
    "vercel_ui": ("1 × part of type 'data-weather': unknown, left out",),
    "langsmith": ("field '[0].run of type chain': asks no model, left out",),
    "weave": ("field '[1].call': asks no model, left out",),
    "codex_exec": ("line 8, field 'usage': is of all requests together, not used",),
    "gemini_stream": ("line 8, field 'stats': is of all requests together, not used",),
    "droid_stream": ("line 8, field 'usage': is of all requests together, not used",),
}


def recorded(folder: Path, name: str) -> Path:
    """The recording in a file whose name says nothing."""
    if name in AGENT_LINES:
        return written(folder, AGENT_LINES[name], "recording.dat")
    return document(folder, AGENT_DOCUMENTS[name], "recording.dat")


@pytest.mark.parametrize("name", [*AGENT_DOCUMENTS, *AGENT_LINES])
def test_all_of_it_is_read_as_its_format(tmp_path: Path, name: str) -> None:
    sessions = load(recorded(tmp_path, name))
    assert {session.origin.format for session in sessions} == {name}
    assert counts(sessions) == HELD[name]
    assert {left_out(session) for session in sessions} == {LEFT_OUT.get(name, ())}
    told = {plain_text(message) for session in sessions for message in session.messages}
    assert ANSWER in told and (QUESTION in told or name == "codex_exec")


RUNS = ["claude_stream", "codex_exec", "gemini_stream", "droid_stream"]
"""Formats of what a program prints as it runs."""


@pytest.mark.parametrize("name", RUNS)
def test_runs_that_a_shell_appended_to_one_file_are_sessions_of_their_own(
    tmp_path: Path, name: str
) -> None:
    run = json.dumps(AGENT_LINES[name])
    alone, *_ = load(recorded(tmp_path, name))
    second_run = json.loads(run.replace(f'"{alone.id}"', '"another"'))
    path = written(tmp_path, [*AGENT_LINES[name], *second_run], "appended.jsonl")
    messages = {session.id: len(session.messages) for session in load(path)}
    assert messages[alone.id] == messages["another"] == len(alone.messages)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_goes_on_with_its_session_stays_one(tmp_path: Path, name: str) -> None:
    ids = [session.id for session in load(recorded(tmp_path, name))]
    path = written(tmp_path, [*AGENT_LINES[name], *AGENT_LINES[name]], "resumed.jsonl")
    assert [session.id for session in load(path)] == ids


@pytest.mark.parametrize("name", [*AGENT_DOCUMENTS, *AGENT_LINES])
def test_every_result_answers_its_call(tmp_path: Path, name: str) -> None:
    for session in load(recorded(tmp_path, name)):
        calls = {
            call.id: call
            for message in session.messages
            if message.role == "assistant"
            for call in message.calls
        }
        results = [message for message in session.messages if isinstance(message, ToolResult)]
        assert all(result.call_id in calls for result in results)
        assert all(call.name for call in calls.values())


FAILED = {"langchain", "vercel", "bedrock"}


@pytest.mark.parametrize("name", [*AGENT_DOCUMENTS, *AGENT_LINES])
def test_only_a_tool_that_failed_is_said_to_have(tmp_path: Path, name: str) -> None:
    messages = [
        message for session in load(recorded(tmp_path, name)) for message in session.messages
    ]
    failed = [message.is_error for message in messages if isinstance(message, ToolResult)]
    assert failed == [name in FAILED] * len(failed)


def test_a_list_of_the_stream_is_the_same_session(tmp_path: Path) -> None:
    lines, listed = load(written(tmp_path, CLAUDE_STREAM)), load(document(tmp_path, CLAUDE_STREAM))
    assert [session.log for session in lines] == [session.log for session in listed]
    main, agent = lines
    assert [plain_text(message) for message in fold(main.path)] == [SUMMARY, ANSWER]
    assert (main.cwd, main.model, main.recorded[0].entry.tokens_before) == (
        "/home/me/hall",
        "big",
        900,
    )
    assert [plain_text(message) for message in agent.messages] == ["read it", FILE]


def test_a_log_of_the_web_is_the_same_session(tmp_path: Path) -> None:
    lines, log = (
        load(written(tmp_path, CLAUDE_STREAM)),
        document(tmp_path, {"loglines": CLAUDE_STREAM}),
    )
    assert [session.log for session in load(log)] == [session.log for session in lines]


@pytest.mark.parametrize("is_in_raw", [False, True])
def test_a_page_of_a_managed_agents_events_is_the_session_of_their_lines(
    tmp_path: Path, is_in_raw: bool
) -> None:
    lines = [{"role": "agent", "raw": event} if is_in_raw else event for event in MANAGED_AGENTS]
    (session,) = load(written(tmp_path, lines))
    for value in (MANAGED_AGENTS, {"data": MANAGED_AGENTS}):
        (other,) = load(document(tmp_path, value))
        assert other.log == session.log
    assert session.origin.text_read == 1.0


def test_a_changed_line_of_gemini_is_the_newer_state_and_a_rewind_is_a_branch(
    tmp_path: Path,
) -> None:
    session = only(written(tmp_path, GEMINI_LINES))
    assert session.origin.format == "gemini_cli"
    assert counts([session]) == Counts(6, 1, 1, 0, 1, 1)
    assert session.messages[0].synthetic  # type: ignore[union-attr]
    assert [message.role for message in fold(session.path)] == [
        "summary",
        "assistant",
        "tool",
        "assistant",
    ]
    assert "no, the other lamp" not in {plain_text(message) for message in session.messages}
    assert session.branches == 2


def gemini_history(*contents: dict[str, Any]) -> dict[str, Any]:
    """A change of all messages: their contents as they are sent, with ids that are new."""
    messages: list[dict[str, Any]] = []
    for number, content in enumerate(contents):
        type_ = "user" if content["role"] == "user" else "gemini"
        messages.append({"id": f"h{number}", "type": type_, "content": content["parts"]})
    return {"$set": {"messages": messages}}


TOLD_AGAIN = (
    {"role": "user", "parts": [{"text": QUESTION}]},
    {
        "role": "model",
        "parts": [{"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "lamp.py"}}}],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": FILE}}}
        ],
    },
)


def test_a_resumed_session_of_gemini_is_told_again_and_nothing_was_compacted(
    tmp_path: Path,
) -> None:
    header, begun, *said = GEMINI_LINES[:6]
    house = {"role": "user", "parts": [{"text": "<session_context> a house"}]}
    resumed = [header, begun, gemini_history(house, *TOLD_AGAIN), GEMINI_LINES[-1]]
    session = only(written(tmp_path, [header, begun, *said, *resumed]))
    assert counts([session]) == Counts(5, 1, 1, 0, 0, 1)
    assert [message.role for message in fold(session.path)] == [
        "user",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_a_compaction_of_gemini_keeps_what_it_tells_again_with_its_results(tmp_path: Path) -> None:
    summary = {"role": "user", "parts": [{"text": SUMMARY}]}
    got_it = {"role": "model", "parts": [{"text": "Got it."}]}
    question, call, result = TOLD_AGAIN
    after = {"id": "r2", "type": "user", "content": result["parts"]}
    compacted = gemini_history(summary, got_it, question, call)
    session = only(written(tmp_path, [*GEMINI_LINES[:5], compacted, after, GEMINI_LINES[-1]]))
    assert [plain_text(message) for message in fold(session.path)] == [
        SUMMARY,
        QUESTION,
        "",
        FILE,
        ANSWER,
    ]
    assert counts([session]) == Counts(5, 1, 1, 0, 1, 1, notes=1)


def test_a_picture_that_gemini_sends_with_a_result_is_one_picture(tmp_path: Path) -> None:
    lines = json.loads(json.dumps(GEMINI_LINES[:6]))
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    lines[4]["toolCalls"][0]["result"].append(picture)
    lines[5]["content"].append(picture)
    session = only(written(tmp_path, lines))
    images = [
        block for message in session.messages for block in message.blocks if block.type == "image"
    ]
    assert len(images) == 1


def test_a_command_of_copilot_is_what_it_stands_for(tmp_path: Path) -> None:
    sent = "<now>today</now>\n\nWrite down how the lamps are built."
    lines = [
        COPILOT[0],
        copilot("user.message", "e2", "e1", content="/init", transformedContent=sent),
    ]
    session = only(written(tmp_path, lines))
    assert [plain_text(message) for message in session.messages] == [sent]
    notes = [(entry.kind, entry.text) for entry in session.log if entry.type == "note"]
    assert notes == [("typed", "/init")]


def test_a_tool_of_kimi_s_cli_says_itself_that_it_failed(tmp_path: Path) -> None:
    lines = copy.deepcopy(KIMI)
    lines[-2]["content"][0]["text"] = "<system>ERROR: Command failed with exit code: 1.</system>no"
    session = only(written(tmp_path, lines))
    assert [message.is_error for message in session.messages if message.role == "tool"] == [True]


def test_the_end_of_a_droid_run_is_said_where_no_message_said_it(tmp_path: Path) -> None:
    *events, answer, end = DROID_STREAM
    error = droid("error", message="the key is gone")
    session = only(written(tmp_path, [*events, end, error]))
    assert [plain_text(message) for message in session.messages].count(ANSWER) == 1
    assert plain_text(session.messages[-1]) == ANSWER
    assert counts([session]).notes == 1
    again = only(written(tmp_path, [*events, answer, end]))
    assert [plain_text(message) for message in again.messages].count(ANSWER) == 1


def qwen_telemetry(uuid: str, parent: str, prompt: int, **more: Any) -> dict[str, Any]:
    """A record of what one request used, which stands before its answer."""
    event = {
        "event.name": "qwen-code.api_response",
        "input_token_count": prompt,
        "output_token_count": 30,
        "cached_content_token_count": 60,
        "thoughts_token_count": 10,
        "total_token_count": prompt + 30,
        **more,
    }
    return qwen("system", uuid, parent, subtype="ui_telemetry", systemPayload={"uiEvent": event})


def test_a_request_of_qwen_that_no_answer_follows_is_that_of_its_compression(
    tmp_path: Path,
) -> None:
    *said, compression, answer = QWEN
    of_an_agent = qwen_telemetry("t2", "t1", 500, subagent_name="painter")
    reported = [qwen_telemetry("t1", "u4", 900), of_an_agent]
    compression = {**compression, "parentUuid": "t2"}
    session = only(written(tmp_path, [*said, *reported, compression, answer]))
    (compaction,) = [entry for entry in session.path if isinstance(entry, CompactionEntry)]
    assert compaction.usage == Usage(840, 60, output=30, reasoning=10)
    (sentence,) = session.origin.skipped
    assert sentence.endswith(
        "is of a sub-agent, whose messages are in no file: its request is in no bill"
    )


def test_what_a_compression_of_qwen_keeps_is_not_said_again(tmp_path: Path) -> None:
    session = only(recorded(tmp_path, "qwen_code"))
    (compaction,) = [entry for entry in session.path if isinstance(entry, CompactionEntry)]
    assert (compaction.tokens_before, compaction.tokens_after, compaction.kept) == (
        900,
        300,
        ("u3",),
    )
    assert [plain_text(message) for message in fold(session.path)] == [
        SUMMARY,
        FILE,
        ANSWER,
    ]
    (note,) = [entry for entry in session.log if isinstance(entry, NoteEntry)]
    assert (note.kind, note.text) == ("client_answer", "Understood.")
    assert "A wrong guess." not in {plain_text(message) for message in session.messages}


def test_a_summary_of_roo_replaces_what_names_it_and_nothing_else(tmp_path: Path) -> None:
    session = only(recorded(tmp_path, "roo_task"))
    assert [message.role for message in fold(session.path)] == [
        "summary",
        "assistant",
        "tool",
        "assistant",
    ]
    answer = session.messages[1]
    assert isinstance(answer, AssistantMessage)
    assert (answer.usage, answer.model, answer.time) == (Usage(100, 60, 0, 9), "big", 1767261601.0)


def roo_thought(*words: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in words]
    return {"role": "assistant", "ts": 2, "type": "reasoning", "summary": summary}


def test_a_thought_of_roo_belongs_to_the_answer_behind_it(tmp_path: Path) -> None:
    question = {"role": "user", "ts": 1, "content": QUESTION}
    answer = {"role": "assistant", "ts": 3, "content": ANSWER}
    messages = [question, roo_thought(), roo_thought(THOUGHT), answer, roo_thought("and more")]
    session = only(document(tmp_path, messages))
    assert session.origin.format == "roo_task"
    assert counts([session]) == Counts(3, 0, 0, 2, 0, 0)
    assert [block.type for block in session.messages[1].blocks] == ["thinking", "text"]
    assert left_out(session) == ("1 × thought without words: unknown, left out",)


def test_a_truncation_of_roo_that_no_message_names_hides_none(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "ts": 1, "content": QUESTION},
        {"role": "user", "ts": 2, "content": "[hidden]", "isTruncationMarker": True},
        {"role": "assistant", "ts": 3, "content": ANSWER},
    ]
    session = only(document(tmp_path, messages))
    assert [plain_text(message) for message in fold(session.path)] == [QUESTION, ANSWER]


def test_a_compaction_of_goose_leaves_what_the_agent_still_sees(tmp_path: Path) -> None:
    session = only(written(tmp_path, GOOSE))
    assert [plain_text(message) for message in fold(session.path)] == [SUMMARY, ANSWER]
    assert (session.cwd, session.title) == ("/home/me/hall", "a lamp")


def test_the_document_of_hermes_has_the_messages_of_its_lines_and_the_prompt(
    tmp_path: Path,
) -> None:
    lines, session = only(written(tmp_path, HERMES)), only(document(tmp_path, HERMES_DOCUMENT))
    assert [plain_text(message) for message in session.messages[1:]] == [
        plain_text(message) for message in lines.messages
    ]
    assert (session.id, session.model, lines.model) == ("h1", "hermes-4", "hermes-4")


def test_langchain_s_types_and_contents_alone_are_its_messages(tmp_path: Path) -> None:
    bare = [
        {"type": "system", "content": "You are helpful."},
        {"type": "human", "content": "Name five fruits."},
        {"type": "ai", "content": "Apple, fig, plum, pear and lime."},
    ]
    session = only(document(tmp_path, bare))
    assert session.origin.format == "langchain"
    assert [message.role for message in session.messages] == ["system", "user", "assistant"]


def test_a_list_of_types_and_contents_of_something_else_is_no_recording(tmp_path: Path) -> None:
    parts = [{"type": "system", "content": "a pump"}, {"type": "valve", "content": "a valve"}]
    with pytest.raises(FormatError):
        only(document(tmp_path, parts))


@pytest.mark.parametrize("form", ["messages_to_dict", "dumpd", "inside an object", "lines"])
def test_langchain_s_forms_are_one_session(tmp_path: Path, form: str) -> None:
    plain = only(document(tmp_path, LANGCHAIN, "plain.json"))
    names = {
        "system": "SystemMessage",
        "human": "HumanMessage",
        "ai": "AIMessage",
        "tool": "ToolMessage",
    }
    forms: dict[str, Any] = {
        "messages_to_dict": [{"type": message["type"], "data": message} for message in LANGCHAIN],
        "dumpd": [
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "messages", names[message["type"]]],
                "kwargs": {name: value for name, value in message.items() if value != {}},
            }
            for message in LANGCHAIN
        ],
        "inside an object": {"messages": LANGCHAIN},
        "lines": LANGCHAIN,
    }
    path = written(tmp_path, forms[form]) if form == "lines" else document(tmp_path, forms[form])
    session = only(path)
    assert session.origin.format == "langchain"
    assert [(message.role, message.blocks) for message in session.messages] == [
        (message.role, message.blocks) for message in plain.messages
    ]
    assert session.messages[2].usage == Usage(40, 60, 0, 9)  # type: ignore[union-attr]


AGENT_ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": QUESTION},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": THOUGHT}]},
    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}", "id": "f1"},
    {"type": "function_call_output", "call_id": "c1", "output": FILE},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
]
AGENT_TABLES = """
CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY, session_id TEXT, message_data TEXT, created_at TIMESTAMP);
"""
GOOSE_TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TIMESTAMP);
CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT,
    created_timestamp INTEGER, metadata_json TEXT);
"""
CRUSH_TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER,
    finished_at INTEGER, is_summary_message INTEGER);
"""
HERMES_TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, model TEXT, model_config TEXT, system_prompt TEXT, started_at REAL,
    input_tokens INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
    tool_calls TEXT, tool_name TEXT, timestamp REAL, finish_reason TEXT, reasoning TEXT);
"""
CRUSH_PARTS: list[tuple[str, list[dict[str, Any]], int]] = [
    ("user", [{"type": "text", "data": {"text": QUESTION}}], 0),
    ("assistant", [{"type": "reasoning", "data": {"thinking": THOUGHT}},
        {"type": "tool_call", "data": {"id": "c1", "name": "view", "input": '{"path": "lamp.py"}', "finished": True}},
        {"type": "finish", "data": {"reason": "tool_use"}}], 0),
    ("tool", [{"type": "tool_result", "data": {"tool_call_id": "c1", "name": "view", "content": FILE}}], 0),
    ("assistant", [{"type": "text", "data": {"text": SUMMARY}}], 1),
    ("assistant", [{"type": "text", "data": {"text": ANSWER}}], 0),
]  # fmt: skip


def test_sessions_of_the_openai_agents_sdk_are_read_from_their_database(tmp_path: Path) -> None:
    items = [*AGENT_ITEMS, {"strange": "what is no item of any kind"}]
    messages = [(None, "chat-1", json.dumps(item), "2026-01-01") for item in items]
    saved = json.dumps({"saves": 1, "document": {"workbench": "compactor", "entries": AGENT_ITEMS}})
    messages.append((None, "chat-1/compactor-0", saved, "2026-01-02"))
    sessions = [
        ("chat-0", "2026-01-01", ""),
        ("chat-1", "2026-01-02", ""),
        ("chat-1/compactor-0", "2026-01-02", ""),
    ]
    session = only(
        database(tmp_path, AGENT_TABLES, agent_sessions=sessions, agent_messages=messages)
    )
    assert (session.id, session.origin.format) == ("chat-1", "openai_agents_database")
    assert counts([session]) == Counts(4, 1, 1, 1, 0, 0)
    assert left_out(session) == ("1 × item without a type and a role: unknown, left out",)
    assert session.origin.text_read is not None and session.origin.text_read > 0.7


def test_sessions_of_goose_are_read_from_its_database(tmp_path: Path) -> None:
    messages = [
        (
            n,
            f"m{n}",
            "g1",
            message["role"],
            json.dumps(message["content"]),
            n,
            json.dumps(message["metadata"]),
        )
        for n, message in enumerate(GOOSE[1:])
    ]
    sessions = [("g1", "a lamp", "/home/me/hall", "2026-01-01")]
    session = only(database(tmp_path, GOOSE_TABLES, sessions=sessions, messages=messages))
    assert (session.id, session.title, session.origin.format) == ("g1", "a lamp", "goose_database")
    assert counts([session]) == HELD["goose"]


def test_sessions_of_crush_are_read_from_its_database(tmp_path: Path) -> None:
    messages = [
        (f"m{n}", "c1", role, json.dumps(parts), "big", 1767261600 + n, None, summary)
        for n, (role, parts, summary) in enumerate(CRUSH_PARTS)
    ]
    session = only(
        database(tmp_path, CRUSH_TABLES, sessions=[("c1", None, "a lamp", 1)], messages=messages)
    )
    assert (session.model, session.title, session.origin.format) == (
        "big",
        "a lamp",
        "crush_database",
    )
    assert counts([session]) == Counts(4, 1, 1, 1, 1, 0)
    assert [plain_text(message) for message in fold(session.path)] == [SUMMARY, ANSWER]
    assert session.messages[1].stop == "tool_use"  # type: ignore[union-attr]


def test_sessions_of_hermes_are_read_from_its_database(tmp_path: Path) -> None:
    messages = [
        (
            n,
            "h1",
            message["role"],
            message["content"],
            message.get("tool_call_id"),
            json.dumps(message["tool_calls"]) if "tool_calls" in message else None,
            message.get("tool_name"),
            1767261600.5 + n,
            message.get("finish_reason"),
            message.get("reasoning"),
        )
        for n, message in enumerate(HERMES[1:])
    ]
    sessions = [("h1", "hermes-4", "{}", "You mend lamps in the whole house.", 1767261600.0, 500)]
    session = only(database(tmp_path, HERMES_TABLES, sessions=sessions, messages=messages))
    assert (session.id, session.model, session.origin.format) == (
        "h1",
        "hermes-4",
        "hermes_database",
    )
    assert counts([session]) == Counts(5, 1, 1, 1, 1, 0)
    assert session.messages[0].role == "system"
    assert session.origin.skipped == (
        "field 'session h1.session': is of all requests together, not used",
    )


def test_the_end_of_a_turn_of_cursor_is_a_note(tmp_path: Path) -> None:
    lines = [
        {"role": "user", "message": {"content": [{"type": "text", "text": QUESTION}]}},
        {"type": "turn_ended", "status": "aborted", "error": "the user pressed escape"},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": ANSWER}]}},
    ]
    session = only(written(tmp_path, lines))
    assert counts([session]) == Counts(2, 0, 0, 0, 0, 0, notes=1)
    assert session.origin.skipped == ()


@pytest.mark.parametrize("form", ["nested", "a table's row", "lines", "an answer of its interface"])
def test_spans_of_phoenix_are_read_in_each_form(tmp_path: Path, form: str) -> None:
    columns = {
        name: in_columns(value) if isinstance(value, list) else value
        for name, value in PHOENIX.items()
    }
    flat = in_columns({"attributes": PHOENIX["attributes"], "context": PHOENIX["context"]})
    row = {name: value for name, value in columns.items() if not isinstance(value, dict)} | flat
    forms: dict[str, Any] = {
        "nested": [PHOENIX],
        "a table's row": [row],
        "an answer of its interface": {"data": [PHOENIX], "next_cursor": None},
    }
    path = written(tmp_path, [PHOENIX]) if form == "lines" else document(tmp_path, forms[form])
    session = only(path)
    assert session.origin.format == "otel"
    assert counts([session]) == Counts(4, 1, 1, 0, 0, 1)
    assert [plain_text(message) for message in session.messages] == [QUESTION, "", FILE, ANSWER]
    answer = session.messages[-1]
    assert isinstance(answer, AssistantMessage)
    assert (answer.usage, answer.model, session.id) == (Usage(40, 60, 0, 9), "big", "t1")


def test_a_trace_of_mlflow_is_read(tmp_path: Path) -> None:
    session = only(document(tmp_path, MLFLOW))
    assert session.origin.format == "otel"
    assert counts([session]) == Counts(2, 0, 0, 0, 0, 1)
    assert [plain_text(message) for message in session.messages] == [QUESTION, ANSWER]


def test_a_conversation_of_chatgpt_ends_at_its_newest_message(tmp_path: Path) -> None:
    session = only(recorded(tmp_path, "chatgpt_export"))
    assert (session.id, session.title, session.branches) == ("k1", "a lamp", 2)
    assert [message.role for message in session.messages] == [
        "user",
        "assistant",
        "assistant",
        "tool",
        "assistant",
    ]


def test_a_conversation_of_sharegpt_without_turns_is_told(tmp_path: Path) -> None:
    turns = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "ho"}]
    sessions = load(written(tmp_path, [{"conversations": turns}, {"conversations": []}]))
    assert any(
        "holds no messages" in note for session in sessions for note in session.origin.skipped
    )


def test_a_usage_that_cannot_be_read_costs_no_answer(tmp_path: Path) -> None:
    messages = [{**message, "metrics": ""} for message in AGENT_DOCUMENTS["roo_task"]]
    session = only(document(tmp_path, messages))
    assert sum(isinstance(message, AssistantMessage) for message in session.messages) > 0
    assert not any("answers no call" in note for note in session.origin.skipped)


def test_a_summary_of_an_unknown_kind_is_told(tmp_path: Path) -> None:
    summary = next(line for line in GOOSE if line.get("metadata", {}).get("userVisible") is False)
    changed = {**summary, "content": [{**summary["content"][0], "type": "digest"}]}
    session = only(written(tmp_path, [changed if line is summary else line for line in GOOSE]))
    assert any("digest" in note for note in session.origin.skipped)


def test_a_compaction_of_kimi_code_keeps_the_newest_typed_prompts(tmp_path: Path) -> None:
    session = only(written(tmp_path, KIMI_CODE))
    kept = [plain_text(message) for message in fold(session.path)]
    assert kept == [SUMMARY, PROMPT, QUESTION, ANSWER]
    result = session.messages[4]
    assert plain_text(result) == f"{FILE}\n<system>1 line read.</system>"


def test_code_in_the_text_of_smolagents_is_a_call_and_not_said_twice(tmp_path: Path) -> None:
    session = only(document(tmp_path, SMOLAGENTS))
    answers = [message for message in session.messages if isinstance(message, AssistantMessage)]
    assert plain_text(answers[2]) == THOUGHT
    assert answers[2].calls[0].arguments == {"input": SMOLAGENTS_CODE}
    assert answers[2].usage == Usage(input=40, cache_read=60, output=9)


def test_an_error_of_smolagents_is_what_its_call_returned(tmp_path: Path) -> None:
    error = {"type": "AgentExecutionError", "message": "the file cannot be read here"}
    step = {**SMOLAGENTS["steps"][3], "observations": None, "error": error}
    result = only(document(tmp_path, [*SMOLAGENTS["steps"][:3], step])).messages[-1]
    assert isinstance(result, ToolResult) and result.is_error
    assert plain_text(result) == "the file cannot be read here"


def test_the_steps_of_smolagents_alone_are_the_same_session(tmp_path: Path) -> None:
    session = only(document(tmp_path, SMOLAGENTS))
    steps = only(document(tmp_path, SMOLAGENTS["steps"]))
    assert session.messages == steps.messages


def test_the_state_of_an_agent_of_autogen_is_its_context(tmp_path: Path) -> None:
    session = only(document(tmp_path, AUTOGEN_AGENT))
    run = only(document(tmp_path, AUTOGEN))
    assert [message.blocks for message in session.messages] == [m.blocks for m in run.messages]


def test_each_agent_of_a_team_of_autogen_is_a_session(tmp_path: Path) -> None:
    sessions = load(document(tmp_path, AUTOGEN_TEAM))
    assert [len(session.messages) for session in sessions] == [4, 4]


def test_lines_of_weave_are_the_same_session(tmp_path: Path) -> None:
    lines = only(written(tmp_path, WEAVE))
    assert lines.messages == only(document(tmp_path, WEAVE)).messages
    assert (lines.model, lines.project) == ("big", "house")


def test_a_conversation_inside_an_answer_of_chatgpt_s_pages_is_the_same(tmp_path: Path) -> None:
    (conversation,) = CHATGPT_EXPORT
    answered = {"conversation_id": "k1", "conversation": conversation}
    session = only(document(tmp_path, answered))
    assert session.messages == only(document(tmp_path, CHATGPT_EXPORT)).messages


def test_what_a_tool_of_chatgpt_says_without_a_call_is_the_client_s_word(tmp_path: Path) -> None:
    (conversation,) = CHATGPT_EXPORT
    content = {"content_type": "text", "parts": ["The search found two lamps."]}
    more = chatgpt("m7", "m5", "tool", content, tool="web")
    mapping = {**conversation["mapping"], "m7": more}
    changed = [{**conversation, "mapping": mapping, "current_node": "m7"}]
    newest = only(document(tmp_path, changed)).messages[-1]
    assert (newest.role, plain_text(newest)) == ("user", "The search found two lamps.")


def test_what_chatgpt_keeps_beside_a_message_is_named_without_the_message_s_id(
    tmp_path: Path,
) -> None:
    (conversation,) = CHATGPT_EXPORT
    mapping = {}
    for name, node in conversation["mapping"].items():
        message = node["message"] and {
            **node["message"],
            "metadata": {"search": "lamps of the whole house"},
        }
        mapping[name] = {**node, "message": message}
    (unread,) = only(document(tmp_path, [{**conversation, "mapping": mapping}])).origin.unread
    assert (unread.field, unread.client_only) == ("mapping.message.metadata.search", True)


def test_an_output_of_a_tool_is_what_its_message_returned(tmp_path: Path) -> None:
    call = {"type": "tool_call", "tool_call_id": "c1", "name": "read", "arguments": "{}"}
    for output in (FILE, [{"type": "text", "text": FILE}]):
        talk = [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": [call]},
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": [{"type": "tool_output", "text": output}],
            },
        ]
        assert plain_text(only(document(tmp_path, talk)).messages[-1]) == FILE


def test_goose_says_which_model_answered_and_what_it_used(tmp_path: Path) -> None:
    *before, answer, notice = GOOSE
    figures = {"inputTokens": 100, "outputTokens": 9, "cacheReadTokens": 60, "cost": 0.01}
    about = {**answer["metadata"], "inference": {"resolvedModel": "big"}, "usage": figures}
    session = only(written(tmp_path, [*before, {**answer, "metadata": about}, notice]))
    newest = session.messages[-1]
    assert isinstance(newest, AssistantMessage) and session.model == "big"
    assert newest.usage == Usage(input=40, cache_read=60, output=9)


def goose_result(*blocks: dict[str, Any]) -> dict[str, Any]:
    outcome = {"status": "success", "value": list(blocks)}
    return goose("user", {"type": "toolResponse", "id": "c1", "toolResult": outcome})


def for_whom(words: str, *audience: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "annotations": {"audience": list(audience)}}


@pytest.mark.parametrize("shown", [FILE, "a picture of the lamp for people"])
def test_what_a_tool_of_goose_returns_for_the_user_alone_is_not_sent(
    tmp_path: Path, shown: str
) -> None:
    returned = goose_result(for_whom(FILE, "assistant"), for_whom(shown, "user"))
    session = only(written(tmp_path, [GOOSE[0], goose("assistant", GOOSE_CALL), returned]))
    assert plain_text(session.messages[-1]) == FILE
    is_named = any("for the user alone" in words for words in session.origin.skipped)
    assert is_named == (shown != FILE)


def test_a_call_that_goose_makes_in_its_window_is_a_call(tmp_path: Path) -> None:
    call = {**GOOSE_CALL, "type": "frontendToolRequest"}
    session = only(written(tmp_path, [GOOSE[0], goose("assistant", call), *GOOSE[3:4]]))
    assert counts([session]) == Counts(2, 1, 1, 0, 0, 0)


@pytest.mark.parametrize("type_", ["contextLengthExceeded", "summarizationRequested"])
def test_what_goose_tells_its_user_of_the_context_is_a_note(tmp_path: Path, type_: str) -> None:
    notice = {"type": type_, "msg": "the context is too long"}
    answer = goose("assistant", notice, {"type": "text", "text": ANSWER})
    session = only(written(tmp_path, [GOOSE[0], answer]))
    assert counts([session]) == Counts(1, 0, 0, 0, 0, 0, notes=1)


def test_the_newest_answer_of_goose_has_what_the_session_says_of_the_last_request(
    tmp_path: Path,
) -> None:
    header = {**GOOSE[0], "input_tokens": 800, "output_tokens": 9, "accumulated_input_tokens": 5000}
    lines = [header, goose("assistant", GOOSE_CALL), goose("user", GOOSE_RESULT)]
    session = only(
        written(tmp_path, [*lines, goose("assistant", {"type": "text", "text": ANSWER})])
    )
    usages = [m.usage for m in session.messages if isinstance(m, AssistantMessage)]
    assert usages == [None, Usage(input=800, output=9)]


def test_what_grok_s_client_says_is_not_the_user_s_word(tmp_path: Path) -> None:
    session = only(written(tmp_path, GROK))
    flags = [message.synthetic for message in session.messages if message.role == "user"]
    assert flags == [True, False] and session.model == "grok"


def test_a_thought_of_grok_without_an_answer_is_an_answer_of_its_own(tmp_path: Path) -> None:
    session = only(written(tmp_path, [*GROK[:4], GROK[2]]))
    thoughts = [message for message in session.messages if isinstance(message, AssistantMessage)]
    assert [block.type for message in thoughts for block in message.blocks] == ["thinking"]


def claude_message(id: str, parent: str, sender: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {
        "uuid": id,
        "parent_message_uuid": parent,
        "sender": sender,
        "text": "",
        "content": list(blocks),
        "created_at": "2026-01-01T10:00:00Z",
    }


def claude_text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "citations": []}


CLAUDE_ROOT = "00000000-0000-4000-8000-000000000000"


def test_an_answer_of_claude_s_export_is_read_round_by_round(tmp_path: Path) -> None:
    call: dict[str, Any] = {"type": "tool_use", "name": "web_search", "input": {"query": "volts"}}
    result: dict[str, Any] = {"type": "tool_result", "content": [claude_text(FILE)]}
    answer = claude_message(
        "m2",
        "m1",
        "assistant",
        claude_text("I look"),
        call,
        result,
        call,
        result,
        claude_text(ANSWER),
    )
    asked = claude_message("m1", CLAUDE_ROOT, "human", claude_text(QUESTION))
    session = only(document(tmp_path, [{"uuid": "k1", "chat_messages": [asked, answer]}]))
    assert [(message.role, plain_text(message)) for message in session.messages] == [
        ("user", QUESTION),
        ("assistant", "I look"),
        ("tool", FILE),
        ("assistant", ""),
        ("tool", FILE),
        ("assistant", ANSWER),
    ]


def test_an_answer_that_claude_s_user_had_written_anew_is_on_a_branch(tmp_path: Path) -> None:
    messages = [
        claude_message("m1", CLAUDE_ROOT, "human", claude_text(QUESTION)),
        claude_message("m2", "m1", "assistant", claude_text("no idea")),
        claude_message("m3", "m1", "assistant", claude_text(ANSWER)),
    ]
    export = {"uuid": "k1", "chat_messages": messages}
    session = only(document(tmp_path, [export]))
    assert [plain_text(message) for message in session.messages] == [QUESTION, ANSWER]
    assert len(session.log) == 3
    earlier = only(document(tmp_path, export | {"current_leaf_message_uuid": "m2"}))
    assert [plain_text(message) for message in earlier.messages] == [QUESTION, "no idea"]


@pytest.mark.parametrize(
    "keys",
    [("executableCode", "codeExecutionResult"), ("executable_code", "code_execution_result")],
)
def test_code_that_gemini_runs_in_its_answer_is_a_call_with_its_result(
    tmp_path: Path, keys: tuple[str, str]
) -> None:
    code, result = keys
    parts = [
        {"text": "I count"},
        {code: {"language": "PYTHON", "code": "print(2)"}},
        {result: {"outcome": "OUTCOME_FAILED", "output": "no lamps"}},
    ]
    contents = [
        {"role": "user", "parts": [{"text": "how many?"}]},
        {"role": "model", "parts": parts},
    ]
    session = only(document(tmp_path, contents))
    (answer,) = [message for message in session.messages if isinstance(message, AssistantMessage)]
    (call,) = answer.calls
    printed = session.messages[-1]
    assert (call.name, call.arguments) == (
        "code_execution",
        {"language": "PYTHON", "code": "print(2)"},
    )
    assert isinstance(printed, ToolResult)
    assert (printed.call_id, printed.is_error) == (call.id, True)
    assert plain_text(printed) == "no lamps"


def test_an_amp_thread_without_numbered_messages_is_known_by_its_id(tmp_path: Path) -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "steps"}
    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"cmd": "cat lamp"}}
    usage = {"inputTokens": 700, "outputTokens": 90, "cacheReadInputTokens": 300}
    messages = [
        {"role": "user", "content": "look at the lamp"},
        {"role": "assistant", "content": [call, result], "usage": usage},
    ]
    thread = {"v": 5, "id": "T-0aa8", "created": 1755900000000, "messages": messages}
    session = only(document(tmp_path, thread))
    assert session.origin.format == "amp"
    assert [message.role for message in session.messages] == ["user", "assistant", "tool"]
    answer = session.messages[1]
    assert isinstance(answer, AssistantMessage) and answer.usage is not None
    assert (answer.usage.prompt, answer.usage.output) == (1_000, 90)
