"""Frameworks that keep their sessions in SQLite: made-up databases in the shape that the real
programs write.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import database, document, only
from recordings.importers.framework_samples import (
    ANSWER,
    FILE,
    LLAMA_INDEX,
    OPENAI_CALL,
    PROMPT,
    QUESTION,
    SUMMARY,
    THOUGHT,
)
from recordings.importers.packing import Extension, packed

from workbench import AssistantMessage, CompactionEntry, FormatError, Session, load
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import Image, ToolResult, Usage, plain_text

LLM_TABLES = """
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, datetime_utc TEXT);
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, tip_message_hash TEXT, model TEXT, input_tokens INTEGER,
    output_tokens INTEGER, token_details TEXT, datetime_utc TEXT);
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, text TEXT, payload TEXT);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE part_fragments (part_id INTEGER, fragment_id INTEGER, "order" INTEGER);
"""
LLM_012_TABLES = """
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT, options_json TEXT,
    response TEXT, response_json TEXT, conversation_id TEXT, duration_ms INTEGER, datetime_utc TEXT);
"""
LLM_027_TABLES = f"""
{LLM_012_TABLES}
ALTER TABLE responses ADD COLUMN input_tokens INTEGER;
ALTER TABLE responses ADD COLUMN output_tokens INTEGER;
ALTER TABLE responses ADD COLUMN token_details TEXT;
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
CREATE TABLE system_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT, tool_call_id TEXT);
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT, tool_call_id TEXT,
    exception TEXT);
"""
AGNO_2_TABLES = """
CREATE TABLE agno_sessions (session_id TEXT PRIMARY KEY, session_type TEXT, session_data JSON, agent_data JSON,
    runs JSON, created_at INTEGER);
"""
AGNO_1_TABLES = """
CREATE TABLE talks (session_id VARCHAR NOT NULL, user_id VARCHAR, memory JSON, session_data JSON, extra_data JSON,
    created_at INTEGER, agent_data JSON, PRIMARY KEY (session_id));
CREATE TABLE user_memories (id VARCHAR NOT NULL, memory VARCHAR, created_at DATETIME);
"""
AGNO_3_TABLES = """
CREATE TABLE agno_sessions (session_id TEXT PRIMARY KEY, session_type TEXT, session_data JSON, agent_data JSON,
    created_at INTEGER);
CREATE TABLE agno_runs (run_id TEXT PRIMARY KEY, session_id TEXT, run_index INTEGER, run_data JSON);
"""
LLAMA_INDEX_TABLES = """
CREATE TABLE llama_index_memory (id INTEGER PRIMARY KEY, key TEXT, timestamp INTEGER, role TEXT, status TEXT,
    data JSON);
"""
LANGGRAPH_TABLES = """
CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT, type TEXT,
    checkpoint BLOB, metadata BLOB);
