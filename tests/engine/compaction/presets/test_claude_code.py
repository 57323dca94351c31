from dataclasses import replace

from engine.compaction.presets.situations import due, fired, summary

from builders import called, conversation, result, rules, said, told
from workbench import UserMessage, preset
from workbench.engine.transcript.message import Message, plain_text

CLAUDE_CODE = preset("claude_code")


def test_it_is_due_above_the_window_less_33000() -> None:
    assert not due(CLAUDE_CODE, 167_000, 200_000)
    assert due(CLAUDE_CODE, 167_001, 200_000)
    assert due(CLAUDE_CODE, 100_000, 200_000, reported=167_001)


def test_in_a_small_window_the_longest_answer_is_a_quarter_of_it() -> None:
    assert not due(CLAUDE_CODE, 32_000 - 8_000 - 13_000, 32_000)
    assert due(CLAUDE_CODE, 32_000 - 8_000 - 13_000 + 1, 32_000)


def test_messages_get_a_quarter_of_the_room_beside_a_large_overhead() -> None:
    assert not due(CLAUDE_CODE, 20_000, 32_000, overhead=16_000)
    assert due(CLAUDE_CODE, 20_001, 32_000, overhead=16_000)


def test_nothing_stays_but_the_newest_user_message_and_what_is_pinned() -> None:
    messages = [rules("be good"), *conversation(6)]
    compaction, model = fired(CLAUDE_CODE, messages, ("what happened",), target=400)
    roles = [
        message.role
        for message in compaction.after.messages
        if not getattr(message, "synthetic", False)
    ]
    assert roles == ["system", "summary", "user"]
    assert [request.purpose for request in model.requests] == ["summary"], (
        "a turn that goes on is not asked about apart"
    )
    assert len(model.requests[0].sections) == 9


def test_a_summary_takes_at_most_20000_tokens() -> None:
    messages: list[Message] = [said("go", "u"), told("x" * 800_000, "a"), said("on", "u2")]
    _, model = fired(CLAUDE_CODE, messages, target=190_000)
    assert model.requests[0].max_tokens == 20_000


def reads(n: int, chars: int) -> list[Message]:
    messages: list[Message] = [said("go", "u")]
    for i in range(n):
        messages.append(called("read", f"c{i}", path=f"f{i}.py"))
        messages.append(result(f"file {i} " + "x" * chars, f"c{i}", name="read"))
    return messages


def restored(messages: tuple[Message, ...]) -> list[UserMessage]:
    return [
        message for message in messages if isinstance(message, UserMessage) and message.synthetic
    ]


def test_the_newest_five_files_are_sent_again_behind_the_summary_each_up_to_5000_tokens() -> None:
    compaction, _ = fired(CLAUDE_CODE, reads(8, 40_000), target=79_000)
    again = restored(compaction.after.messages)
    assert [message.name for message in again] == [f"restored:f{i}.py" for i in range(3, 8)]
    assert all(compaction.after.count(message) <= 5_000 for message in again)
    assert all(compaction.after.count(message) > 4_000 for message in again[1:]), (
        "they are cut, not left out"
    )
    at = compaction.after.messages.index(summary(compaction))
    assert compaction.after.messages[at + 1] is again[0]


def test_files_take_at_most_a_third_of_the_room_and_the_summary_a_quarter() -> None:
    compaction, model = fired(CLAUDE_CODE, reads(8, 40_000), target=6_000)
    again = restored(compaction.after.messages)
    assert 0 < sum(map(compaction.after.count, again)) <= 2_000
    assert model.requests[0].max_tokens is not None
    assert model.requests[0].max_tokens <= 1_500
    assert compaction.after.tokens <= 6_000


def test_a_file_that_was_changed_after_it_was_read_is_not_sent_as_it_was() -> None:
    messages = [*reads(3, 4_000), called("edit", "e", path="f1.py"), result("ok", "e")]
    compaction, _ = fired(CLAUDE_CODE, messages, target=3_000)
    assert "restored:f1.py" not in [message.name for message in restored(compaction.after.messages)]


def test_files_that_were_sent_again_are_sent_again_once_more_but_not_summarised_alone() -> None:
    compaction, _ = fired(CLAUDE_CODE, reads(3, 8_000), ("the first",), target=5_500)
    alone, model = fired(CLAUDE_CODE, compaction.after.messages, (), target=100)
    assert model.requests == []
    assert alone.outcome == "unchanged"
    later = [*compaction.after.messages, told("more " * 4_000, "z"), said("next", "z1")]
    again, model = fired(CLAUDE_CODE, later, ("the second",), target=5_500)
    assert model.requests[0].previous == "the first"
    assert summary(again).text == "the second"
    assert {"restored:f2.py"} <= {message.name for message in restored(again.after.messages)}


def idle(seconds: float) -> list[Message]:
    messages = [replace(message, time=1_000.0) for message in reads(8, 2_000)]
    return [*messages, replace(said("back again", "u2"), time=1_000.0 + seconds)]


def cleared(messages: tuple[Message, ...]) -> int:
    return sum(plain_text(message) == "[old result taken out]" for message in messages)


def asked(seconds: float, target: int) -> tuple[int, int]:
    messages = idle(seconds)
    messages[-3:-3] = [replace(told("thinking", "t"), time=1_000.0)]
    compaction, model = fired(CLAUDE_CODE, messages, target=target)
    return cleared(compaction.after.messages), len(model.requests)


def test_after_an_hour_of_waiting_all_but_five_results_are_cleared_first_and_may_be_enough() -> (
    None
):
    assert asked(3_601.0, target=4_000) == (3, 0)
    assert asked(3_600.0, target=4_000) == (0, 1), "an hour is not more than an hour"


def test_clearing_comes_before_the_summary() -> None:
    compaction, _ = fired(CLAUDE_CODE, idle(9_999.0), target=1_000)
    assert [record.name for record in compaction.stages] == ["idle_microcompact", "claude_compact"]
