from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import pytest
import validators
from live.talk import Record, answered, anthropic, asked, back, openai, used

from workbench import (
    AtShare,
    Budget,
    CompactionEntry,
    Compactor,
    Context,
    FormatError,
    MessageEntry,
    ModelError,
    Plan,
    Preset,
    Scripted,
    Session,
    Settings,
    Situation,
    Strategy,
    find_model,
)
from workbench.engine.transcript.message import Message, chars_per_token, plain_text
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing
from workbench.live.events import (
    AutomaticStopped,
    CompactionDropped,
    CompactionEnded,
    Event,
    Rewound,
    UsageIgnored,
)

PRESETS = ("truncate", "summarize", "pipeline")
NEVER_AGAIN = Settings(cooldown=math.inf, cooldown_seconds=math.inf)


def compactor(preset: str | Preset = "summarize", **given: Any) -> Compactor:
    return Compactor(preset, **{"model": find_model("extractive"), "window": 3_000, **given})


def spoken(live: Compactor, messages: list[Record]) -> list[Record]:
    """Hand the conversation over request by request, as an agent does; the last list that came
    back.
    """
    sent: list[Record] = []
    for end in range(1, len(messages) + 1):
        if end == len(messages) or messages[end]["role"] == "assistant":
            sent = live.before_request(messages[:end])
    return sent


def ended(live: Compactor) -> list[CompactionEnded]:
    return [event for event in live.events if isinstance(event, CompactionEnded)]


def test_nothing_changes_while_nothing_is_due() -> None:
    messages = openai(3)
    live = compactor(window=100_000)
    sent = live.before_request(messages)
    assert sent == messages and sent is not messages
    assert live.events == []


@pytest.mark.parametrize("preset", PRESETS)
def test_a_long_conversation_stays_within_its_window(preset: str) -> None:
    messages = openai(30)
    live = compactor(preset)
    sent = spoken(live, messages)
    assert len(sent) < len(messages)
    assert live.tokens < 0.8 * 3_000
    assert all(event.tokens_after < event.tokens_before for event in ended(live))


@pytest.mark.parametrize("preset", PRESETS)
def test_the_list_handed_over_is_never_changed_and_kept_whole(preset: str) -> None:
    messages = openai(30)
    before = copy.deepcopy(messages)
    live = compactor(preset)
    spoken(live, messages)
    assert messages == before
    assert live.original == before


@pytest.mark.parametrize("preset", PRESETS)
def test_messages_that_stay_are_the_hosts_own_objects(preset: str) -> None:
    messages = openai(30)
    live = compactor(preset)
    sent = spoken(live, messages)
    own = {id(message) for message in messages}
    kept = [message for message in sent if id(message) in own]
    assert sent[0] is messages[0]
    assert sent[-1] is messages[-1]
    assert [message for message in messages if id(message) in {id(one) for one in kept}] == kept


def test_what_was_compacted_stays_the_same_from_request_to_request_so_that_a_prompt_cache_holds() -> (
    None
):
    messages = openai(12)
    live = compactor(window=1_600)
    spoken(live, messages)
    done = len(ended(live))
    first = live.before_request(messages)
    longer = [*messages, asked("go on")]
    second = live.before_request(longer)
    assert len(ended(live)) == done
    assert second[: len(first)] == first and second[len(first) :] == longer[-1:]


@pytest.mark.parametrize("preset", PRESETS)
def test_it_fires_where_a_replay_of_the_same_conversation_fires(preset: str) -> None:
    messages = openai(30)
    live = compactor(preset)
    for end, message in enumerate(messages):
        if message["role"] == "assistant":
            live.before_request(messages[:end])
            live.report_usage({"prompt_tokens": live.tokens, "completion_tokens": 1})
    live.after_turn(messages)
    session = Session.of(entry.message for entry in live.log if isinstance(entry, MessageEntry))
    sizing = Sizing(tuple(map(chars_per_token, session.messages)), 0, chars_per_token)
    replay = natural(session, live.preset, find_model("extractive"), sizing, window=3_000)
    assert [one.tokens_after for one in ended(live)] == [
        compaction.sent.tokens for compaction in replay.compactions
    ]
    assert len(ended(live)) > 1


def test_an_agent_may_go_on_with_the_list_that_came_back() -> None:
    live = compactor()
    messages: list[Record] = []
    for message in openai(30):
        if message["role"] == "assistant":
            messages = live.before_request(messages)
        messages.append(message)
    assert len(ended(live)) > 1
    assert live.original == openai(30)[: len(live.original)]
    assert not any(isinstance(event, Rewound) for event in live.events)


