"""What cannot be a session, a context, a counter or a trigger is refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from builders import remembering, said
from workbench import (
    AssistantMessage,
    AtShare,
    Budget,
    Context,
    Plan,
    Preset,
    Session,
    SettingError,
    Strategy,
    Summary,
    Text,
    preset,
    replay,
)
from workbench.engine.transcript.message import Message

MESSAGES = [said("What is the limit?", "u1"), said("And the next?", "u2")]


def fails(_: object) -> Any:
    raise KeyError("size")


def counts_in_words(_: object) -> Any:
    return "five"


def counts_below_nothing(_: object) -> Any:
    return -1


class Raises:
    def check(self, situation: object) -> Any:
        return 1 // 0


class GrantsANumber:
    def check(self, situation: object) -> Any:
        return 5


@pytest.mark.parametrize("make", [Session.of, Context.of])
@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        (5, "messages is 5; a list of messages such as wb.UserMessage would be accepted"),
        (None, "messages is None; a list of messages such as wb.UserMessage would be accepted"),
        ([*MESSAGES, 5], r"messages\[2\] is 5; a message such as wb.UserMessage would be accepted"),
        ([{"role": "user"}], r"messages\[0\] is {'role': 'user'}; a message such as"),
        ("hello", r"messages\[0\] is 'h'; a message such as"),
    ],
)
def test_what_are_no_messages_is_said_with_its_place(
    make: Callable[[Any], object], messages: object, sentence: str
) -> None:
    with pytest.raises(SettingError, match=sentence):
        make(messages)


@pytest.mark.parametrize(
    ("field", "value", "accepted"),
    [
        ("id", 5, "a text"),
        ("model", 5, "a text"),
        ("project", None, "a text"),
        ("window", -1, "a whole number of at least 1"),
        ("window", "large", "a whole number of at least 1"),
    ],
)
def test_a_field_of_a_session_with_a_wrong_value_is_refused(
    field: str, value: Any, accepted: str
) -> None:
    with pytest.raises(SettingError, match=f"{field} is {value!r}; {accepted} would be accepted"):
        Session.of(MESSAGES, **{field: value})


@pytest.mark.parametrize("overhead", [-5, "many", 1.5])
def test_an_overhead_is_a_number_of_tokens(overhead: Any) -> None:
    with pytest.raises(SettingError, match=f"overhead is {overhead!r}; a whole number"):
        Context.of(MESSAGES, overhead=overhead)


COUNTERS = [
    (fails, "the counter raised KeyError: 'size', for message 'u1'"),
    (counts_in_words, "the counter returned 'five' for message 'u1'; a whole number of at least 0"),
    (counts_below_nothing, "the counter returned -1 for message 'u1'; a whole number of at least"),
]


@pytest.mark.parametrize(("count", "sentence"), COUNTERS)
def test_a_counter_that_fails_is_told_with_the_message(count: Any, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        Context.of(MESSAGES, count)
    own = Preset("own", Strategy("own", ()), AtShare(), count=count)
    with pytest.raises(SettingError, match=sentence):
        replay(Session.of(MESSAGES), own)


def test_a_counter_that_fails_for_a_new_message_is_told_with_its_role() -> None:
    sentence = "the counter raised KeyError: 'size', for a new message of role 'summary'"
    with pytest.raises(SettingError, match=sentence):
        Context.of([Summary(id="", text="Found.")], fails)


def fails_for_what_is_new(message: Message) -> int:
    if not message.id:
        raise KeyError("size")
    return 100


class AsksTheCounter:
    """A stage of a user's own that asks the counter."""

    name = "asks"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        context.count(Summary(id="", text="Found."))
        return None


@pytest.mark.parametrize(
    "strategy",
    [
        Strategy("asks", (AsksTheCounter(),)),
        *(preset(name).strategy for name in ("summarize", "learned_summary", "pipeline")),
    ],
    ids=lambda strategy: strategy.name,
)
def test_a_counter_that_fails_inside_a_stage_is_told_as_the_counter(strategy: Strategy) -> None:
    own = Preset("own", strategy, AtShare(0.5, 0.1), count=fails_for_what_is_new)
    with pytest.raises(SettingError) as failure:
        replay(Session.of(remembering(18), window=2_000), own)
    sentence = str(failure.value)
    assert "the counter raised KeyError: 'size', for a new message" in sentence
    assert "stage" not in sentence


def test_a_counter_is_a_function() -> None:
    count: Any = 5
    with pytest.raises(SettingError, match="count is 5; a function would be accepted"):
        Context.of(MESSAGES, count)


@pytest.mark.parametrize(
    ("trigger", "sentence"),
    [
        (Raises(), "the trigger raised ZeroDivisionError"),
        (GrantsANumber(), "what the trigger returned is 5; a wb.Budget or None would be accepted"),
    ],
)
def test_a_trigger_that_fails_ends_a_replay_in_a_sentence(trigger: Any, sentence: str) -> None:
    answer = AssistantMessage(id="a", blocks=(Text("Five."),))
    session = Session.of([*MESSAGES, answer])
    preset = Preset("own", Strategy("own", ()), trigger)
    with pytest.raises(SettingError, match=sentence):
        replay(session, preset)
    only_after_turns = replace(preset, moments=("after_turn",))
    with pytest.raises(SettingError, match=sentence):
        replay(session, only_after_turns, by_hand=[1])


def test_sizes_are_as_many_as_messages() -> None:
    with pytest.raises(SettingError, match="sizes has 1 numbers for 0 messages; one for each"):
        Context((), (5,))
