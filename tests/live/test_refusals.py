"""What is left of a context after a provider refused it for its size."""

from __future__ import annotations

import base64
import random

import pytest
from benchmarks.bench_refusals import KNOWLEDGE, Case, driven
from live.talk import Record, answered, asked, openai

from workbench import Compactor, Text, find_model
from workbench.engine.transcript.message import SystemMessage, chars_per_token, quarter_of_bytes

SAMPLE = [
    Case("pipeline", "chinese", "unknown", 1.0, 40_000, 1),
    Case("claude_code", "hex", "unknown", 1.5, 40_000, 2),
    Case("pi", "hex", "none", 1.0, 64_000, 0),
    Case("opal", "russian", "none", 1.5, 40_000, 1),
    Case("truncate", "hindi", "unknown", 0.5, 64_000, 2),
    Case("summarize", "english", "known", 1.0, 64_000, 1),
    Case("ex_athena", "pictures", "unknown", 0.25, 40_000, 1),
    Case("none", "hex", "unknown", 1.5, 40_000, 1),
]


def test_the_sample_has_each_kind_of_knowledge() -> None:
    assert {case.knowledge for case in SAMPLE} == {*KNOWLEDGE}


@pytest.mark.parametrize(
    "case", SAMPLE, ids=lambda case: f"{case.preset} {case.script} {case.knowledge}"
)
def test_the_next_request_fits_keeps_enough_and_holds_the_newest_result(case: Case) -> None:
    outcomes = driven(case)
    assert outcomes
    assert [outcome for outcome in outcomes if not outcome.is_good] == []


def hex_dumps(count: int) -> list[Record]:
    rng = random.Random(1)
    talk: list[Record] = [asked("Read the dumps.")]
    for _ in range(count):
        talk += [answered(rng.randbytes(4_000).hex()), asked("Go on.")]
    return talk


def test_a_reported_size_is_a_scale_of_the_messages_and_no_overhead() -> None:
    talk = hex_dumps(40)
    live = Compactor("truncate", window=200_000)
    live.before_request(talk)
    tokens = live.tokens
    assert tokens < 100_000
    retry = live.on_error("prompt is too long: 240000 tokens > 200000 maximum")
    assert retry is not None
    kept = len(retry.messages) / len(talk)
    assert 0.2 < kept < 0.5  # two fifths of the window by the provider's count
    assert live.tokens == pytest.approx(240_000 * kept, rel=0.1)


def test_a_report_of_a_large_first_request_is_a_scale_as_well() -> None:
    talk = hex_dumps(40)
    live = Compactor("truncate", window=250_000)
    live.before_request(talk)
    live.report_usage({"prompt_tokens": 240_000, "completion_tokens": 9})
    talk += [answered("ok"), asked("Go on.")]
    sent = live.before_request(talk)
    assert 0.25 * len(talk) < len(sent) < 0.6 * len(talk)


def test_pictures_that_a_server_counts_by_their_bytes_do_not_empty_the_words() -> None:
    data = base64.b64encode(random.Random(1).randbytes(90_000)).decode()
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    talk: list[Record] = [asked("Compare the screens.")]
    for part in range(45):
        talk.append(
            {"role": "user", "content": [{"type": "text", "text": f"Screen {part}."}, picture]}
        )
        talk.append(answered(f"Part {part}: " + "it shows a form with two fields. " * 40))
    live = Compactor("truncate", window=200_000)
    live.before_request(talk)
    retry = live.on_error("prompt is too long: 1300000 tokens > 200000 maximum")
    assert retry is not None
    assert 4 <= len(retry.messages) < 20


def test_a_number_that_no_count_explains_is_not_believed() -> None:
    live = Compactor("truncate", window=128_000)
    talk = openai(40)
    live.before_request(talk)
    tokens = live.tokens
    retry = live.on_error("prompt is too long: 9000000 tokens > 128000 maximum")
    assert retry is not None
    assert 0.3 * tokens < live.tokens < 0.7 * tokens


def test_a_code_in_brackets_is_no_window() -> None:
    live = Compactor("pipeline", model=find_model("extractive"), window=204_800)
    live.before_request(openai(40))
    live.on_error("invalid params, context window exceeds limit (2013)")
    assert live.window == 204_800


@pytest.mark.parametrize("usage", [True, False])
def test_no_limit_is_learned_below_a_request_that_was_answered(usage: bool) -> None:
    live = Compactor("none", window=200_000)
    talk = hex_dumps(12)
    live.before_request(talk)
    if usage:
        live.report_usage({"prompt_tokens": 30_000, "completion_tokens": 9})
    live.before_request([*talk, answered("ok"), asked("Go on.")])
    live.on_error("prompt is too long: 30000 tokens > 2500 maximum")
    assert live.window == 200_000


def test_a_calibration_is_saved() -> None:
    talk = hex_dumps(40)
    live = Compactor("truncate", window=200_000)
    live.before_request(talk)
    live.on_error("prompt is too long: 240000 tokens > 200000 maximum")
    loaded = Compactor.load(live.save())
    assert loaded.tokens == live.tokens
    assert loaded.before_request(talk) == live.before_request(talk)


def test_other_scripts_are_counted_by_their_bytes() -> None:
    def message(text: str) -> SystemMessage:
        return SystemMessage(id="m", blocks=(Text(text),))

    english, chinese = message("the parser " * 40), message("解析器" * 40)
    assert quarter_of_bytes(english) == chars_per_token(english)
    assert quarter_of_bytes(chinese) == 3 * 120 // 4 + 4