def test_going_back_undoes_what_was_compacted_since_and_leaves_a_branch() -> None:
    messages = openai(30)
    live = compactor()
    spoken(live, messages)
    assert len(ended(live)) > 1
    early = [*messages[:6], asked("something else")]
    assert live.before_request(early) == early
    assert live.original == early
    assert len(live.log.leaves()) == 2
    rewound = [event for event in live.events if isinstance(event, Rewound)]
    assert [(one.messages, one.undone) for one in rewound] == [(6, len(ended(live)))]


def test_going_back_without_a_word_is_going_back_as_well() -> None:
    messages = openai(5)
    live = compactor(window=100_000)
    live.before_request(messages)
    live.before_request(messages[:3])
    assert len(live.session().messages) == 3
    live.before_request(messages)
    assert len(live.session().messages) == len(messages)


def test_going_back_starts_the_automatic_path_again() -> None:
    live = compactor(
        Preset("thrash", Strategy("thrash", (Stubborn(),)), Always()),
        window=1_000,
        settings=NEVER_AGAIN,
    )
    spoken(live, openai(40))
    assert live.stopped
    live.before_request(openai(2))
    assert not live.stopped


def test_a_message_changed_in_the_middle_is_noticed() -> None:
    messages = openai(4)
    live = compactor(window=100_000)
    live.before_request(messages)
    edited = [*messages[:3], back("call_0_0", "other"), *messages[4:]]
    assert live.before_request(edited) == edited
    assert live.original == edited


def test_dicts_that_are_built_anew_at_each_request_are_recognised() -> None:
    messages = openai(30)
    live = compactor()
    for end in range(1, len(messages) + 1):
        live.before_request(copy.deepcopy(messages[:end]))
    assert not any(isinstance(event, Rewound) for event in live.events)
    assert sum(isinstance(entry, MessageEntry) for entry in live.log) == len(messages)


def test_what_comes_back_can_be_changed_without_harm() -> None:
    messages = openai(30)
    live = compactor()
    sent = spoken(live, messages)
    again = copy.deepcopy(live.before_request(messages))
    made = [one for one in sent if not any(one is message for message in messages)]
    for message in made:
        message["content"] = "spoiled"
    assert live.before_request(messages) == again
    assert made


def test_a_message_that_the_host_spoils_later_is_kept_as_it_was() -> None:
    messages = openai(3)
    before = copy.deepcopy(messages)
    live = compactor(window=100_000)
    live.before_request(messages)
    messages[3]["content"] = "spoiled"
    messages[2]["tool_calls"].clear()
    assert live.original == before


def test_a_summary_that_the_host_hands_back_is_not_taken_for_the_persons_words() -> None:
    messages = openai(30)
    live = compactor()
    sent = spoken(live, messages)
    other = [*sent[:-3], asked("another way")]
    assert live.before_request(other) == other
    path = [entry.message for entry in live.log.path() if isinstance(entry, MessageEntry)]
    assert [plain_text(message) for message in path if message.role == "user"][-1] == "another way"
    assert not any("Summary of the earlier conversation" in plain_text(message) for message in path)
    assert live.original == [*messages[: len(live.original) - 1], asked("another way")]


def test_the_log_tells_what_was_compacted_and_can_be_saved_as_a_session() -> None:
    live = compactor()
    spoken(live, openai(30))
    entries = [entry for entry in live.log if isinstance(entry, CompactionEntry)]
    assert len(entries) == len(ended(live))
    assert all(entry.summary is not None and entry.kept for entry in entries)
    session = live.session("mine")
    assert len(session.messages) == len(openai(30))
    assert len(session.recorded) == len(entries)


def test_a_compaction_by_hand_follows_its_instructions_and_keeps_what_it_is_told() -> None:
    messages = openai(6)
    model = Scripted(["## Goal\n\nAll is well."])
    live = compactor(window=100_000, model=model)
    live.before_request(messages)
    compaction = live.compact(instructions="dwell on limits", keep_recent=200)
    assert compaction is not None and compaction.outcome == "compacted"
    assert model.requests[0].instructions == "dwell on limits"
    sent = live.before_request(messages)
    assert "All is well." in sent[1]["content"]
    assert live.tokens < 500
    assert live.original == messages


def test_truncation_by_hand_halves_what_there_is() -> None:
    live = compactor("truncate", window=100_000)
    live.before_request(openai(20))
    before = live.tokens
    assert live.compact() is not None
    assert live.tokens <= before // 2


def test_a_requested_compaction_waits_until_the_turn_is_over() -> None:
    messages = openai(6)
    live = compactor(window=100_000)
    live.before_request(messages[:-1])
    live.request_compaction("limits")
    live.before_request(messages[:-1])
    assert ended(live) == []
    live.after_turn(messages)
    assert [event.outcome for event in ended(live)] == ["compacted"]


