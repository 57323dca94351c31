"""Messages that waited in Claude Code's queue: those that a model saw are read, the others named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import only, written
from recordings.importers.formats.test_claude_code import (
    COMMON,
    answered,
    asked,
    back,
    boundary,
    said,
    text,
    use,
)

from workbench import UserMessage

WORDS = "and what do these two fields do?"
REPORT = "<task-notification>the agent wrote its poem of the red curry</task-notification>"


def queue(operation: str, **more: Any) -> dict[str, Any]:
    return {"type": "queue-operation", "operation": operation, "sessionId": "s1", **more}


CALL = [
    asked("u1", None, "look at the store"),
    answered("a1", "u1", "m1", use("t1")),
]
RESULT = asked("r1", "a1", [back("t1")])
NEXT = answered("a2", "r1", "m2", text("They mark the start."))


@pytest.mark.parametrize("is_before_result", [True, False])
def test_what_left_the_queue_while_the_model_worked_stands_before_its_next_answer(
    tmp_path: Path, is_before_result: bool
) -> None:
    left = queue("remove")
    middle = [left, RESULT] if is_before_result else [RESULT, left]
    records = [*CALL, queue("enqueue", content=WORDS), *middle, NEXT]
    session = only(written(tmp_path, records))
    assert said(session) == [
        "look at the store",
        "",
        "fine",
        WORDS,
        "They mark the start.",
    ]
    message = session.messages[3]
    assert isinstance(message, UserMessage) and not message.synthetic


def test_a_report_of_a_sub_agent_is_the_clients(tmp_path: Path) -> None:
    records = [*CALL, queue("enqueue", content=REPORT), queue("remove"), RESULT, NEXT]
    message = only(written(tmp_path, records)).messages[3]
    assert isinstance(message, UserMessage) and message.synthetic


def test_a_compaction_that_comes_first_has_it_in_its_history(tmp_path: Path) -> None:
    session = only(
        written(
            tmp_path,
            [
                *CALL,
                queue("enqueue", content=WORDS),
                RESULT,
                queue("remove"),
                boundary("c1", "r1"),
                asked("s1", "c1", "The summary.", isCompactSummary=True),
                answered("a2", "s1", "m2", text("On we go.")),
            ],
        )
    )
    kinds = [entry.type for entry in session.log]
    assert kinds == ["message", "message", "message", "message", "compaction", "message"]
    assert said(session)[3] == WORDS


@pytest.mark.parametrize(
    "operations",
    [
        pytest.param([], id="never left"),
        pytest.param([queue("popAll", content=WORDS)], id="taken back to be edited"),
        pytest.param([queue("dequeue"), asked("q1", "r1", WORDS)], id="written as a user's"),
    ],
)
def test_what_no_request_took_is_no_message_of_its_own(
    tmp_path: Path, operations: list[dict[str, Any]]
) -> None:
    records = [*CALL, queue("enqueue", content=WORDS), RESULT, *operations]
    parent = "q1" if len(operations) == 2 else "r1"
    session = only(written(tmp_path, [*records, answered("a2", parent, "m2", text("Done."))]))
    assert said(session).count(WORDS) == (len(operations) == 2)


def test_what_stayed_in_the_queue_is_told(tmp_path: Path) -> None:
    records = [*CALL, queue("enqueue", content=WORDS), RESULT, NEXT]
    origin = only(written(tmp_path, records)).origin
    assert origin.skipped == ("1 × message that stayed in the client's queue, left out",)
    fields = [(unread.field, unread.client_only) for unread in origin.unread]
    assert fields == [("content", True)]


def test_a_client_that_writes_attachments_writes_these_too(tmp_path: Path) -> None:
    command = {"type": "queued_command", "prompt": WORDS, "commandMode": "prompt"}
    record = {
        "type": "attachment",
        "uuid": "x1",
        "parentUuid": "r1",
        **COMMON,
        "attachment": command,
    }
    records = [*CALL, queue("enqueue", content=WORDS), queue("remove"), RESULT, record]
    answer = answered("a2", "x1", "m2", text("Done."))
    assert said(only(written(tmp_path, [*records, answer]))).count(WORDS) == 1


def test_a_command_is_run_by_the_client(tmp_path: Path) -> None:
    records = [*CALL, queue("enqueue", content="/clear"), queue("remove"), RESULT, NEXT]
    assert "/clear" not in said(only(written(tmp_path, records)))
