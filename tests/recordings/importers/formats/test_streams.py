"""What agents print as they run: what a hook adds, and what stands outside of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.agent_samples import AGENT_LINES, ANSWER, CLAUDE_STREAM, QUESTION
from recordings.importers.files import only, written

from workbench import Session, UserMessage, load
from workbench.engine.transcript.message import plain_text

GEMINI_STREAM = AGENT_LINES["gemini_stream"]
RULES = "mind the wires of the lamp"


def told(session: Session) -> list[str]:
    """What the messages of a session say."""
    return [plain_text(message) for message in session.messages]


def hook(event: str, printed: str, session: str = "s1", exit_code: int = 0) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "hook_response",
        "hook_event": event,
        "output": printed,
        "exit_code": exit_code,
        "session_id": session,
        "uuid": f"hook-{event}-{session}",
    }


def added(event: str) -> str:
    """What a hook prints that adds the rules to the context."""
    output = {"hookEventName": event, "additionalContext": RULES}
    return json.dumps({"hookSpecificOutput": output})


@pytest.mark.parametrize(
    "record",
    [
        hook("SessionStart", added("SessionStart")),
        hook("SessionStart", RULES),
        hook("PostToolUse", added("PostToolUse")),
    ],
)
def test_what_a_hook_of_claude_gives_the_model_is_the_client_s_word(
    tmp_path: Path, record: dict[str, Any]
) -> None:
    session, _ = load(written(tmp_path, [record, *CLAUDE_STREAM]))
    first = session.messages[0]
    assert isinstance(first, UserMessage) and first.synthetic
    assert told(session)[:2] == [RULES, QUESTION]


@pytest.mark.parametrize(
    "record",
    [
        hook("Stop", RULES),
        hook("SessionStart", RULES, exit_code=1),
        hook("SessionStart", '{"continue": true}'),
        hook("SessionStart", ""),
    ],
)
def test_what_a_hook_tells_the_client_alone_is_not_said(
    tmp_path: Path, record: dict[str, Any]
) -> None:
    session, _ = load(written(tmp_path, [record, *CLAUDE_STREAM]))
    assert told(session)[0] == QUESTION


def test_a_hook_before_an_appended_run_belongs_to_it(tmp_path: Path) -> None:
    second_run = json.loads(json.dumps(CLAUDE_STREAM).replace('"s1"', '"s2"'))
    record = hook("SessionStart", added("SessionStart"), session="s2")
    path = written(tmp_path, [*CLAUDE_STREAM, record, *second_run])
    firsts = {session.id: told(session)[0] for session in load(path)}
    assert (firsts["s1"], firsts["s2"]) == (QUESTION, RULES)


PROMPT = {"type": "message", "role": "user", "content": "a program's own heading"}


def test_a_prompt_outside_of_a_run_of_gemini_was_not_sent(tmp_path: Path) -> None:
    second_run = json.loads(json.dumps(GEMINI_STREAM).replace('"g1"', '"g2"'))
    path = written(tmp_path, [PROMPT, *GEMINI_STREAM, PROMPT, *second_run])
    first, second = load(path)
    assert told(first) == told(second)
    assert told(first)[0] == QUESTION and told(first)[-1] == ANSWER
    assert "2 × message outside of a run: unknown, left out" in first.origin.skipped


def test_a_piece_of_a_run_of_gemini_without_its_start_has_its_prompt(tmp_path: Path) -> None:
    session = only(written(tmp_path, GEMINI_STREAM[1:-1]))
    assert told(session)[0] == QUESTION and told(session)[-1] == ANSWER
