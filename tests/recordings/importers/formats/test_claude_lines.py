"""Claude Code's records without its tree are read line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
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


def without_id(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in ("uuid", "parentUuid")}


def test_messages_that_another_program_wrote_without_ids_are_one_conversation(
    tmp_path: Path,
) -> None:
    records = [
        asked("u1", None, "paint it"),
        answered("a1", None, "m1", use("t1")),
        asked("r1", None, [back("t1")]),
        answered("a2", None, "m2", text("Done.")),
    ]
    session = only(written(tmp_path, [without_id(record) for record in records]))
    assert session.origin.format == "claude_code"
    assert said(session) == ["paint it", "", "fine", "Done."]
    assert session.origin.skipped == (SENTENCE,)


@pytest.mark.parametrize("place", [0, 2])
def test_a_message_without_an_id_between_others_that_have_one_is_named(
    tmp_path: Path, place: int
) -> None:
    records = [asked("u1", None, "paint it"), answered("a1", "u1", "m1", text("Done."))]
    records.insert(place, without_id(asked("u2", None, "and the fence")))
    session = only(written(tmp_path, records))
    assert said(session) == ["paint it", "Done."]
    assert session.origin.skipped[0] == (
        "1 × message without `uuid`, between others that have one: unknown, left out"
    )


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
