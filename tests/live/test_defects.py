from __future__ import annotations

import json

import pytest
from live.talk import Record, answered, asked, back, openai, used

from workbench import Compactor, find_model
from workbench.live.events import HistoryMended

QUESTION = asked("do it")
DONE = (answered("Done."), QUESTION)
CUT_OFF = used("c1")
CUT_OFF["tool_calls"][0]["function"]["arguments"] = '{"path": "a.p'
BROKEN: dict[str, list[Record]] = {
    "orphan result": [QUESTION, back("c1", "lost"), QUESTION],
    "missing result": [QUESTION, used("c1"), QUESTION],
    "empty text": [QUESTION, answered(" "), QUESTION],
    "prefill": [QUESTION, answered("Sure:")],
    "broken arguments": [QUESTION, CUT_OFF, back("c1", "no such file"), *DONE],
    "empty result": [QUESTION, used("c1"), back("c1", ""), *DONE],
    "typed content": [{"role": "user", "content": [{"type": "text", "text": "do it"}]}],
}
SAYS_NOTHING = {"status": 400, "error": {"message": "Provider returned error"}}


def compactor() -> Compactor:
    return Compactor("truncate", model=find_model("extractive"), window=100_000)


@pytest.mark.parametrize("defect", BROKEN)
def test_each_defect_of_a_history_is_seen(defect: str) -> None:
    live = compactor()
    live.before_request(BROKEN[defect])
    retry = live.on_error(SAYS_NOTHING)
    assert retry is not None and retry.messages != BROKEN[defect]
    mended = [event.defects for event in live.events if isinstance(event, HistoryMended)]
    assert mended == [(defect,)]


def test_a_whole_history_has_none() -> None:
    live = compactor()
    live.before_request([*openai(3), QUESTION])
    assert live.on_error(SAYS_NOTHING) is None
    assert not any(isinstance(event, HistoryMended) for event in live.events)


def test_a_broken_history_is_repaired_though_the_error_says_nothing() -> None:
    live = compactor()
    live.before_request(BROKEN["orphan result"])
    retry = live.on_error(SAYS_NOTHING)
    assert retry is not None and retry.messages == [QUESTION, QUESTION]


def gemini(role: str, part: Record) -> Record:
    return {"role": role, "parts": [part]}


CALL: Record = {"functionCall": {"name": "read_file", "args": {}}}
RESULT: Record = {"functionResponse": {"name": "read_file", "response": {"output": "found"}}}
UNSIGNED = [
    gemini("user", {"text": "do it"}),
    gemini("model", {**CALL, "thoughtSignature": "c2VhbA=="}),
    gemini("user", RESULT),
    gemini("model", CALL),
    gemini("user", RESULT),
]


def test_a_call_of_gemini_that_alone_has_no_signature_gets_one_where_the_error_says_nothing() -> (
    None
):
    live = compactor()
    live.before_request(UNSIGNED)
    error = {"error": {"code": 400, "message": "Request contains an invalid argument."}}
    retry = live.on_error({"status": 400, **error})
    assert retry is not None
    [call] = retry.messages[3]["parts"]
    assert call["thoughtSignature"] == "skip_thought_signature_validator"
    assert live.on_error({"status": 400, **error}) is None
    assert live.before_request(UNSIGNED) == UNSIGNED


def signed(call: Record) -> Record:
    [function_call] = call["tool_calls"]
    seal = {"extra_content": {"google": {"thought_signature": "c2VhbA=="}}}
    return {**call, "tool_calls": [{**function_call, **seal}]}


INVALID = {"status": 400, "error": {"message": "Request contains an invalid argument."}}


def test_a_call_of_gemini_in_openai_s_form_gets_its_signature_too() -> None:
    live = compactor()
    first = [asked("do it"), signed(used("c1")), back("c1", "found")]
    live.before_request([*first, used("c2"), back("c2", "found")])
    retry = live.on_error(INVALID)
    assert retry is not None and retry.messages[:3] == first
    [call] = retry.messages[3]["tool_calls"]
    google = call["extra_content"]["google"]
    assert google == {"thought_signature": "skip_thought_signature_validator"}


NO_CALL_IS_SIGNED = [
    [
        gemini("user", {"text": "do it"}),
        gemini("model", CALL),
        gemini("user", RESULT),
        gemini("model", {"text": "Done.", "thoughtSignature": "c2VhbA=="}),
        gemini("user", {"text": "go on"}),
    ],
    [asked("do it"), used("c1"), back("c1", "found")],
]


@pytest.mark.parametrize("messages", NO_CALL_IS_SIGNED)
def test_calls_of_a_model_that_signs_none_are_left_as_they_are(messages: list[Record]) -> None:
    live = compactor()
    live.before_request(messages)
    assert live.on_error(INVALID) is None


UNKNOWN = {"status": 400, "error": {"message": "the flow could not go on, see req_17"}}
UNKNOWN_AGAIN = {"status": 400, "error": {"message": "the flow could not go on, see req_18"}}


@pytest.mark.parametrize("defect", ["orphan result", "missing result"])
def test_a_broken_pair_is_repaired_once_whatever_the_error_says_and_stays_repaired(
    defect: str,
) -> None:
    live = compactor()
    live.before_request(BROKEN[defect])
    retry = live.on_error(UNKNOWN)
    assert retry is not None and retry.messages == [QUESTION, QUESTION]
    assert live.on_error(UNKNOWN_AGAIN) is None
    assert live.before_request(BROKEN[defect]) == retry.messages
    assert live.on_error(UNKNOWN) is None


def test_arguments_that_are_no_json_explain_an_error_of_a_json_parser() -> None:
    live = compactor()
    live.before_request(BROKEN["broken arguments"])
    error = "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    retry = live.on_error({"status": 400, "error": {"message": error}})
    assert retry is not None
    [call] = retry.messages[1]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"unread_arguments": '{"path": "a.p'}


@pytest.mark.parametrize("defect", ["broken arguments", "empty result", "typed content"])
def test_a_mend_of_what_no_error_named_goes_where_the_same_error_comes_back(defect: str) -> None:
    live = compactor()
    live.before_request(BROKEN[defect])
    assert live.on_error(SAYS_NOTHING) is not None
    assert live.on_error(SAYS_NOTHING) is None
    assert live.before_request(BROKEN[defect]) == BROKEN[defect]


def test_a_mend_stays_where_the_next_error_is_another() -> None:
    live = compactor()
    live.before_request(BROKEN["typed content"])
    retry = live.on_error(SAYS_NOTHING)
    assert retry is not None
    assert live.on_error({"status": 401, "error": {"message": "invalid api key"}}) is None
    assert live.before_request(BROKEN["typed content"]) == retry.messages


def test_a_full_request_is_compacted_though_the_error_says_nothing() -> None:
    messages = [*openai(20), QUESTION]
    live = compactor()
    live.before_request(messages)
    assert live.on_error(SAYS_NOTHING) is None
    full = Compactor("none", window=int(live.tokens / 0.95))
    full.before_request(messages)
    retry = full.on_error(SAYS_NOTHING)
    assert retry is not None and len(retry.messages) < len(messages)
