import pytest
from engine.compaction.presets.situations import at, due, fired, stayed, summary

from builders import called, conversation, result, rules, said, told
from workbench import Summary, preset
from workbench.engine.transcript.message import Message

OPENHANDS_ROLLING = preset("openhands_rolling")


def test_it_is_due_beyond_80_messages_or_beyond_the_window() -> None:
    assert not due(OPENHANDS_ROLLING, 1_000, messages=80)
    assert due(OPENHANDS_ROLLING, 1_000, messages=81)
    assert not due(OPENHANDS_ROLLING, 200_000, messages=10)
    assert due(OPENHANDS_ROLLING, 200_001, messages=10)


def test_the_numbers_of_its_class_are_240_and_2() -> None:
    of_class = preset(
        "openhands_rolling",
        **{"trigger.max_size": 240, "summarize.cut.max_size": 240},
        keep_first=2,
    )
    assert not due(of_class, 1_000, messages=240)
    assert due(of_class, 1_000, messages=241)
    compaction, _ = fired(of_class, flat(241), reason="events")
    assert stayed(compaction) == [f"m{i}" for i in (0, 1, *range(241 - 117, 241))]


def test_messages_alone_set_no_target_and_tokens_set_half_of_the_window() -> None:
    by_messages = OPENHANDS_ROLLING.trigger.check(at(50_000, messages=81))
    by_tokens = OPENHANDS_ROLLING.trigger.check(at(250_000, messages=81))
    assert by_messages is not None
    assert by_tokens is not None
    assert (by_messages.target, by_messages.reason) == (49_999, "events")
    assert (by_tokens.target, by_tokens.reason) == (100_000, "threshold")


def flat(n: int) -> list[Message]:
    """Messages that may be cut anywhere."""
    return [
        said(f"do {i} " + "w " * 40, f"m{i}") if i % 2 else told(f"did {i} " + "w " * 40, f"m{i}")
        for i in range(n)
    ]


def test_forty_are_left_the_first_four_a_summary_and_the_newest_35() -> None:
    messages = flat(81)
    compaction, model = fired(OPENHANDS_ROLLING, messages, ("in between",), reason="events")
    assert len(compaction.after.messages) == 40
    assert compaction.after.messages[:4] == tuple(messages[:4])
    assert isinstance(compaction.after.messages[4], Summary)
    assert compaction.after.messages[5:] == tuple(messages[-35:])
    assert model.requests[0].messages == tuple(messages[4:-35])


def test_the_next_time_the_summary_is_updated_and_the_first_four_are_still_there() -> None:
    compaction, _ = fired(OPENHANDS_ROLLING, flat(81), ("the first",), reason="events")
    later = [*compaction.after.messages, *(m for m in flat(130)[81:122])]
    assert len(later) == 81
    again, model = fired(OPENHANDS_ROLLING, later, ("the second",), reason="events")
    assert model.requests[0].purpose == "update"
    assert model.requests[0].previous == "the first"
    assert again.after.messages[:4] == compaction.after.messages[:4]
    assert summary(again).text == "the second"
    assert len(again.after.messages) == 40


@pytest.mark.parametrize("n", [14, 15, 16, 17])
def test_a_pair_is_never_parted(n: int) -> None:
    messages = [rules("be good"), *conversation(n)]
    compaction, _ = fired(OPENHANDS_ROLLING, messages, reason="events")
    kept = [message.role for message in compaction.after.messages]
    assert kept[kept.index("summary") + 1] != "tool"
    assert len(kept) <= 40


def test_tokens_alone_keep_half_of_what_the_target_leaves() -> None:
    messages: list[Message] = [said("go", "u")]
    for i in range(20):
        messages += [called("read", f"c{i}"), result("x" * 8_000, f"c{i}")]
    compaction, _ = fired(OPENHANDS_ROLLING, messages, target=20_000)
    newest = compaction.after.messages[compaction.after.messages.index(summary(compaction)) + 1 :]
    assert 7_000 < sum(map(compaction.after.count, newest)) <= 10_000
