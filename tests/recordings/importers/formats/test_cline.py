"""Cline's compacted state, in a file beside the messages: made-up files in the shape of version
3.0.65.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recordings.importers.files import document, only

from workbench import CompactionEntry, Session
from workbench.engine.transcript.log import fold
from workbench.engine.transcript.message import plain_text


def say(id: str, role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"id": id, "role": role, "content": list(content), "ts": 1767261600000}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


CALL = {"type": "tool_use", "id": "c1", "name": "read_files", "input": {"files": ["lamp.py"]}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "volts = 11"}
MESSAGES = [
    say("m1", "user", words("why does it flicker?")),
    say("m2", "assistant", words("I look.")),
    say("m3", "assistant", CALL),
    say("m4", "user", RESULT),
    say("m5", "assistant", words("It gets 11 volts.")),
]
SUMMARY = {
    "kind": "compaction_summary",
    "summary": "The lamp flickers.",
    "details": {"readFiles": ["lamp.py"], "modifiedFiles": []},
    "tokensBefore": 7726,
    "generatedAt": 1767261600000,
}
STATE: dict[str, Any] = {
    "version": 1,
    "conversation_id": "s1",
    "source_message_count": 4,
    "messages": [
        {"role": "user", "content": [words("Context summary")], "metadata": SUMMARY},
        *MESSAGES[2:4],
    ],
}


def recorded(folder: Path, state: Any = None) -> Session:
    """The session of a recording, with a compacted state beside it."""
    recording = {"version": 1, "agent": "lead", "sessionId": "s1", "messages": MESSAGES}
    path = document(folder, recording, "s1.messages.json")
    if state is not None:
        document(folder, state, "s1.compaction.json")
    return only(path)


def compactions(session: Session) -> list[CompactionEntry]:
    return [entry for entry in session.log if isinstance(entry, CompactionEntry)]


def test_the_compaction_stands_behind_the_messages_that_its_state_has_seen(tmp_path: Path) -> None:
    session = recorded(tmp_path, STATE)
    (compaction,) = compactions(session)
    assert compaction.tokens_before == 7726
    sent = [plain_text(message) for message in fold(session.path)]
    assert sent == ["The lamp flickers.", "", "volts = 11", "It gets 11 volts."]
    assert [message.role for message in session.messages][-1] == "assistant"
    assert session.origin.skipped == ()


def test_without_a_state_there_is_no_compaction(tmp_path: Path) -> None:
    assert compactions(recorded(tmp_path)) == []


def test_a_state_that_is_no_object_costs_the_compaction_alone(tmp_path: Path) -> None:
    session = recorded(tmp_path, ["no state"])
    assert compactions(session) == [] and len(session.messages) == 5
    assert any("not used" in note for note in session.origin.skipped)


def test_a_message_that_only_the_state_has_is_told(tmp_path: Path) -> None:
    rewritten = say("m9", "assistant", words("what was written anew"))
    state = {**STATE, "messages": [*STATE["messages"], rewritten]}
    session = recorded(tmp_path, state)
    assert "message that only the compacted state has" in session.origin.skipped[0]


def test_a_state_without_a_summary_hides_what_it_does_not_list(tmp_path: Path) -> None:
    session = recorded(tmp_path, {**STATE, "messages": MESSAGES[2:4]})
    assert [entry.summary for entry in compactions(session)] == [None]
    assert [plain_text(message) for message in fold(session.path)][-1] == "It gets 11 volts."


def test_a_state_alone_begins_with_its_compaction(tmp_path: Path) -> None:
    session = only(document(tmp_path, STATE, "s1.compaction.json"))
    assert (session.id, session.origin.format) == ("s1-compaction", "cline")
    assert len(compactions(session)) == 1 and len(session.messages) == 2
