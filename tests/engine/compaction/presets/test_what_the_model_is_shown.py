"""How much of a long result, of a long argument and of a thought each preset shows the model that
summarises.

The figures of a restated system are those of its original, as reports/studies/summary-requests and
docs/reference/conformance.md have them.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest
from engine.compaction.presets.situations import fired

import workbench as wb
from builders import called, result, said, told
from workbench.engine.compaction.settings import settings
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import Message

RESULT, ARGUMENT, WORDS = 9_000, 3_000, 7_000
WHOLE, CUT, SHORT = RESULT, 2_000, 500


class Shown(NamedTuple):
    """Characters of the result, of the argument and of the model's words, and whether the
    thought is shown.
    """

    result: int
    argument: int
    words: int = WORDS
    thought: bool = False


PRESETS = {
    "summarize": Shown(8_000, 2_000),
    "pipeline": Shown(8_000, 2_000),
    "learned_summary": Shown(8_000, 2_000),
    "opal": Shown(SHORT, 200 - len('{"path": "')),
    "operator_use": Shown(CUT, ARGUMENT, thought=True),
    "ddx_agent": Shown(CUT, ARGUMENT),
    "ex_athena": Shown(SHORT, 0, words=1_000),
    "docker_agent": Shown(WHOLE, ARGUMENT),
    "pi": Shown(CUT, ARGUMENT, thought=True),
    "codex_local": Shown(WHOLE, ARGUMENT),
    "claude_code": Shown(WHOLE, ARGUMENT),
    "gemini_cli": Shown(WHOLE, ARGUMENT),
    "opencode": Shown(CUT, ARGUMENT, thought=True),
    "opencode_v2": Shown(CUT, ARGUMENT, thought=True),
    "crush": Shown(WHOLE, ARGUMENT),
    "anthropic_on_demand": Shown(WHOLE, ARGUMENT),
    "anthropic_background": Shown(WHOLE, ARGUMENT),
    "anthropic_keep_turns": Shown(WHOLE, ARGUMENT),
    "openhands_rolling": Shown(SHORT, 0, words=SHORT),
    "langchain_20:trim=none": Shown(WHOLE, ARGUMENT),
    "hermes_lean": Shown(4_000, 1_200, words=4_000),
}


def history() -> list[Message]:
    """A result of `q`, an argument of `z` and words of `j`, and enough behind them that all are
    summarised.
    """
    call = called("read", "c0", path="z" * ARGUMENT)
    messages: list[Message] = [
        said("go on with the parser"),
        told("j" * WORDS, thought="a silent thought"),
        call,
    ]
    messages.append(result("q" * RESULT, "c0", name="read"))
    for step in range(30):
        messages += [
            told(f"step {step} of the work", f"a{step + 1}"),
            said(f"and then part {step}", f"u{step + 1}"),
        ]
    return messages


def prompt_of(preset: wb.Preset, messages: Sequence[Message]) -> str:
    """What the stage of a preset that asks a model sends, without the stages that cut results
    before it.
    """
    writers = {
        path.partition(".")[0] for path in settings(preset) if path.endswith("argument_chars")
    }
    stages = tuple(stage for stage in preset.strategy.stages if stage.name in writers)
    writer = replace(preset, strategy=replace(preset.strategy, stages=stages))
    _, model = fired(writer, messages, target=1_000, reason="matched")
    return "\n".join(request.prompt for request in model.requests)


def shown(preset: wb.Preset) -> Shown:
    prompt = prompt_of(preset, history())
    of_result, of_argument, of_words = (
        max(map(len, re.findall(f"{letter}+", prompt)), default=0) for letter in "qzj"
    )
    return Shown(of_result, of_argument, of_words, thought="silent thought" in prompt)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_shows_its_model_what_its_original_shows(name: str) -> None:
    assert shown(wb.preset(name)) == PRESETS[name]


@pytest.mark.parametrize("name", PRESETS)
def test_what_is_shown_is_a_setting_of_every_preset_that_summarises(name: str) -> None:
    whole = dict.fromkeys(("result_chars", "argument_chars", "message_chars"), "whole")
    assert shown(wb.preset(name, **whole, thoughts=True)) == Shown(
        RESULT, ARGUMENT, WORDS, thought=True
    )
    less = shown(
        wb.preset(name, result_chars=60, argument_chars=30, message_chars=90, thoughts=False)
    )
    assert (
        0 < less.result <= 60
        and 0 < less.argument <= 30
        and 0 < less.words <= 90
        and not less.thought
    )


def test_hermes_shows_the_end_of_a_long_result_too() -> None:
    messages = history()
    messages[3] = result("begin" + "q" * RESULT + "end of it", "c0", name="read")
    prompt = prompt_of(wb.preset("hermes_lean"), messages)
    assert "begin" in prompt and "end of it" in prompt


def test_settings_are_the_same_behind_a_name_and_in_python() -> None:
    behind = wb.preset("claude_code:result_chars=2000:argument_chars=whole")
    assert behind == wb.preset("claude_code", result_chars=2_000, argument_chars="whole")
    assert behind.name == "claude_code:result_chars=2000:argument_chars=whole"
    assert wb.preset("claude_code:result_chars=2000+recall").strategy.recall


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("claude_code:result_chars=many", "it must be a whole number or 'whole'"),
        ("claude_code:result_chars=-1", "it must be at least 0, or 'whole'"),
        ("claude_code:result_chars", "must have the form NAME=VALUE, such as result_chars=2000"),
        ("claude_code:no_such=1", "claude_code has no setting 'no_such'"),
        ("truncate:result_chars=1", "truncate has no setting 'result_chars'"),
        ("no_such:result_chars=1", "no preset is named 'no_such'"),
    ],
)
def test_a_wrong_setting_behind_a_name_is_one_sentence(name: str, message: str) -> None:
    with pytest.raises(wb.WorkbenchError, match=re.escape(message)):
        wb.preset(name)


def long_results(text: str, n: int = 40) -> list[Message]:
    """`n` results of that text, between calls, behind a user's message and before another one."""
    messages: list[Message] = [said("go on", "u0")]
    for i in range(n):
        messages += [
            called("read", f"c{i}", path=f"part_{i}.py"),
            result(f"result {i}: {text}", f"c{i}", name="read"),
        ]
    return [*messages, said("and now the next one", "u1")]


