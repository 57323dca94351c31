"""Claude Code's records without its tree are read line by line."""

from __future__ import annotations

from pathlib import Path

from recordings.importers.files import only, written
from recordings.importers.formats.test_claude_code import answered, asked, back, said, text, use

from workbench import AssistantMessage, load

SENTENCE = "the parents of its records make no tree, so they are read line by line"


def test_records_without_parents_are_one_conversation(tmp_path: Path) -> None:
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "paint it"),
                answered("a1", None, "m1", use("t1")),
                asked("r1", None, [back("t1")]),
                answered("a2", None, "m2", text("Done.")),
            ],
        )
    )
    assert said(session) == ["paint it", "", "fine", "Done."]
    assert session.origin.skipped == (SENTENCE,)


def test_words_without_parents_are_one_conversation(tmp_path: Path) -> None:
    records = [
        asked("u1", None, "paint it"),
        answered("a1", None, "m1", text("Which colour?")),
        asked("u2", None, "red"),
    ]
    assert said(only(written(tmp_path, records))) == ["paint it", "Which colour?", "red"]


def test_a_session_of_one_record_has_nothing_to_tell(tmp_path: Path) -> None:
    assert only(written(tmp_path, [asked("u1", None, "paint it")])).origin.skipped == ()


def test_calls_of_one_answer_that_are_written_one_by_one_and_again_are_one_answer(
    tmp_path: Path,
) -> None:
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "paint it"),
                answered("a1", "u1", "m1", text("I look."), use("t1")),
                answered("a2", "u1", "m2", use("t1"), use("t2")),
                answered("a3", "u1", "m3", use("t2")),
                asked("r1", "a3", [back("t1")]),
                asked("r2", "a3", [back("t2")]),
                answered("a4", "u1", "m4", text("Done.")),
            ],
        )
    )
    answers = [message for message in session.messages if isinstance(message, AssistantMessage)]
    calls = [[call.id for call in answer.calls] for answer in answers]
    assert calls == [["t1", "t2"], []]
    assert said(session) == ["paint it", "I look.", "fine", "fine", "Done."]


def test_a_rewind_is_a_branch_still(tmp_path: Path) -> None:
    session = only(
        written(
            tmp_path,
            [
                asked("u1", None, "paint it"),
                answered("a1", "u1", "m1", use("t1")),
                asked("r1", "a1", [back("t1")]),
                answered("a2", "u1", "m2", text("I do not.")),
            ],
        )
    )
    assert said(session) == ["paint it", "I do not."]


def test_a_file_of_a_sub_agent_is_its_session(tmp_path: Path) -> None:
    records = [
        asked("u1", None, "find the colour", isSidechain=True),
        answered("a1", "u1", "m1", text("It is red."), isSidechain=True),
    ]
    (session,) = load(written(tmp_path, records))
    assert said(session) == ["find the colour", "It is red."]