CREATE TABLE writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, channel TEXT, value BLOB);
"""
DETAILS = json.dumps({"prompt_tokens_details": {"cached_tokens": 60}})
CALL_PART = {"name": "read", "arguments": {"path": "lamp.py"}, "tool_call_id": "c1"}
RESULT_PART = {"name": "read", "output": FILE, "tool_call_id": "c1"}
NOON = "2024-01-01T12:00:00.000000"
SPENT = Usage(input=40, cache_read=60, output=9)


def roles(session: Session) -> list[str]:
    """Who speaks, in order."""
    return [message.role for message in session.messages]


def answers(session: Session) -> list[AssistantMessage]:
    """What the model said, in order."""
    return [message for message in session.messages if isinstance(message, AssistantMessage)]


def test_the_log_of_llm_is_read_along_each_thread(tmp_path: Path) -> None:
    messages = [
        ("h1", None, "system"),
        ("h2", "h1", "user"),
        ("h3", "h2", "assistant"),
        ("h4", "h3", "tool"),
        ("h5", "h4", "assistant"),
        ("h6", "h2", "assistant"),
    ]
    parts = [
        (1, "h1", 0, "text", PROMPT, None),
        (2, "h2", 0, "text", "", None),
        (3, "h3", 1, "tool_call", None, json.dumps(CALL_PART)),
        (4, "h3", 0, "reasoning", THOUGHT, None),
        (5, "h4", 0, "tool_result", None, json.dumps(RESULT_PART)),
        (6, "h5", 0, "text", ANSWER, None),
        (7, "h6", 0, "text", "The other thread says nothing of use.", None),
    ]
    turns = [
        ("t1", "a", "h3", "big", 100, 9, DETAILS, "2026-01-01T10:00:00+00:00"),
        ("t2", "a", "h5", "big", 100, 9, DETAILS, "2026-01-01T10:00:05+00:00"),
        ("t3", "b", "h6", "big", 100, 9, DETAILS, "2026-01-01T10:00:09+00:00"),
    ]
    path = database(
        tmp_path,
        LLM_TABLES,
        threads=[("a", "A lamp", "h5", "2026-01-01"), ("b", "Another", "h6", "2026-01-02")],
        turns=turns,
        messages=messages,
        parts=parts,
        fragments=[(1, QUESTION)],
        part_fragments=[(2, 1, 0)],
    )
    session, other = load(path)
    assert (session.id, session.title, session.model) == ("a", "A lamp", "big")
    assert session.origin.format == "llm_database"
    assert roles(session) == ["system", "user", "assistant", "tool", "assistant"]
    assert roles(other) == ["system", "user", "assistant"]
    assert plain_text(session.messages[1]) == QUESTION
    assert [answer.usage for answer in answers(session)] == [SPENT, SPENT]
    assert [block.type for block in answers(session)[0].blocks] == ["thinking", "tool_call"]
    assert plain_text(session.messages[3]) == FILE
    assert session.origin.text_read == 1.0


def test_the_first_log_of_llm_has_a_prompt_and_its_answer_in_a_row(tmp_path: Path) -> None:
    reported = json.dumps({"usage": {"prompt_tokens": 100, "completion_tokens": 9}})
    first = ("r1", "big", QUESTION, PROMPT, None, "{}", "I look at it.", reported, "a", 5, NOON)
    second = ("r2", "big", "Why does it do that?", PROMPT, None, "{}", ANSWER, None, "a", 5, NOON)
    path = database(
        tmp_path,
        LLM_012_TABLES,
        conversations=[("a", "A lamp", "big"), ("b", "Nothing was answered", "big")],
        responses=[first, second],
    )
    (session,) = load(path)
    assert (session.id, session.title, session.model) == ("a", "A lamp", "big")
    assert session.origin.format == "llm_responses"
    assert roles(session) == ["system", "user", "assistant", "user", "assistant"]
    assert [answer.usage for answer in answers(session)] == [Usage(input=100, output=9), None]
    assert session.messages[1].time == datetime.fromisoformat(f"{NOON}+00:00").timestamp()
    assert session.origin.text_read == 1.0 and not session.origin.skipped


def test_the_log_of_llm_before_its_threads_has_fragments_and_calls_in_tables_of_their_own(
    tmp_path: Path,
) -> None:
    asks = ("r1", "big", "", PROMPT, None, "{}", "", None, "a", 5, NOON, 100, 9, DETAILS)
    answered = ("r2", "big", "", None, None, "{}", ANSWER, None, "a", 5, NOON, 100, 9, DETAILS)
    path = database(
        tmp_path,
        LLM_027_TABLES,
        conversations=[("a", "A lamp", "big")],
        responses=[asks, answered],
        fragments=[(1, QUESTION)],
        prompt_fragments=[("r1", 1, 0)],
        attachments=[
            ("x", "image/gif", "/home/me/lamp.gif", None, b"GIF89a"),
            ("y", "audio/wav", "/home/me/lamp.wav", None, b"RIFF"),
        ],
        prompt_attachments=[("r1", "x", 0), ("r1", "y", 1)],
        tool_calls=[(1, "r1", "read", json.dumps({"path": "lamp.py"}), "c1")],
        tool_results=[(1, "r2", "read", FILE, "c1", "FileNotFoundError")],
    )
    (session,) = load(path)
    assert session.origin.format == "llm_responses"
    assert roles(session) == ["system", "user", "assistant", "tool", "assistant"]
    assert plain_text(session.messages[1]) == QUESTION
    asked, result, _ = session.messages[2:]
    assert isinstance(asked, AssistantMessage) and isinstance(result, ToolResult)
    (call,) = asked.calls
    assert (call.id, call.name, call.arguments) == ("c1", "read", {"path": "lamp.py"})
    assert (result.call_id, plain_text(result), result.is_error) == ("c1", FILE, True)
    assert [answer.usage for answer in answers(session)] == [SPENT, SPENT]
    assert session.messages[1].blocks[1:] == (Image("image/gif", bytes=6, tokens=1_200),)
    (left_out,) = session.origin.skipped
    assert "attachment of type 'audio/wav'" in left_out


METRICS = {"input_tokens": 100, "output_tokens": 9, "cache_read_tokens": 60}
AGNO_RUN: dict[str, Any] = {
    "run_id": "r1",
    "model": "big",
    "model_provider": "OpenAI",
    "content": ANSWER,
    "messages": [
        {"id": "m1", "role": "system", "content": PROMPT},
        {"id": "m0", "role": "user", "content": "An older question of them.", "from_history": True},
        {"id": "m2", "role": "user", "content": QUESTION, "created_at": 1767261600},
        {"id": "m3", "role": "assistant", "tool_calls": [OPENAI_CALL], "metrics": METRICS},
        {"id": "m4", "role": "tool", "tool_call_id": "c1", "tool_name": "read", "content": FILE},
        {"id": "m5", "role": "assistant", "content": ANSWER, "metrics": METRICS},
    ],
}
AGNO_FAILED = {
    "run_id": "r2",
    "status": "ERROR",
    "input": {"input_content": "And the lamp in the kitchen, why?"},
    "content": "Could not resolve the way to log in.",
}


def agno_database(folder: Path, runs: list[dict[str, Any]], *, version: int) -> Path:
    """The database of one session with these runs, as this version of Agno writes it."""
    if version == 1:
        memory = json.dumps({"summaries": {}, "memories": {}, "runs": runs})
        return database(
            folder,
            AGNO_1_TABLES,
            talks=[("s1", "me", memory, "{}", "null", 1767261600, "{}")],
        )
    if version == 2:
        encoded_twice = json.dumps(json.dumps(runs))
        return database(
            folder,
            AGNO_2_TABLES,
            agno_sessions=[("s1", "agent", "{}", "{}", encoded_twice, 1767261600)],
        )
    rows = [(run["run_id"], "s1", index, json.dumps(run)) for index, run in enumerate(runs)]
    return database(
        folder,
        AGNO_3_TABLES,
        agno_sessions=[("s1", "agent", "{}", "{}", 1767261600)],
        agno_runs=rows,
    )


@pytest.mark.parametrize("version", [1, 2, 3])
def test_the_runs_of_agno_are_one_session(tmp_path: Path, version: int) -> None:
    session = only(agno_database(tmp_path, [AGNO_RUN, AGNO_FAILED], version=version))
    assert (session.id, session.model, session.origin.format) == ("s1", "big", "agno_database")
    assert roles(session) == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert [answer.usage for answer in answers(session)] == [SPENT, SPENT]
    notes = [(entry.kind, entry.text) for entry in session.log if entry.type == "note"]
    assert notes == [("ERROR", "Could not resolve the way to log in.")]
    assert session.messages[3].call_id == "c1"  # type: ignore[union-attr]


def test_what_a_run_of_agno_used_until_it_failed_is_billed(tmp_path: Path) -> None:
    failed = {**AGNO_FAILED, "model": "big", "metrics": METRICS, "reasoning_content": "Is it dark?"}
    session = only(agno_database(tmp_path, [AGNO_RUN, failed], version=2))
    answer = answers(session)[-1]
    assert (answer.usage, answer.model) == (SPENT, "big")
    assert [block.type for block in answer.blocks] == ["thinking"]


def test_a_run_of_agno_that_was_sent_no_history_is_a_session_of_its_own(tmp_path: Path) -> None:
    alone = [message for message in AGNO_RUN["messages"] if "from_history" not in message]
    second = {**AGNO_RUN, "run_id": "r2", "messages": alone}
    third = {**AGNO_RUN, "run_id": "r3"}
    path = agno_database(tmp_path, [AGNO_RUN, AGNO_FAILED, second, third], version=1)
    answer_counts = {session.id: len(answers(session)) for session in load(path)}
    assert answer_counts == {"s1": 2, "s1-2": 4}


def agno_call(call_id: str, member: str) -> dict[str, Any]:
    """A call of a team's leader, which hands a task to a member."""
    arguments = json.dumps({"member": member})
    return {"id": call_id, "function": {"name": "transfer", "arguments": arguments}}


