import itertools
from dataclasses import replace

import pytest

from builders import called, conversation, result, rules, said, told
from workbench import Budget, Context, Scripted, Summary, Text, compact, preset
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.transcript.message import Message, plain_text

STRATEGY = preset("truncate").strategy


def kept(messages: list[Message], target: int, reason: str = "threshold") -> Context:
    context = Context.of(messages)
    budget = Budget(target=target, window=100_000, reason=reason)
    compaction = compact(context, STRATEGY, budget, Scripted(()))
    assert not compaction.violations
    return compaction.after


def test_what_fits_is_left_alone() -> None:
    context = Context.of(conversation(3))
    assert STAGES["truncate"]().plan(context, Budget(target=context.tokens, window=9)) is None


def test_the_newest_messages_stay() -> None:
    messages: list[Message] = [rules("be good"), *conversation(10)]
    after = kept(messages, 500)
    n = len(after.messages) - 1
    assert after.messages == (messages[0], *messages[-n:])
    assert after.tokens <= 500


def test_a_larger_target_keeps_all_that_a_smaller_one_keeps() -> None:
    messages: list[Message] = [rules("be good"), *conversation(10)]
    sets = [
        {message.id for message in kept(messages, target).messages}
        for target in range(50, 2_000, 50)
    ]
    assert all(small <= large for small, large in itertools.pairwise(sets))


def test_a_pinned_result_stays_with_its_call() -> None:
    pinned = replace(result("keep me", "c1"), pinned=True)
    messages: list[Message] = [said("go", "u1"), called("read", "c1"), pinned, *conversation(5)]
    ids = [message.id for message in kept(messages, 300).messages]
    assert ids[:2] == ["a-c1", "r-c1"]


def test_a_huge_last_result_is_cut_and_its_call_stays() -> None:
    messages: list[Message] = [
        rules("be good"),
        said("go"),
        called("read", "c1"),
        result("0123456789" * 100_000, "c1"),
    ]
    after = kept(messages, 500)
    assert [message.id for message in after.messages] == [message.id for message in messages]
    assert "characters left out" in plain_text(after.messages[-1])
    assert 400 < after.tokens <= 500


def test_a_huge_user_message_is_cut_and_never_dropped() -> None:
    after = kept([rules("be good"), told("hello"), said("please " * 100_000)], 300)
    assert after.messages[-1].role == "user"
    assert after.tokens <= 300


def test_a_user_message_above_the_target_stays_whole_and_leaves_the_rest_a_quarter_of_it() -> None:
    question = said("please " * 2_000)
    after = kept([*conversation(40), question], 1_000)
    assert after.messages[-1] is question
    rest = after.tokens - after.sizes[-1]
    assert 200 < rest <= 250


@pytest.mark.parametrize("reason", ["matched", "overflow", "last_resort"])
def test_it_is_cut_where_a_comparison_or_a_refused_request_sets_the_size(reason: str) -> None:
    after = kept([*conversation(40), said("please " * 2_000)], 1_000, reason)
    assert after.messages[-1].role == "user"
    assert after.tokens <= 1_000


def test_a_user_message_of_many_texts_too_short_to_cut_stays_whole() -> None:
    many = replace(said("part"), blocks=tuple(Text(f"wish {i}, and no more") for i in range(200)))
    after = kept([*conversation(20), many], 100, "overflow")
    assert after.messages[-1] == many and len(after.messages) == 1


def test_a_pinned_message_is_not_cut_however_large() -> None:
    huge = said("please " * 10_000, pinned=True)
    assert kept([told("x" * 900), huge], 100).messages[-1] is huge


def test_the_newest_user_message_stays_beside_pins_that_exceed_the_target() -> None:
    after = kept([rules("rule " * 1_000), told("x" * 900), said("hi"), told("y" * 900)], 100)
    assert [message.role for message in after.messages] == ["system", "user"]


@pytest.mark.parametrize("target", [150, 400, 1_000])
def test_a_summary_that_is_too_long_is_cut_before_it_is_lost(target: int) -> None:
    summary = Summary(id="s", text="## Goal\n" + "word " * 2_000)
    after = kept([summary, said("go"), told("one " * 300), told("two " * 300, "a2")], target)
    assert after.messages[0].id == "s"
    assert after.tokens <= target


def test_an_empty_and_a_single_message_conversation_are_no_trouble() -> None:
    assert kept([], 0).messages == ()
    assert kept([told("word " * 500)], 100).tokens <= 100
