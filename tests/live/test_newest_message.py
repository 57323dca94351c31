"""What the user said last reaches the model whole where the window has room for it."""

from __future__ import annotations

import pytest
from live.talk import Record, asked, openai

import workbench as wb

WINDOW = 10_000
OUR_PRESETS = ["truncate", "pipeline", "summarize", "learned"]


def pasted(tokens: int) -> Record:
    line = "another line of the log\n"
    return asked(line * (4 * tokens // len(line)) + "Which port failed?")


def warnings(live: wb.Compactor) -> list[str]:
    return [event.warning for event in live.events if isinstance(event, wb.events.CompactionEnded)]


@pytest.mark.parametrize("preset", OUR_PRESETS)
def test_a_paste_above_the_target_is_sent_whole(preset: str) -> None:
    live = wb.Compactor(preset, model="extractive", window=WINDOW)
    question = pasted(6_000)
    sent = live.before_request([*openai(12), question])
    assert sent[-1] == question
    assert live.tokens < 0.75 * WINDOW
    assert not any("was cut" in warning for warning in warnings(live))


def test_beside_a_large_paste_the_newest_steps_stay() -> None:
    live = wb.Compactor("truncate", window=WINDOW)
    steps = openai(12)[-5:]
    sent = live.before_request([*openai(40), pasted(5_500), *steps])
    assert sent[-5:] == steps


@pytest.mark.parametrize("preset", OUR_PRESETS)
def test_a_paste_that_leaves_no_room_for_the_answer_is_cut_and_the_event_says_so(
    preset: str,
) -> None:
    live = wb.Compactor(preset, model="extractive", window=WINDOW)
    question = pasted(9_000)
    sent = live.before_request([*openai(12), question])
    assert sent[-1] != question and "Which port failed?" in str(sent[-1]["content"])
    assert "the newest user message was cut in the middle: " in warnings(live)[-1]


def test_a_refused_request_is_cut_to_its_target_all_the_same() -> None:
    live = wb.Compactor("truncate", window=WINDOW)
    messages = [*openai(12), pasted(5_000)]
    live.before_request(messages)
    retry = live.on_error("prompt is too long: 9000 tokens > 4000 maximum")
    assert retry is not None and live.tokens < 4_000
