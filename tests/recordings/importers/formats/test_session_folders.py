"""Agents that keep a session in a folder, with a file for each message or event: `strands` and
`openhands_events`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import only, written
from recordings.importers.framework_samples import (
    ANSWER,
    FILE,
    PROMPT,
    QUESTION,
    SUMMARY,
    THOUGHT,
)

from workbench import AssistantMessage, FormatError, Session, load
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import Usage, plain_text

TIMES = {"created_at": "2026-01-01T10:00:00+00:00", "updated_at": "2026-01-01T10:00:00+00:00"}
STRANDS_CALL = {"toolUse": {"toolUseId": "c1", "name": "read", "input": {"path": "lamp.py"}}}
STRANDS_RESULT = {
    "toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": FILE}]}
}
STRANDS = [
    {"role": "user", "content": [{"text": QUESTION}]},
    {"role": "assistant", "content": [STRANDS_CALL]},
    {"role": "user", "content": [STRANDS_RESULT]},
    {"role": "assistant", "content": [{"text": ANSWER}]},
]
SPENT = Usage(input=40, cache_read=60, output=9)


def saved(path: Path, value: Any) -> None:
    """A JSON file, whatever folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def strands_folder(
    folder: Path,
    messages: list[dict[str, Any]],
    state: dict[str, Any] | None = None,
    agent: str = "default",
) -> Path:
    """The folder of a session as the file session manager of Strands writes it."""
    session_folder = folder / "session_s1"
    session = {"session_id": "s1", "session_type": "AGENT", **TIMES}
    saved(session_folder / "session.json", session)
    agent_folder = session_folder / "agents" / f"agent_{agent}"
    saved(
        agent_folder / "agent.json",
        {"agent_id": agent, "conversation_manager_state": state or {}, **TIMES},
    )
    for number, message in enumerate(messages):
        record = {"message": message, "message_id": number, "redact_message": None, **TIMES}
        saved(agent_folder / "messages" / f"message_{number}.json", record)
    return session_folder


def roles(session: Session) -> list[str]:
    """Who speaks, in order."""
    return [message.role for message in session.messages]


def usages(session: Session) -> list[Usage | None]:
    """What each answer used."""
    messages = session.messages
    return [message.usage for message in messages if isinstance(message, AssistantMessage)]


def test_a_folder_of_strands_is_one_session(tmp_path: Path) -> None:
    session = only(strands_folder(tmp_path, STRANDS))
    assert (session.id, session.origin.format) == ("s1", "strands")
    assert roles(session) == ["user", "assistant", "tool", "assistant"]
    assert plain_text(session.messages[2]) == FILE
    assert session.messages[0].time == 1767261600.0
    assert session.origin.text_read == 1.0


def test_more_than_ten_messages_of_strands_stand_in_their_order(tmp_path: Path) -> None:
    said = [{"role": "user", "content": [{"text": f"word {number}"}]} for number in range(12)]
    session = only(strands_folder(tmp_path, said))
    texts = [plain_text(message) for message in session.messages]
    assert texts == [f"word {number}" for number in range(12)]


@pytest.mark.parametrize(("input_tokens", "total"), [(100, 109), (40, 109)])
def test_strands_total_says_whether_input_includes_the_cache(
    tmp_path: Path, input_tokens: int, total: int
) -> None:
    figures = {
        "inputTokens": input_tokens,
        "outputTokens": 9,
        "cacheReadInputTokens": 60,
        "totalTokens": total,
    }
    answer = {**STRANDS[3], "metadata": {"usage": figures}}
    assert usages(only(strands_folder(tmp_path, [STRANDS[0], answer]))) == [SPENT]


def test_what_strands_sends_no_more_is_a_compaction(tmp_path: Path) -> None:
    state = {
        "removed_message_count": 3,
        "summary_message": {"role": "user", "content": [{"text": SUMMARY}]},
    }
    session = only(strands_folder(tmp_path, STRANDS, state))
    assert [plain_text(message) for message in fold(session.path)] == [SUMMARY, ANSWER]


def test_each_agent_of_strands_is_a_session(tmp_path: Path) -> None:
    strands_folder(tmp_path, STRANDS, agent="one")
    folder = strands_folder(tmp_path, STRANDS[:1], agent="two")
    assert [session.id for session in load(folder)] == ["s1-one", "s1-two"]


