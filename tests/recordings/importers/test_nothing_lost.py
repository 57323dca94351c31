"""What a damaged or odd record carries: it is read without the value, or a note says what it
cost.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import PI, document, only, say, written

from workbench import AssistantMessage, FormatError, Session, load
from workbench.engine.transcript.message import ToolResult, plain_text


def words(session: Session) -> list[str]:
    return [plain_text(message) for message in session.messages]


def claude(
    uuid: str, parent: str | None, role: str, content: Any, **message: Any
) -> dict[str, Any]:
    said = {"role": role, "content": content, **message}
    return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": said}


TALK = [
    claude("a", None, "user", "keep port 8443"),
    claude("b", "a", "assistant", "understood"),
    claude("c", "b", "user", "never touch live.toml"),
    claude("d", "c", "assistant", "ok"),
]


@pytest.mark.parametrize("lenient", [False, True])
def test_two_records_with_one_uuid_and_other_words_are_both_kept(
    tmp_path: Path, lenient: bool
) -> None:
    more = [claude("c", "d", "user", "the rate is 0.75"), claude("e", "c", "assistant", "fine")]
    session = only(written(tmp_path, [*TALK, *more]), lenient=lenient)
    assert words(session) == [
        "keep port 8443",
        "understood",
        "never touch live.toml",
        "ok",
        "the rate is 0.75",
        "fine",
    ]
    assert session.origin.skipped == (
        "line 5: the uuid 'c' is that of line 3, which says something else; both are kept",
    )


def test_a_copy_with_the_same_uuid_is_read_once_and_no_word_is_said(tmp_path: Path) -> None:
    session = only(written(tmp_path, [*TALK, TALK[2]]))
    assert len(session.messages) == 4 and session.origin.skipped == ()


@pytest.mark.parametrize("line_count", [1, 2])
def test_records_without_a_line_end_between_them_are_read_one_by_one(
    tmp_path: Path, line_count: int
) -> None:
    last_words = say('a text with }{" in it, and more of it')
    records = [PI, say("one and two of the many lamps"), last_words]
    texts = [json.dumps(record) for record in records]
    lines = ["".join(texts)]
    if line_count == 2:
        lines = [texts[0], "".join(texts[1:])]
    session = only(written(tmp_path, lines))
    assert words(session) == words(only(written(tmp_path, records, "apart.jsonl")))
    assert (session.origin.text_read, session.origin.skipped) == (1.0, ())


def test_damage_behind_a_record_of_the_same_line_is_told(tmp_path: Path) -> None:
    damaged = json.dumps(say("one")) + '{"type": "message"'
    with pytest.raises(FormatError, match="line 2: not JSON"):
        load(written(tmp_path, [PI, damaged]))


CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "hi", "score": 1},
]
ODD_NUMBERS = {
    "NaN": "NaN is not a number that a float can hold",
    "Infinity": "Infinity is not a number that a float can hold",
    "1e999": "1e999 is not a number that a float can hold",
    "9" * 5_000: "a number has too many digits",
}


@pytest.mark.parametrize(
    ("raw", "why"), ODD_NUMBERS.items(), ids=["NaN", "Infinity", "1e999", "digits"]
)
def test_a_number_that_no_float_holds_costs_itself_alone(
    tmp_path: Path, raw: str, why: str
) -> None:
    path = document(tmp_path, CHAT)
    path.write_text(path.read_text().replace('"score": 1', f'"score": {raw}'))
    with pytest.raises(FormatError, match=rf"one.json, field '\[1\].score': {why}"):
        load(path)
    session = only(path, lenient=True)
    assert words(session) == ["hello", "hi"]
    assert session.origin.skipped == (f"field '[1].score': {why}, not used",)


@pytest.mark.parametrize("levels", [201, 9_000])
def test_what_is_nested_too_deeply_costs_itself_alone(tmp_path: Path, levels: int) -> None:
    path = document(tmp_path, CHAT)
    path.write_text(
        path.read_text().replace('"score": 1', '"score": ' + "[" * levels + "]" * levels)
    )
    with pytest.raises(FormatError, match="nested deeper than 200 levels"):
        load(path)
    session = only(path, lenient=True)
    assert words(session) == ["hello", "hi"]
    assert session.origin.skipped == ("line 1: nested deeper than 200 levels, not used",)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("value", [10**400, -1, True, [], {}, "soon", "²"])
def test_a_time_that_is_none_costs_no_message(tmp_path: Path, value: Any, lenient: bool) -> None:
    damaged = say("one")
    damaged["message"]["timestamp"] = value
    session = only(written(tmp_path, [PI, damaged, say("two")]), lenient=lenient)
    assert words(session) == ["one", "two"]
    (note,) = session.origin.skipped
    assert note.startswith("line 2, field 'timestamp': expected ") and note.endswith(", not used")


USAGES = {
    "claude_code": lambda value: [
        *TALK[:3], claude("d", "c", "assistant", "ok", usage={"input_tokens": 5, "output_tokens": value}),
    ],
    "openai_chat": lambda value: [
        CHAT[0], {**CHAT[1], "usage": {"prompt_tokens": 5, "completion_tokens": value}},
    ],
}  # fmt: skip


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("value", [-1, 1e300, "many", [], True, 10**400])
@pytest.mark.parametrize("format", USAGES)
def test_a_false_figure_of_usage_costs_the_report_and_not_the_answer(
    tmp_path: Path, format: str, value: Any, lenient: bool
) -> None:
    records: Callable[[Any], list[Any]] = USAGES[format]
    session = only(written(tmp_path, records(value)), lenient=lenient)
    answer = session.messages[-1]
    assert isinstance(answer, AssistantMessage) and answer.blocks and answer.usage is None
    (note,) = session.origin.skipped
    assert "usage." in note and note.endswith(", not used")


def test_what_is_odd_in_many_records_is_told_once_and_counted(tmp_path: Path) -> None:
    lines = [{**say("x"), "timestamp": "never"} for _ in range(1_000)]
    session = only(written(tmp_path, [PI, *lines]))
    assert len(session.messages) == 1_000
    assert session.origin.skipped == (
        (
            "line 2, field 'timestamp': expected an ISO time, found 'never', not used (and 999"
            " times more)"
        ),
    )


CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}}
OTHER_CALL = {**CALL, "id": "t2", "input": {"path": "b"}}


def answered(*call_ids: str) -> dict[str, Any]:
    return claude(
        "r",
        "q",
        "user",
        [{"type": "tool_result", "tool_use_id": name, "content": "x = 1"} for name in call_ids],
    )


@pytest.mark.parametrize(
    ("calls", "call_ids", "note"),
    [
        ([CALL, OTHER_CALL], ["t1", "t2"], ""),
        ([CALL, OTHER_CALL], ["t1", "t9"], "a tool result answers no call before it: 't9'"),
        ([CALL, OTHER_CALL], ["t1", "t1"], "a call has two results: 't1'"),
        ([CALL, CALL], ["t1"], "an id stands for two calls: 't1'"),
    ],
)
def test_an_odd_pairing_of_calls_and_results_is_told(
    tmp_path: Path, calls: list[Any], call_ids: list[str], note: str
) -> None:
    session = only(
        written(tmp_path, [*TALK, claude("q", "d", "assistant", calls), answered(*call_ids)])
    )
    assert list(session.origin.skipped) == [note] * bool(note)


def test_a_result_without_a_call_id_is_told_where_several_calls_are_open(tmp_path: Path) -> None:
    function = {"name": "ls", "arguments": "{}"}
    for count in (1, 2):
        calls = [{"id": f"c{number}", "function": function} for number in range(count)]
        talk = [
            CHAT[0],
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "content": "a.py"},
        ]
        session = only(document(tmp_path, talk))
        result = session.messages[-1]
        assert isinstance(result, ToolResult) and result.call_id == "c0"
        assert sum("names no call" in note for note in session.origin.skipped) == count - 1


def test_a_file_of_which_no_session_can_be_read_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, [{"workbench": "session", "version": 7, "id": "s"}])
    with pytest.raises(
        FormatError, match=r"no session of it can be read \(line 1, field 'version'"
    ):
        load(path, lenient=True)


def test_a_saved_session_with_an_odd_field_is_read_without_it(tmp_path: Path) -> None:
    entry = {
        "type": "message",
        "id": "u",
        "parent": None,
        "message": {"role": "user", "id": "u", "blocks": []},
    }
    header = {"workbench": "session", "version": 1, "id": "s", "project": True}
    with pytest.raises(FormatError, match="project"):
        load(written(tmp_path, [header, entry]))
    session = only(written(tmp_path, [header, entry]), lenient=True)
    assert len(session.messages) == 1 and "field 'project'" in session.origin.skipped[0]


def test_a_saved_answer_is_read_without_its_false_usage(tmp_path: Path) -> None:
    message = {
        "role": "assistant",
        "id": "a",
        "blocks": [{"type": "text", "text": "hi"}],
        "usage": {"input": "many"},
    }
    entry = {"type": "message", "id": "a", "parent": None, "message": message}
    session = only(written(tmp_path, [{"workbench": "session", "version": 1, "id": "s"}, entry]))
    assert words(session) == ["hi"] and "field 'message.usage.input'" in session.origin.skipped[0]


def test_what_only_a_model_has_is_told_where_a_user_has_it(tmp_path: Path) -> None:
    path = document(
        tmp_path, [{"role": "user", "content": [{"type": "text", "text": "go"}, CALL]}, CHAT[1]]
    )
    assert only(path).origin.skipped == ("1 × tool_call of a user: unknown, left out",)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("record", [{"role": "_notice", "content": "beep"}, {"type": "turn_ended"}])
def test_a_record_of_no_known_role_is_counted_and_the_others_are_read(
    tmp_path: Path, record: dict[str, Any], lenient: bool
) -> None:
    session = only(written(tmp_path, [CHAT[0], record, record, CHAT[1]]), lenient=lenient)
    assert words(session) == ["hello", "hi"]
    (note,) = [note for note in session.origin.skipped if "unknown" in note]
    assert note.startswith("2 × ") and note.endswith(": unknown, left out")


def test_a_file_of_unknown_records_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="nothing in it was said to or by a model"):
        load(document(tmp_path, {"messages": [{"role": "robot", "content": "beep"}]}))


def test_json_is_written_as_it_was(tmp_path: Path) -> None:
    """The odd numbers of these tests are really in the files."""
    assert json.loads(json.dumps(10**400)) == 10**400