def test_each_result_in_a_message_of_several_answers_its_call(tmp_path: Path) -> None:
    calls = [agno_call("c1", "ann"), agno_call("c2", "bob")]
    results = [
        {"tool_name": "transfer", "content": "Ann saw the lamp in the hall."},
        {"tool_name": "transfer", "content": "Bob saw the lamp in the shed."},
    ]
    member_run = {**AGNO_RUN, "run_id": "ann-1"}
    run = {
        **AGNO_RUN,
        "messages": [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "tool_calls": calls},
            {"role": "tool", "content": ["Ann", "Bob"], "tool_calls": results},
        ],
        "member_responses": [member_run],
    }
    leader, member = load(agno_database(tmp_path, [run], version=1))
    told = {
        message.call_id: plain_text(message)
        for message in leader.messages
        if isinstance(message, ToolResult)
    }
    assert told == {"c1": results[0]["content"], "c2": results[1]["content"]}
    assert leader.origin.skipped == ()
    assert [answer.usage for answer in answers(member)] == [SPENT, SPENT]


def test_the_tables_of_agno_have_the_names_that_the_program_gave_them(tmp_path: Path) -> None:
    tables = AGNO_2_TABLES.replace("agno_sessions", "my_agent_sessions")
    runs = json.dumps([AGNO_RUN])
    row = ("s1", "agent", "{}", "{}", runs, 1767261600)
    session = only(database(tmp_path, tables, my_agent_sessions=[row]))
    assert session.origin.format == "agno_database"
    assert roles(session) == ["system", "user", "assistant", "tool", "assistant"]