def test_after_a_turn_it_compacts_where_the_preset_says_so() -> None:
    late = Preset("late", Strategy("late", ()), AtShare(), moments=("after_turn",))
    messages = openai(30)
    live = compactor(late, settings=Settings(last_resort=False))
    live.before_request(messages[:-1])
    assert ended(live) == []
    live.after_turn(messages)
    assert len(ended(live)) == 1


def test_settings_are_read_at_each_decision() -> None:
    now = [Settings(automatic=False)]
    messages = openai(30)
    live = compactor(settings=lambda: now[0])
    spoken(live, messages)
    assert ended(live) == []
    now[0] = Settings(window=2_000, trigger=AtShare(0.5, 0.2), instructions="limits")
    live.before_request([*messages, asked("go on")])
    assert [event.outcome for event in ended(live)] == ["compacted"]
    assert live.tokens <= 0.2 * 2_000


def test_archived_results_can_be_read_by_reference() -> None:
    long = "an important line\n" * 2_000
    messages = [
        asked("read it"),
        used("c1", path="a.py"),
        back("c1", long),
        answered("done"),
        asked("and now?"),
    ]
    live = compactor("pipeline", window=6_000)
    sent = live.before_request(messages)
    reference = sent[2]["content"].partition("ref=")[2].rstrip("]")
    assert live.recall(reference, tokens=20_000) == long
    assert live.recall("nothing").startswith("Nothing is archived under the id 'nothing'")


def test_a_pinned_message_stays_as_it_is() -> None:
    messages = [asked("the plan: never touch secrets.env"), *openai(30)[1:]]
    live = compactor("truncate", pins=lambda record: "the plan" in str(record.get("content")))
    sent = spoken(live, messages)
    assert sent[0] is messages[0]


class Stubborn:
    """Saves a token at each compaction: a strategy that thrashes."""

    name = "stubborn"

    def __init__(self) -> None:
        self.plans = 0

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        self.plans += 1
        return None


class Always:
    """Due at every request, whatever its size."""

    name = "always"

    def check(self, situation: Situation, /) -> Budget | None:
        return Budget(target=1, window=situation.window)


def test_compactions_without_effect_stop_the_automatic_path_and_by_hand_still_works() -> None:
    stage = Stubborn()
    live = compactor(
        Preset("thrash", Strategy("thrash", (stage,)), Always()), window=1_000, settings=NEVER_AGAIN
    )
    stage.plans = 0
    messages = openai(40)
    spoken(live, messages)
    assert live.stopped
    assert stage.plans == 3
    assert [event.misses for event in live.events if isinstance(event, AutomaticStopped)] == [3]
    live.compact()
    assert stage.plans == 4


def test_a_compaction_by_hand_that_reaches_its_target_starts_the_automatic_path_again() -> None:
    settings = replace(NEVER_AGAIN, hysteresis=0.0)
    thrash = Preset("thrash", Strategy("thrash", (Stubborn(),)), AtShare(0.05, 0.02))
    live = compactor(thrash, window=100_000, settings=settings)
    messages = openai(40)
    spoken(live, messages)
    assert live.stopped

    live.preset = Compactor("truncate").preset
    live.compact()
    assert not live.stopped


def test_the_trigger_is_not_asked_again_before_the_messages_have_grown() -> None:
    stage = Stubborn()
    live = compactor(Preset("thrash", Strategy("thrash", (stage,)), Always()), window=10_000)
    stage.plans = 0
    messages = openai(2)
    live.before_request(messages)
    live.before_request([*messages, asked("a")])
    assert stage.plans == 1
    live.before_request([*messages, asked("a"), answered("word " * 200)])
    assert stage.plans == 2


def test_a_failing_model_leaves_the_history_whole_and_the_agent_running() -> None:
    messages = openai(30)
    strict = Preset("strict", Strategy("strict", (Strict(),)), AtShare())
    settings = replace(NEVER_AGAIN, last_resort=False)
    live = compactor(strict, model=Scripted([ModelError("no answer")] * 9), settings=settings)
    sent = spoken(live, messages)
    assert sent == messages
    assert all(
        "no answer" in event.why for event in live.events if isinstance(event, CompactionDropped)
    )
    assert live.stopped
    with pytest.raises(ModelError):
        live.compact()
    assert live.before_request(messages) == messages


class Strict:
    """Summarises, and takes no for an answer."""

    name = "strict"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        from workbench.engine.compaction.stages import Summarize

        usual = Summarize()
        strict = replace(usual, stand_ins=replace(usual.stand_ins, fallback=None))
        return strict.plan(context, budget)


