"""Sessions of Muse Code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from recordings.importers.files import only, written
from recordings.importers.framework_samples import ANSWER, MUSE, MUSE_USAGE, THOUGHT, muse

from workbench import AssistantMessage, UserMessage, load
from workbench.engine.transcript.message import Thinking, ToolCall, Usage, plain_text


def test_what_one_response_thinks_and_calls_is_one_answer_with_its_usage(tmp_path: Path) -> None:
    session = only(written(tmp_path, MUSE))
    assert (session.id, session.cwd, session.model) == ("u1", "/home/me/hall", "muse-spark")
    asked, _, answer = session.messages[1:]
    assert isinstance(asked, AssistantMessage) and isinstance(answer, AssistantMessage)
    call = ToolCall("c1", "read_file", {"path": "lamp.py"})
    assert asked.blocks == (Thinking(THOUGHT, "seal"), call)
    assert asked.usage == Usage(input=40, cache_read=60, output=9, reasoning=4)
    assert (plain_text(answer), answer.usage) == (ANSWER, asked.usage)


def test_a_run_inside_another_is_a_session_of_its_own(tmp_path: Path) -> None:
    inner = [
        muse(20, "r2", "started", prompt="Look at the switch in the hall."),
        muse(21, "r2", "assistant_message_committed", text="The switch is whole."),
        muse(22, "r2", "model_completed", usage=MUSE_USAGE),
        muse(23, "r2", "terminal", terminal="completed"),
    ]
    main, agent = load(written(tmp_path, [*MUSE[:5], *inner, *MUSE[5:]]))
    alone = only(written(tmp_path, MUSE))
    for message, expected in zip(main.messages, alone.messages, strict=True):
        assert replace(message, id="") == replace(expected, id="")
    assert [plain_text(message) for message in agent.messages] == [
        "Look at the switch in the hall.",
        "The switch is whole.",
    ]


def test_what_is_typed_during_a_run_is_the_user_s_and_what_is_delivered_the_client_s(
    tmp_path: Path,
) -> None:
    typed = {"source": {"source": "user_steer"}, "payload": {"prompt": "Use the other lamp."}}
    delivered = {"source": {"source": "schedule"}, "body": "The timer rang."}
    steered = muse(9, "r1", "inbox_item_queued", **typed)
    told = muse(10, "r1", "inbox_item_queued", **delivered)
    session = only(written(tmp_path, [*MUSE[:6], steered, told, *MUSE[6:]]))
    users = [message for message in session.messages if isinstance(message, UserMessage)]
    assert [(plain_text(user), user.synthetic) for user in users[1:]] == [
        ("Use the other lamp.", False),
        ("The timer rang.", True),
    ]


def test_an_event_that_a_later_version_writes_is_named(tmp_path: Path) -> None:
    later = muse(9, "r1", "context_folded", words="what a later version may write here")
    session = only(written(tmp_path, [*MUSE, later]))
    assert session.origin.skipped[0] == ("1 × event of kind 'context_folded': unknown, left out")
