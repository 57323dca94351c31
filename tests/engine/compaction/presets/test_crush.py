import pytest
from engine.compaction.presets.situations import due, fired, stayed, summary

import workbench as wb
from builders import called, conversation, result, said, told

CRUSH = wb.preset("crush")


def test_in_a_large_window_it_is_due_when_20000_tokens_are_left() -> None:
    assert not due(CRUSH, 979_999, 1_000_000)
    assert due(CRUSH, 980_000, 1_000_000)
    assert due(CRUSH, 1_000, 1_000_000, reported=980_000)


def test_in_windows_up_to_200000_a_fifth_is_left() -> None:
    assert not due(CRUSH, 159_999, 200_000)
    assert due(CRUSH, 160_000, 200_000)
    assert not due(CRUSH, 180_000, 200_001), "a larger window leaves 20,000"
    assert due(CRUSH, 180_001, 200_001)


def test_nothing_starts_by_itself_in_an_unknown_window_or_where_it_is_switched_off() -> None:
    assert not due(CRUSH, 1_000_000, 0)
    assert not due(wb.preset("crush", disable_auto_summarize=True), 199_000, 200_000)


@pytest.mark.parametrize(
    ("setting", "value"), [("buffer", 50_000), ("ratio", 0.4), ("large_window", 100_000)]
)
def test_its_numbers_are_settings(setting: str, value: float) -> None:
    changed = wb.preset("crush", **{setting: value})
    tokens = {"buffer": 950_000, "ratio": 120_000, "large_window": 180_000}[setting]
    window = 1_000_000 if setting == "buffer" else 200_000
    assert due(changed, tokens, window) and not due(changed, tokens - 1, window)


def test_nothing_stays_but_the_newest_user_message() -> None:
    messages = [
        *conversation(10, words=60),
        said("mend the parser", "newest"),
        called("read", "c1"),
        result("z" * 4_000, "c1", name="read"),
        told("it is mended"),
    ]
    compaction, model = fired(CRUSH, messages)
    assert stayed(compaction) == ["newest"]
    (request,) = model.requests
    assert request.sections == (
        "Current state",
        "Files and changes",
        "Technical context",
        "Strategy and approach",
        "Exact next steps",
    )
    assert request.max_tokens is None, "no bound is named"
    assert "z" * 4_000 in request.prompt, "results are shown whole"


def test_an_earlier_summary_is_carried_on() -> None:
    compaction, _ = fired(CRUSH, conversation(20, words=60), ("the first",))
    assert summary(compaction).text == "the first"
    again, model = fired(
        CRUSH, [*compaction.after.messages, *conversation(9, words=60)], ("the second",)
    )
    assert model.requests[0].previous == "the first"
    assert summary(again).text == "the second"