def test_a_database_of_agno_with_memories_alone_is_no_recording(tmp_path: Path) -> None:
    memories = "CREATE TABLE user_memories (id VARCHAR, user_id VARCHAR, memory VARCHAR);"
    path = database(tmp_path, memories, user_memories=[("1", "me", "likes lamps")])
    with pytest.raises(FormatError):
        load(path)


def test_agno_says_the_same_instructions_once_and_adds_the_cache_to_anthropics_input(
    tmp_path: Path,
) -> None:
    metrics = {"input_tokens": 40, "output_tokens": 9, "cache_read_tokens": 60}
    messages = [
        {**message, "metrics": metrics} if "metrics" in message else message
        for message in AGNO_RUN["messages"]
    ]
    run = {**AGNO_RUN, "model_provider": "Anthropic", "messages": messages}
    session = only(agno_database(tmp_path, [run, {**run, "run_id": "r2"}], version=3))
    assert roles(session).count("system") == 1
    assert [answer.usage for answer in answers(session)] == [SPENT] * 4


def test_the_run_of_a_member_of_agnos_team_is_a_session_of_its_own(tmp_path: Path) -> None:
    member = {"run_id": "r2", "parent_run_id": "r1", "messages": AGNO_RUN["messages"]}
    main, agent = load(agno_database(tmp_path, [AGNO_RUN, member], version=3))
    assert len(main.messages) == 5
    assert roles(agent) == ["system", "user", "assistant", "tool", "assistant"]


OLD_LLAMA_INDEX = [
    {"role": "user", "content": QUESTION, "additional_kwargs": {}},
    {"role": "assistant", "content": None, "additional_kwargs": {"tool_calls": [OPENAI_CALL]}},
    {"role": "tool", "content": FILE, "additional_kwargs": {"tool_call_id": "c1"}},
    {"role": "assistant", "content": ANSWER, "additional_kwargs": {}},
]
STORE = {"store": {"anna": LLAMA_INDEX}, "class_name": "SimpleChatStore"}


@pytest.mark.parametrize(
    "value",
    [
        STORE,
        {"chat_store": STORE, "chat_store_key": "anna", "class_name": "ChatMemoryBuffer"},
        LLAMA_INDEX,
        OLD_LLAMA_INDEX,
        {"store": {"anna": OLD_LLAMA_INDEX}, "class_name": "SimpleChatStore"},
    ],
    ids=["store", "memory", "messages", "old messages", "old store"],
)
def test_the_messages_of_llamaindex_are_no_langchain_messages(tmp_path: Path, value: Any) -> None:
    session = only(document(tmp_path, value))
    assert session.origin.format == "llama_index"
    assert roles(session) == ["user", "assistant", "tool", "assistant"]
    assert [call.name for call in answers(session)[0].calls] == ["read"]
    assert session.origin.text_read == 1.0


def test_each_key_of_a_chat_store_is_a_session(tmp_path: Path) -> None:
    store = {
        "store": {"anna": LLAMA_INDEX, "ben": LLAMA_INDEX[:1]},
        "class_name": "SimpleChatStore",
    }
    assert [session.id for session in load(document(tmp_path, store))] == ["anna", "ben"]


