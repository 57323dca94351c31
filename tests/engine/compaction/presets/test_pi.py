from engine.compaction.presets.situations import at, due, fired, stayed, summary

from builders import called, conversation, result, said, told
from workbench import AssistantMessage, Context, Text, ToolCall, UserMessage, preset
from workbench.engine.transcript.message import Image, Message, Thinking, ToolResult, plain_text

PI = preset("pi")


def tokens(message: Message) -> int:
    """What the preset counts for a message."""
    assert PI.count is not None
    return Context.of([message], PI.count).tokens


def test_it_is_due_above_the_window_less_16384_and_not_at_exactly_that() -> None:
    assert not due(PI, 183_616, 200_000)
    assert due(PI, 183_617, 200_000)
    assert not due(PI, 15_616, 32_000)
    assert due(PI, 15_617, 32_000)


def test_the_providers_last_count_goes_before_the_estimate() -> None:
    assert due(PI, 100_000, 200_000, reported=183_617)
    assert not due(PI, 190_000, 200_000, reported=183_616)


def test_the_target_is_the_size_at_which_it_is_due_no_more_in_the_units_of_the_estimate() -> None:
    budget = PI.trigger.check(at(100_000, 200_000, reported=190_000))
    assert budget is not None
    assert budget.target == 183_616 * 100_000 // 190_000


def test_characters_by_four_are_rounded_up() -> None:
    assert tokens(said("12345")) == 2
    assert tokens(said("1234")) == 1


def test_a_picture_is_4800_characters_in_a_result_and_in_what_the_user_sent() -> None:
    picture = Image()
    assert tokens(ToolResult(id="r", call_id="c", blocks=(Text("1234"), picture))) == 1 + 1_200
    assert tokens(UserMessage(id="u", blocks=(Text("1234"), picture))) == 1 + 1_200


def test_a_call_is_its_name_and_its_arguments_as_json_without_blanks() -> None:
    call = ToolCall("c", "read", {"path": "a", "n": 1})
    answer = AssistantMessage(id="a", blocks=(Text("1234"), Thinking("5678"), call))
    assert tokens(answer) == -(-(4 + 4 + len("read") + len('{"path":"a","n":1}')) // 4)


def test_the_start_of_a_turn_that_nothing_precedes_is_asked_for_alone() -> None:
    messages: list[Message] = [said("go", "u"), *(told("x" * 40_000, f"a{i}") for i in range(4))]
    compaction, model = fired(PI, messages, ("the start",))
    assert [request.purpose for request in model.requests] == ["turn_prefix"]
    assert summary(compaction).text.startswith("No turn before this one.")
    assert summary(compaction).text.endswith("the start")


def test_about_twenty_thousand_tokens_stay_from_the_next_message_that_is_no_result() -> None:
    messages: list[Message] = [said("go", "u")]
    for i in range(20):
        messages += [called("read", f"c{i}"), result("x" * 16_000, f"c{i}")]
    compaction, _ = fired(PI, messages, target=70_000)
    results = [message for message in compaction.after.messages if message.role == "tool"]
    assert len(results) == 4, (
        "the walk stops in the result of the fifth last step, and goes on to the next call"
    )
    assert compaction.after.messages[2].role == "assistant"
    assert stayed(compaction)[0] == "u", "the newest user message stays beside the summary"


def test_everything_stays_where_it_is_less_than_is_kept_anyway() -> None:
    compaction, model = fired(PI, conversation(40), keep_recent=20_000)
    assert compaction.outcome == "unchanged"
    assert model.requests == []


def long_turn() -> list[Message]:
    messages: list[Message] = [
        said("first " * 40, "u0"),
        told("done " * 4_000, "a0"),
        said("second", "u1"),
    ]
    for i in range(20):
        messages += [called("read", f"c{i}"), result("x" * 16_000, f"c{i}")]
    return messages


def test_a_split_turn_is_two_asks_with_their_own_bounds() -> None:
    compaction, model = fired(PI, long_turn(), ("the history", "the turn's start"), target=80_000)
    assert [request.purpose for request in model.requests] == ["summary", "turn_prefix"]
    first, second = model.requests
    assert (first.max_tokens, second.max_tokens) == (5_000, 8_192)
    assert {message.id for message in first.messages} == {"u0", "a0"}
    text = summary(compaction).text
    assert text.index("the history") < text.index("---") < text.index("the turn's start")


def test_a_summary_takes_at_most_13107_tokens() -> None:
    messages: list[Message] = [said("first", "u0"), told("x" * 800_000, "a0")]
    messages += [said("on", "u1"), told("y" * 100_000, "a1"), said("and on", "u2")]
    _, model = fired(PI, messages, target=190_000)
    assert model.requests[0].max_tokens == 13_107


def test_results_are_shown_up_to_two_thousand_characters() -> None:
    _, model = fired(PI, long_turn(), target=80_000)
    assert "x" * 2_000 in model.requests[1].prompt
    assert "x" * 2_001 not in model.requests[1].prompt


def test_file_lists_are_carried_on_and_an_earlier_summary_is_updated() -> None:
    messages: list[Message] = [said("go", "u")]
    for i in range(30):
        messages += [called("read", f"c{i}", path=f"f{i}.py"), result("x" * 8_000, f"c{i}")]
    compaction, _ = fired(PI, messages, target=50_000)
    assert "f0.py" in summary(compaction).files.read
    later = [*compaction.after.messages]
    for i in range(30, 60):
        later += [called("edit", f"c{i}", path=f"f{i % 3}.py"), result("x" * 8_000, f"c{i}")]
    again, model = fired(PI, later, ("the second", "its turn"), target=50_000)
    assert model.requests[0].purpose == "update"
    assert model.requests[0].previous == summary(compaction).text
    files = summary(again).files
    assert "f0.py" in files.modified
    assert "f7.py" in files.read
    assert "<modified-files>" in plain_text(summary(again))
