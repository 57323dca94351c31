"""What an agent has just asked for and not yet seen stays under the workbench's own presets."""

from __future__ import annotations

import pytest
from live.talk import Record, asked, back, used
from preset_names import preset_names

from workbench import Compactor, preset
from workbench.live.events import CompactionStarted

OWN = ("learned", "learned_summary", "pipeline", "scored", "summarize", "truncate")
"""Presets that restate no other system."""
FIRST = ("learned", "learned_summary", "pipeline", "summarize")
"""Those of them that cut new results before they do anything else."""


def parallel(calls: list[str]) -> Record:
    """One answer with these calls."""
    first, *others = [used(call) for call in calls]
    for other in others:
        first["tool_calls"] += other["tool_calls"]
    return first


def chat(sizes: list[int], words: int = 700) -> list[Record]:
    """Thirty small calls, and then one answer whose results have so many characters."""
    messages = [asked("Look at the log.")]
    for number in range(30):
        messages += [used(f"c{number}"), back(f"c{number}", f"line {number} " * words)]
    newest = [f"new-{number}" for number in range(len(sizes))]
    messages.append(parallel(newest))
    for call, size in zip(newest, sizes, strict=True):
        messages.append(back(call, f"the result of {call} " + "newest line " * (size // 12)))
    return messages


@pytest.mark.parametrize("preset", OWN)
@pytest.mark.parametrize(
    "sizes",
    [
        [60_000],
        [100_000],
        [200_000],
        [900_000],
        [40_000] * 3,
        [200_000] * 3,
        [2_000, 10_000, 500_000],
    ],
    ids=str,
)
def test_the_newest_results_stay_and_most_of_the_target_is_used(
    preset: str, sizes: list[int]
) -> None:
    live = Compactor(preset, window=64_000, model="extractive")
    messages = chat(sizes)
    sent = live.before_request(messages)
    newest = sent[-len(sizes) :]
    for message, original in zip(newest, messages[-len(sizes) :], strict=True):
        assert message["tool_call_id"] == original["tool_call_id"]
        assert message["content"].startswith(original["content"][:500])
    targets = [event.target for event in live.events if isinstance(event, CompactionStarted)]
    assert 0.4 * targets[0] <= live.tokens <= targets[0]


@pytest.mark.parametrize("preset", OWN)
@pytest.mark.parametrize("window", [8_000, 16_000, 32_000, 128_000, 200_000])
@pytest.mark.parametrize("sizes", [[20_000], [200_000], [20_000] * 3, [200_000] * 3], ids=str)
def test_each_of_our_presets_keeps_the_newest_results_in_every_window(
    preset: str, window: int, sizes: list[int]
) -> None:
    messages = chat(sizes, words=window // 90)
    live = Compactor(preset, window=window, model="extractive")
    sent = live.before_request(messages)
    newest = sent[-len(sizes) :]
    for message, original in zip(newest, messages[-len(sizes) :], strict=True):
        assert message["tool_call_id"] == original["tool_call_id"]
        assert message["content"].startswith(original["content"][:500])
    assert live.tokens <= window


@pytest.mark.parametrize("preset", OWN)
def test_of_parallel_results_the_small_ones_stay_whole(preset: str) -> None:
    messages = chat([2_000, 10_000, 500_000])
    sent = Compactor(preset, window=64_000, model="extractive").before_request(messages)
    assert sent[-3:-1] == messages[-3:-1]
    assert 50_000 < len(sent[-1]["content"]) < 100_000


@pytest.mark.parametrize("preset", OWN)
def test_ten_small_results_of_one_answer_stay_whole(preset: str) -> None:
    messages = chat([3_000] * 10, words=1_000)
    sent = Compactor(preset, window=64_000, model="extractive").before_request(messages)
    assert len(sent) < len(messages) or sent[2] != messages[2]
    assert sent[-10:] == messages[-10:]


def test_a_large_result_that_was_seen_becomes_a_reference() -> None:
    messages = chat([200_000])
    later = [used("d"), back("d", "done")]
    live = Compactor("pipeline", window=64_000, model="extractive")
    sent = live.before_request([*messages, *later])
    assert "truncated" in sent[-3]["content"]
    assert sent[-1] == later[-1]


def test_presets_that_restate_a_system_do_not_cut_new_results_first() -> None:
    with_the_stage: list[str] = []
    for name in preset_names():
        if any(stage.name == "shorten_unseen" for stage in preset(name).strategy.stages):
            with_the_stage.append(name)
    assert sorted(with_the_stage) == sorted(FIRST)