def test_a_session_of_strands_without_its_messages_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "session.json", {"session_id": "s1", "session_type": "AGENT", **TIMES})
    with pytest.raises(FormatError, match="not in the folder `agents` beside it"):
        load(tmp_path / "session.json")


def event(number: int, kind: str, source: str, **more: Any) -> dict[str, Any]:
    """An event of OpenHands."""
    time = f"2026-01-01T10:00:0{number}"
    return {"id": f"e{number}", "timestamp": time, "source": source, **more, "kind": kind}


def words(text: str) -> dict[str, Any]:
    """A part of text."""
    return {"type": "text", "text": text}


def action(number: int, call_id: str, **more: Any) -> dict[str, Any]:
    """One call of the answer `r1`."""
    call = {"id": call_id, "name": "read", "arguments": '{"path": "lamp.py"}'}
    about = {"tool_name": "read", "tool_call_id": call_id, "llm_response_id": "r1"}
    return event(number, "ActionEvent", "agent", tool_call=call, **about, **more)


def observation(number: int, call_id: str, **more: Any) -> dict[str, Any]:
    """What a call returned."""
    about = {"tool_name": "read", "tool_call_id": call_id}
    return event(number, "ObservationEvent", "environment", **about, **more)


EVENTS = [
    event(0, "SystemPromptEvent", "agent", system_prompt=words(PROMPT), tools=[]),
    event(1, "MessageEvent", "user", llm_message={"role": "user", "content": [words(QUESTION)]}),
    action(2, "c1", thought=[words("Two files tell of it.")], reasoning_content=THOUGHT),
    action(3, "c2", thought=[]),
    observation(4, "c1", observation={"content": [words(FILE)], "is_error": False}),
    observation(5, "c2", observation={"content": [words("no such file")], "is_error": True}),
    event(6, "Condensation", "environment", forgotten_event_ids=["e2", "e3", "e4", "e5"],
          summary=SUMMARY, llm_response_id="r2"),
    event(7, "MessageEvent", "agent", llm_message={"role": "assistant", "content": [words(ANSWER)]},
          llm_response_id="r3"),
    event(8, "ConversationStateUpdateEvent", "environment", key="execution_status", value="finished"),
]  # fmt: skip
STATE = {
    "id": "conversation-1",
    "agent": {"llm": {"model": "big"}},
    "workspace": {"working_dir": "/home/me/hall"},
    "execution_status": "finished",
    "stats": {
        "usage_to_metrics": {
            "default": {
                "token_usages": [
                    {"model": "big", "prompt_tokens": 100, "completion_tokens": 9,
                     "cache_read_tokens": 60, "response_id": "r1"},
                ]
            }
        }
    },
}  # fmt: skip


def openhands_folder(folder: Path) -> Path:
    """The folder of a conversation as OpenHands writes it."""
    saved(folder / "base_state.json", STATE)
    for number, record in enumerate(EVENTS):
        saved(folder / "events" / f"event-{number:05d}-0123456789ab.json", record)
    return folder


def test_a_folder_of_openhands_is_one_session(tmp_path: Path) -> None:
    session = only(openhands_folder(tmp_path))
    assert (session.id, session.model) == ("conversation-1", "big")
    assert session.origin.format == "openhands_events"
    assert session.project == "hall"
    assert roles(session) == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert usages(session) == [SPENT, None]
    assert session.origin.text_read == 1.0


def test_parallel_calls_of_openhands_are_one_answer(tmp_path: Path) -> None:
    session = only(openhands_folder(tmp_path))
    called = session.messages[2]
    assert isinstance(called, AssistantMessage)
    assert [block.type for block in called.blocks] == [
        "thinking",
        "text",
        "tool_call",
        "tool_call",
    ]
    assert session.messages[4].is_error  # type: ignore[union-attr]


def test_a_condensation_of_openhands_forgets_the_events_that_it_names(tmp_path: Path) -> None:
    session = only(openhands_folder(tmp_path))
    texts = [plain_text(message) for message in fold(session.path)]
    assert sorted(texts) == sorted([PROMPT, QUESTION, SUMMARY, ANSWER])


def test_events_of_openhands_are_read_as_lines_and_unknown_ones_are_counted(
    tmp_path: Path,
) -> None:
    strange = event(9, "RainEvent", "environment", said="it rains on all of the lamps")
    session = only(written(tmp_path, [*EVENTS, strange]), lenient=True)
    assert len(session.messages) == 6
    assert "1 × event of kind 'RainEvent': unknown, left out" in session.origin.skipped
