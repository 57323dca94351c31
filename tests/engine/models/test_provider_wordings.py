"""How many of 118 errors, as providers word them, are judged rightly; half of them were not
looked at before.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from engine.models.refused import Request, judged


@dataclass(frozen=True, slots=True)
class Wording:
    """An error and what an agent should do after it."""

    source: str
    status: int
    action: str
    text: str

    @property
    def judged(self) -> str:
        """The action that the classifier names."""
        return judged(self.text, self.status or None).diagnosis.action


FILE = Path(__file__).with_name("provider_wordings.toml")
WORDINGS = [Wording(*row) for row in tomllib.loads(FILE.read_text("utf-8"))["wordings"]]
DESIGN, CHECK = WORDINGS[::2], WORDINGS[1::2]


def test_there_are_two_halves_of_over_fifty() -> None:
    assert len(DESIGN) == len(CHECK) == 59


@pytest.mark.parametrize("wording", DESIGN, ids=lambda wording: wording.source)
def test_each_wording_that_the_rules_were_written_for_is_judged_rightly(wording: Wording) -> None:
    assert wording.judged == wording.action


def test_of_the_other_half_nineteen_in_twenty_are_judged_rightly() -> None:
    right = sum(wording.judged == wording.action for wording in CHECK)
    assert right >= 0.95 * len(CHECK)


def test_no_wording_of_another_error_is_taken_for_an_overflow() -> None:
    others = [wording for wording in WORDINGS if wording.action != "compact"]
    assert [wording.source for wording in others if wording.judged == "compact"] == []


@pytest.mark.parametrize(
    ("text", "used", "output"),
    [
        ("The window is a maximum of 64000 tokens, but 40000 input tokens and 30000 output tokens were asked for; this "
         "exceeds the context length.", 40_000, 24_000),
        ("30000 output tokens and 40000 input tokens exceed the context window: maximum 64000.", 40_000, 24_000),
    ],
)  # fmt: skip
def test_where_input_and_output_are_stated_apart_less_output_is_asked_for(
    text: str, used: int, output: int
) -> None:
    diagnosis = judged(text, 400).diagnosis
    assert (diagnosis.action, diagnosis.used, diagnosis.output) == ("lower_output", used, output)


def test_where_the_input_alone_fills_the_window_it_is_compacted() -> None:
    text = "2000 output tokens and 63900 input tokens exceed the context window: maximum 64000."
    assert judged(text, 400).diagnosis.action == "compact"


UNKNOWN = "Refused: 9211 tokens came in, the slot has 8192."


@pytest.mark.parametrize(
    ("prompt", "status", "action"),
    [
        (8_000, 400, "compact"),
        (0, 400, "leave_alone"),
        (900, 400, "leave_alone"),
        (8_000, 401, "leave_alone"),
    ],
)
def test_unknown_words_are_judged_by_the_status_and_our_own_count(
    prompt: int, status: int, action: str
) -> None:
    assert judged(UNKNOWN, status, Request(prompt)).diagnosis.action == action


def test_the_larger_number_is_the_prompt_and_the_smaller_the_limit() -> None:
    diagnosis = judged(UNKNOWN, 400, Request(8_000)).diagnosis
    assert (diagnosis.used, diagnosis.limit) == (9_211, 8_192)


@pytest.mark.parametrize(
    "field", ["messages[2].tool_calls[0].id", "input[3].call_id", "tools[0].function.description"]
)
def test_a_field_that_is_too_long_is_no_overflow(field: str) -> None:
    text = (
        f"Invalid '{field}': string too long. Expected a string with maximum length 1024, but got"
        " one of 9000."
    )
    assert judged(text, 400, Request(9_000)).diagnosis.action in ("repair", "leave_alone")


OTHERS = tomllib.loads(Path(__file__).with_name("other_wordings.toml").read_text("utf-8"))
NOTHING = ("leave_alone", "back_off")


@pytest.mark.parametrize(("status", "prompt", "action", "text"), OTHERS["wordings"])
def test_wordings_that_were_written_before_the_rules_were_read(
    status: int, prompt: int, action: str, text: str
) -> None:
    right = NOTHING if action == "none" else (action,)
    assert judged(text, status, Request(prompt)).diagnosis.action in right


def test_an_answer_that_may_not_be_so_long_is_no_window() -> None:
    text = "Requested completion of 50000 tokens; at most 8192 are produced by this model"
    diagnosis = judged(text, 400, Request(60_000)).diagnosis
    assert (diagnosis.action, diagnosis.limit) == ("lower_output", 8_192)


def test_where_prompt_and_answer_are_added_the_room_that_is_left_is_asked_for() -> None:
    text = "prompt_tokens 90000 + max_tokens 50000 exceeds 131072"
    assert judged(text, 400, Request(90_000)).diagnosis.output == 41_072


def test_where_what_a_prompt_may_have_is_told_too_the_window_is_the_larger_number() -> None:
    text = (
        "You passed 99073 input tokens and requested 32000 output tokens. However, the model's"
        " context length is only 131072 tokens, resulting in a maximum input length of 99072 tokens."
    )
    diagnosis = judged(text, 400).diagnosis
    assert (diagnosis.action, diagnosis.limit, diagnosis.output) == (
        "lower_output",
        131_072,
        31_999,
    )


def test_the_size_of_a_tensor_is_the_window() -> None:
    text = "RuntimeError: start (958) + length (1624) exceeds dimension size (2048)."
    assert judged(text, 500).diagnosis.limit == 2_048