def test_events_come_in_order_to_the_callback_as_well() -> None:
    heard: list[Event] = []
    live = compactor(on_event=heard.append)
    spoken(live, openai(30))
    assert heard == live.events
    assert [event.type for event in heard[:2]] == ["compaction_started", "compaction_ended"]
    assert not any(isinstance(event, CompactionDropped) for event in heard)


def test_what_is_no_message_is_named_with_its_place() -> None:
    with pytest.raises(FormatError, match=r"messages\[1\]"):
        compactor().before_request([asked("hi"), {"role": "robot", "content": "c"}])
    with pytest.raises(FormatError, match=r"messages\[0\]"):
        compactor().before_request(["hi"])


def test_reported_usage_counts_what_our_estimate_cannot_see() -> None:
    messages = openai(6)
    live = compactor(window=4_000)
    live.before_request(messages)
    before = live.tokens
    live.report_usage({"prompt_tokens": before + 3_000, "completion_tokens": 10})
    live.before_request([*messages, asked("go on")])
    assert len(ended(live)) == 1


def test_usage_from_before_a_compaction_is_ignored() -> None:
    messages = openai(6)
    live = compactor(window=10_000)
    live.before_request(messages)
    live.compact()
    after = live.tokens
    live.report_usage({"prompt_tokens": 9_900})
    assert live.tokens == after
    assert any(isinstance(event, UsageIgnored) for event in live.events)


@pytest.mark.parametrize("prompt_tokens", [10**15, 101_000])
def test_usage_far_beyond_the_request_and_its_window_is_ignored(prompt_tokens: int) -> None:
    live = compactor(window=10_000)
    live.before_request(openai(6))
    before = live.tokens
    assert live.report_usage({"prompt_tokens": prompt_tokens, "completion_tokens": 10}) is None
    assert live.tokens == before
    assert any(
        "for a request of about" in event.why
        for event in live.events
        if isinstance(event, UsageIgnored)
    )


def test_usage_of_another_model_is_ignored() -> None:
    messages = openai(6)
    live = compactor(window=10_000)
    live.before_request(messages, model="new")
    before = live.tokens
    live.report_usage({"prompt_tokens": 9_900}, model="old")
    assert live.tokens == before
    live.report_usage({"prompt_tokens": 9_900}, model="new")
    assert live.tokens == 9_900
    live.before_request(messages, model="newer")
    assert live.tokens == before


def test_the_system_prompt_and_the_tools_count() -> None:
    live = compactor(window=100_000)
    live.before_request(anthropic(1))
    alone = live.tokens
    live.before_request(
        anthropic(1), system="Be careful. " * 100, tools=[{"name": "read", "input_schema": {}}]
    )
    assert live.tokens > alone + 300


def test_a_stop_reason_that_says_overflow_compacts_before_the_next_request() -> None:
    messages = openai(10)
    live = compactor(window=100_000)
    live.before_request(messages)
    diagnosis = live.report_usage({"input_tokens": 900}, stop="model_context_window_exceeded")
    assert diagnosis is not None
    live.before_request(messages)
    assert [event.outcome for event in ended(live)] == ["compacted"]


@pytest.mark.parametrize("preset", PRESETS)
def test_fifty_compactions_in_a_row_keep_the_request_valid_and_the_rules_in_it(preset: str) -> None:
    messages = openai(160, steps=1)
    live = compactor(preset, window=1_200)
    sent: list[Record] = []
    for end, message in enumerate(messages):
        if message["role"] == "assistant":
            sent = live.before_request(messages[:end])
            assert validators.openai_chat(sent) == []
            live.report_usage({"prompt_tokens": live.tokens, "completion_tokens": 1})
    assert len(ended(live)) >= 50
    assert sent[0] is messages[0]
    assert not live.stopped and live.tokens <= 1_200
    assert live.original == messages[: len(live.original)]


def test_a_compaction_is_not_followed_by_another_before_the_window_fills_again() -> None:
    messages = openai(60)
    live = compactor("truncate", window=3_000)
    fired: list[int] = []
    for end, message in enumerate(messages):
        if message["role"] == "assistant":
            live.before_request(messages[:end])
            fired.append(len(ended(live)))
    assert len(ended(live)) > 5
    assert all(later - earlier <= 1 for earlier, later in zip(fired, fired[2:], strict=False))


def test_the_list_of_requests_costs_no_counting_of_what_was_counted() -> None:
    counted: list[str] = []

    def count(message: Message) -> int:
        counted.append(message.id)
        return chars_per_token(message)

    messages = openai(20)
    live = compactor(window=100_000, count=count)
    spoken(live, messages)
    assert len(counted) == len(messages)