def test_the_memory_of_llamaindex_is_read_from_its_database(tmp_path: Path) -> None:
    rows = [
        (number, "anna", number, message["role"], "active", json.dumps(message))
        for number, message in enumerate(LLAMA_INDEX)
    ]
    session = only(database(tmp_path, LLAMA_INDEX_TABLES, llama_index_memory=rows))
    assert (session.id, session.origin.format) == ("anna", "llama_index_database")
    assert roles(session) == ["user", "assistant", "tool", "assistant"]


def langgraph(class_name: str, id: str, content: str, **more: Any) -> Extension:
    """A message in a checkpoint of LangGraph."""
    module = f"langchain_core.messages.{class_name.removesuffix('Message').lower()}"
    arguments = {"content": content, "id": id, "additional_kwargs": {}, **more}
    return Extension(5, packed([module, class_name, arguments, "model_validate_json"]))


ASKED = langgraph("HumanMessage", "m1", QUESTION)
CALLED = langgraph(
    "AIMessage",
    "m2",
    "",
    tool_calls=[{"id": "c1", "name": "read", "args": {"path": "lamp.py"}}],
    usage_metadata={
        "input_tokens": 100,
        "output_tokens": 9,
        "input_token_details": {"cache_read": 60},
    },
)
RETURNED = langgraph("ToolMessage", "m3", FILE, tool_call_id="c1", name="read")
ANSWERED = langgraph("AIMessage", "m4", ANSWER)
SUMMARISED = langgraph(
    "HumanMessage", "m5", SUMMARY, additional_kwargs={"lc_source": "summarization"}
)
ASKED_AGAIN = langgraph("HumanMessage", "m6", "And the lamp in the kitchen, why?")


def checkpoints(folder: Path, *states: list[Extension]) -> Path:
    """The checkpoints of a thread whose messages were these, one list after another."""
    rows: list[tuple[Any, ...]] = []
    parent: str | None = None
    for number, messages in enumerate(states):
        channels: dict[str, Any] = {"messages": messages}
        if not messages:
            channels = {"__start__": {"messages": []}}
        state = {"ts": f"2026-01-01T10:00:0{number}+00:00", "channel_values": channels}
        rows.append(("thread", "", f"id{number}", parent, "msgpack", packed(state), b"{}"))
        parent = f"id{number}"
    return database(folder, LANGGRAPH_TABLES, checkpoints=rows)


def test_the_checkpoints_of_langgraph_are_one_session_a_thread(tmp_path: Path) -> None:
    path = checkpoints(
        tmp_path,
        [],
        [ASKED],
        [ASKED, CALLED],
        [ASKED, CALLED, RETURNED],
        [ASKED, CALLED, RETURNED, ANSWERED],
    )
    path.rename(tmp_path / "checkpoints.sqlite")
    session = only(tmp_path)
    assert (session.id, session.origin.format) == ("thread", "langgraph_database")
    assert roles(session) == ["user", "assistant", "tool", "assistant"]
    assert [answer.usage for answer in answers(session)] == [SPENT, None]
    assert session.messages[1].time == 1767261602.0
    assert session.origin.text_read == 1.0


def test_the_error_of_a_step_of_langgraph_is_a_note(tmp_path: Path) -> None:
    path = checkpoints(tmp_path, [ASKED], [ASKED, CALLED])
    error = packed("TimeoutError('the lamp did not answer in time')")
    with closing(sqlite3.connect(path)) as opened, opened:
        row = ("thread", "", "id1", "__error__", error)
        opened.execute("INSERT INTO writes VALUES (?, ?, ?, ?, ?)", row)
    session = only(path)
    notes = [(entry.kind, entry.text) for entry in session.log if entry.type == "note"]
    assert notes == [("error", "TimeoutError('the lamp did not answer in time')")]
    assert roles(session) == ["user", "assistant"]


def test_a_checkpoint_that_is_its_own_parent_ends_the_thread(tmp_path: Path) -> None:
    path = checkpoints(tmp_path, [ASKED], [ASKED, CALLED])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE checkpoints SET parent_checkpoint_id = 'id1'")
    assert roles(only(path)) == ["user", "assistant"]


def test_a_table_of_checkpoints_that_lacks_a_column_is_refused(tmp_path: Path) -> None:
    path = checkpoints(tmp_path, [ASKED])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE checkpoints DROP COLUMN type")
    with pytest.raises(FormatError, match="the database cannot be read"):
        load(path)