def in_a_window(name: str, messages: Sequence[Message], window: int) -> str:
    """What a preset asks in a window of so many tokens."""
    _, model = fired(wb.preset(name), messages, window=window, target=window // 10)
    return model.requests[0].prompt


@pytest.mark.parametrize("name", ["claude_code", "codex_local"])
def test_what_does_not_fit_beside_whole_results_is_the_oldest_part(name: str) -> None:
    text = "q" * 10_000
    assert in_a_window(name, long_results(text), window=150_000).count(text) == 40
    prompt = in_a_window(name, long_results(text), window=50_000)
    assert "earlier entries left out for length" in prompt
    assert re.findall(r"result (\d+): q{10000}", prompt) == [str(i) for i in range(23, 40)]


@pytest.mark.parametrize("name", ["summarize", "gemini_cli"])
def test_elsewhere_results_are_cut_shorter_before_anything_is_left_out(name: str) -> None:
    prompt = in_a_window(name, long_results("q" * 10_000), window=50_000)
    assert "left out for length" not in prompt
    shown_of_each = {len(run) for run in re.findall(r"result \d+: (q+)", prompt)}
    assert len(shown_of_each) < 3 and 1_000 < min(shown_of_each) < 8_000
    assert len(re.findall(r"result \d+: ", prompt)) == 40


@pytest.mark.parametrize("text", ["the quick brown fox " * 500, "上下文压缩的测试" * 1_000])
def test_the_room_is_that_of_the_windows_tokens_whatever_the_script(text: str) -> None:
    count = TiktokenCounter()
    _, model = fired(
        wb.preset("claude_code"), long_results(text), count=count, window=40_000, target=4_000
    )
    assert 25_000 < count.count_text(model.requests[0].prompt) < 40_000
