from dataclasses import replace

import pytest
from engine.compaction.presets.situations import due, fired, stayed, summary

from builders import called, conversation, result, rules, said, told
from workbench import Strategy, Summary, preset
from workbench.engine.transcript.message import Message, ToolResult, plain_text

OPENCODE = preset("opencode")

SUMMARISES = replace(OPENCODE, strategy=Strategy("summarises", OPENCODE.strategy.stages[1:]))


def test_it_is_due_at_exactly_the_window_less_32000() -> None:
    assert not due(OPENCODE, 167_999, 200_000)
    assert due(OPENCODE, 168_000, 200_000)
    assert due(OPENCODE, 1_000, 200_000, reported=168_000)
    assert not due(OPENCODE, 23_999, 32_000), (
        "in a small window the longest answer is a quarter of it"
    )
    assert due(OPENCODE, 24_000, 32_000)


def test_below_a_limit_of_the_input_20000_tokens_stay_free() -> None:
    limited = preset("opencode", answer=20_000)
    assert not due(limited, 251_999, 272_000)
    assert due(limited, 252_000, 272_000)


@pytest.mark.parametrize(("window", "kept"), [(200_000, 15_000), (64_000, 12_000), (6_000, 2_000)])
def test_a_quarter_of_what_is_usable_is_kept_between_2000_and_15000(window: int, kept: int) -> None:
    answers = [told("x" * 384, f"a{i}") for i in range(400)]
    compaction, _ = fired(SUMMARISES, [said("go", "u"), *answers], window=window)
    newest = [id for id in stayed(compaction) if id.startswith("a")]
    assert 100 * len(newest) == kept


def test_what_is_pinned_takes_nothing_of_what_is_kept() -> None:
    answers = [told("x" * 384, f"a{i}") for i in range(40)]
    newest = told("x" * 3_984, "b")
    messages: list[Message] = [rules("be good"), said("go", "u"), *answers, newest]
    compaction, _ = fired(SUMMARISES, messages, window=6_000)
    kept = [id for id in stayed(compaction) if id[0] in "ab"]
    assert kept == [*(f"a{i}" for i in range(30, 40)), "b"], "1,000 tokens, and 100 ten times"


def steps(turn: int, n: int, tokens: int, name: str = "shell") -> list[Message]:
    messages: list[Message] = [said("go on", f"u{turn}")]
    for i in range(n):
        messages += [
            called(name, f"c{turn}-{i}"),
            result("z" * (4 * tokens - 16), f"c{turn}-{i}", name=name),
        ]
    return messages


def erased(messages: tuple[Message, ...]) -> list[bool]:
    return [
        plain_text(message) == "[old tool result erased]"
        for message in messages
        if isinstance(message, ToolResult)
    ]


def test_results_behind_two_turns_and_40_000_tokens_are_erased_if_more_than_20_000_are_gained() -> (
    None
):
    old = [*steps(0, 7, 10_000), *steps(1, 2, 10_000), *steps(2, 2, 10_000)]
    compaction, model = fired(OPENCODE, old)
    assert erased(compaction.after.messages) == [True] * 3 + [False] * 8, (
        "the newest two turns are not counted"
    )
    assert model.requests == []
    assert [record.name for record in compaction.stages] == ["opencode_prune"]


def test_exactly_20_000_tokens_are_not_worth_erasing() -> None:
    messages = [*steps(0, 6, 10_000), *steps(1, 2, 10_000), *steps(2, 1, 10_000)]
    compaction, _ = fired(OPENCODE, messages, target=75_000)
    assert not any(erased(compaction.after.messages))
    assert "opencode_prune" not in [record.name for record in compaction.stages]


def test_skills_are_never_erased() -> None:
    messages = [*steps(0, 7, 10_000, "skill"), *steps(1, 4, 10_000), *steps(2, 1, 10_000)]
    compaction, _ = fired(OPENCODE, messages, target=115_000)
    assert not any(erased(compaction.after.messages))


def test_errors_are_never_erased() -> None:
    failed = [
        replace(message, is_error=True) if isinstance(message, ToolResult) else message
        for message in steps(0, 7, 10_000)
    ]
    messages = [*failed, *steps(1, 4, 10_000), *steps(2, 1, 10_000)]
    compaction, _ = fired(OPENCODE, messages, target=115_000)
    assert not any(erased(compaction.after.messages))


def test_a_second_pruning_stops_at_what_is_erased() -> None:
    compaction, _ = fired(
        OPENCODE, [*steps(0, 7, 10_000), *steps(1, 2, 10_000), *steps(2, 2, 10_000)]
    )
    later = [*compaction.after.messages, *steps(3, 1, 10_000)]
    again, _ = fired(OPENCODE, later, target=sum(map(compaction.after.count, later)) - 1)
    assert [record.name for record in again.stages] == ["summarize"]


def test_whole_turns_that_fit_are_kept_and_of_the_next_what_still_fits() -> None:
    messages = [
        *steps(0, 4, 2_000),
        told("done", "a0"),
        *steps(1, 5, 2_000),
        told("done", "a1"),
        *steps(2, 2, 2_000),
    ]
    compaction, model = fired(SUMMARISES, messages, keep_recent=12_100)
    kept = [id for id in stayed(compaction) if id.startswith("r-")]
    assert kept == ["r-c1-1", "r-c1-2", "r-c1-3", "r-c1-4", "r-c2-0", "r-c2-1"]
    assert len(model.requests) == 1, "the start of a turn is not summarised apart"


def test_the_summary_has_its_own_headings_and_bound() -> None:
    _, model = fired(SUMMARISES, conversation(400, words=60), keep_recent=1_000)
    (request,) = model.requests
    assert request.sections == (
        "Objective",
        "Important details",
        "Work state",
        "Next move",
        "Relevant files",
    )
    assert request.max_tokens == 4_096


def test_an_earlier_summary_is_carried_on() -> None:
    compaction, _ = fired(SUMMARISES, conversation(40, words=60), ("the first",), keep_recent=500)
    assert summary(compaction).text == "the first"
    later = [*compaction.after.messages, *steps(9, 6, 500)]
    again, model = fired(SUMMARISES, later, ("the second",), keep_recent=500)
    assert model.requests[0].purpose == "update"
    assert model.requests[0].previous == "the first"
    assert summary(again).text == "the second"


def test_what_stands_before_an_earlier_summary_goes_with_it() -> None:
    earlier = Summary(id="s", text="the first")
    old = [told("x" * 4_000, "x"), told("y" * 384, "y")]
    messages: list[Message] = [*old, earlier, said("go", "u"), told("so", "a")]
    compaction, model = fired(SUMMARISES, messages, ("the second",), keep_recent=150)
    assert (model.requests[0].purpose, model.requests[0].previous) == ("update", "the first")
    assert summary(compaction).text == "the second"