def test_a_response_of_llm_without_an_id_is_read(tmp_path: Path) -> None:
    response = (None, "big", QUESTION, "", None, "{}", ANSWER, None, "a", 5, NOON)
    path = database(
        tmp_path,
        LLM_027_TABLES.replace("\nALTER", "\n-- ALTER"),
        conversations=[("a", "A lamp", "big")],
        responses=[response],
    )
    assert roles(only(path)) == ["user", "assistant"]


def test_a_call_whose_arguments_are_no_json_is_a_call(tmp_path: Path) -> None:
    broken = {"id": "c2", "name": "write", "args": '{"path": "lamp', "error": "it breaks off"}
    called = langgraph("AIMessage", "m2", "", tool_calls=[], invalid_tool_calls=[broken])
    (call,) = answers(only(checkpoints(tmp_path, [ASKED, called])))[0].calls
    assert (call.id, call.name) == ("c2", "write")
    assert call.arguments == {"input": '{"path": "lamp'}


def test_a_checkpoint_of_langgraph_may_be_json(tmp_path: Path) -> None:
    path = checkpoints(tmp_path, [ASKED])
    message = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {"content": ANSWER, "id": "m4"},
    }
    state = json.dumps({"channel_values": {"messages": [message]}}).encode()
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("UPDATE checkpoints SET type = 'json', checkpoint = ?", (state,))
    assert [plain_text(said) for said in only(path).messages] == [ANSWER]


def test_messages_that_langgraph_replaced_by_a_summary_are_a_compaction(tmp_path: Path) -> None:
    path = checkpoints(
        tmp_path,
        [ASKED, CALLED, RETURNED, ANSWERED],
        [ASKED, CALLED, RETURNED, ANSWERED, ASKED_AGAIN],
        [SUMMARISED, ANSWERED, ASKED_AGAIN],
    )
    session = only(path)
    (compaction,) = [entry for entry in session.log if isinstance(entry, CompactionEntry)]
    assert compaction.kept == ("m4", "m6")
    assert [plain_text(message) for message in fold(session.path)] == [
        SUMMARY,
        ANSWER,
        plain_text(session.messages[-1]),
    ]


def test_a_branch_of_langgraph_that_was_left_is_not_read(tmp_path: Path) -> None:
    path = checkpoints(tmp_path, [ASKED], [ASKED, ANSWERED])
    with closing(sqlite3.connect(path)) as opened, opened:
        left = packed({"channel_values": {"messages": [ASKED, CALLED]}})
        row = ("thread", "", "id00", "id0", "msgpack", left, b"{}")
        opened.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    assert roles(only(path)) == ["user", "assistant"]


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 0, 127, -1, -32, 200, -200, 70_000, -70_000, 2**40, -(2**40), 1.5, "", "a" * 31, "a" * 300,
        "ä" * 70_000, [], [1, "b"], list(range(20)), list(range(70_000)), {}, {"a": [None]},
        {str(number): number for number in range(20)},
    ],
)  # fmt: skip
def test_values_of_messagepack_are_read_as_they_were_written(tmp_path: Path, value: Any) -> None:
    called = {"id": "c1", "name": "read", "args": {"value": value}}
    state = [ASKED, langgraph("AIMessage", "m2", "", tool_calls=[called])]
    (call,) = answers(only(checkpoints(tmp_path, state)))[0].calls
    assert call.arguments == {"value": value}


@pytest.mark.parametrize("data", [b"", b"\xd9", b"\xdd\xff\xff\xff\xff", b"\xc1", b"\x91" * 1000])
def test_damaged_messagepack_is_told(tmp_path: Path, data: bytes) -> None:
    path = checkpoints(tmp_path, [ASKED])
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("UPDATE checkpoints SET checkpoint = ?", (data,))
    with pytest.raises(FormatError):
        load(path)


def test_a_database_of_no_format_is_told_its_tables(tmp_path: Path) -> None:
    path = database(
        tmp_path, "CREATE TABLE shelves (id INTEGER); CREATE TABLE 'books' (id INTEGER)"
    )
    with pytest.raises(FormatError, match=r"SQLite database with the tables `shelves`, `books`:"):
        load(path)


def test_what_cline_shows_of_a_task_is_told_from_what_the_model_was_sent(tmp_path: Path) -> None:
    shown = [{"ts": 1767261600000, "type": "say", "say": "text", "text": QUESTION}]
    with pytest.raises(FormatError, match=r"`api_conversation_history\.json` beside it"):
        load(document(tmp_path, shown, "ui_messages.json"))
