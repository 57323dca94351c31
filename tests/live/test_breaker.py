"""Automatic compactions stop after misses and failures only, are tried again, and what is too
large is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
import validators
from live.talk import Record, anthropic, asked, openai, without_fallback
from preset_names import BUILTIN_PRESETS
from recordings.importers.samples import PNG

from workbench import (
    AtShare,
    Budget,
    Compactor,
    Completion,
    Context,
    ModelError,
    Plan,
    Preset,
    SettingError,
    Settings,
    Situation,
    Strategy,
    SummaryRequest,
    find_model,
)
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.transcript.message import Message
from workbench.live.events import (
    AutomaticResumed,
    AutomaticStopped,
    CompactionEnded,
    LastResort,
    WindowTooSmall,
)


def spoken(live: Compactor, messages: list[Record], start: int = 1) -> list[list[Record]]:
    """What is sent at each request of the conversation."""
    ends = (
        end
        for end in range(start, len(messages) + 1)
        if end == len(messages) or answers(messages[end])
    )
    return [live.before_request(messages[:end]) for end in ends]


def answers(message: Record) -> bool:
    return bool(message["role"] == "assistant")


def of(kind: type, live: Compactor) -> list[Any]:
    return [event for event in live.events if isinstance(event, kind)]


@dataclass(frozen=True)
class Thrifty:
    """Due at 80 % of the window, and done where a token less is left."""

    name: ClassVar[str] = "thrifty"

    def check(self, situation: Situation, /) -> Budget | None:
        limit = int(0.8 * situation.window)
        return situation.budget(limit - 1) if situation.tokens >= limit else None


def test_a_compaction_that_reaches_its_target_is_no_miss_however_little_it_saves() -> None:
    live = Compactor(
        Preset("thrift", Strategy("thrift", (STAGES["truncate"](),)), Thrifty()), window=4_000
    )
    spoken(live, openai(60))
    ended = of(CompactionEnded, live)
    assert len(ended) > 10
    assert any(one.tokens_before - one.tokens_after < 0.05 * one.tokens_before for one in ended)
    assert of(AutomaticStopped, live) == [] == of(LastResort, live)


class Down:
    """A model that is down for a while, with what a request of it costs."""

    name = "down"

    def __init__(self) -> None:
        self.up, self.asked = False, 0

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.asked += 1
        if self.up:
            return find_model("extractive").complete(request)
        raise TimeoutError("no answer")


def test_results_that_come_in_one_after_the_other_do_not_start_the_breaker_anew() -> None:
    """In Anthropic's format they are parts of one message, which grows."""
    model = Down()
    settings = Settings(hysteresis=0.0, cooldown=1.0, last_resort=False)
    live = Compactor(without_fallback("summarize"), model=model, window=4_000, settings=settings)
    said = anthropic(12, calls=20, words=15)[:-1]
    results = said[-1]["content"]
    for end in range(1, len(results) + 1):
        live.before_request([*said[:-1], {"role": "user", "content": results[:end]}])
    assert model.asked == 3 and live.stopped
    live.before_request(said[:9])
    assert not live.stopped


def test_failures_stop_it_and_after_the_cool_down_it_tries_again() -> None:
    now, model = [0.0], Down()
    settings = Settings(cooldown=10.0, cooldown_seconds=60.0, hysteresis=0.0)
    live = Compactor(
        without_fallback("summarize"),
        model=model,
        window=4_000,
        settings=settings,
        clock=lambda: now[0],
    )
    messages = openai(60)
    spoken(live, messages[:200])
    assert live.stopped and model.asked == 3
    assert [one.misses for one in of(AutomaticStopped, live)] == [3]
    now[0] = 61.0
    assert not live.stopped
    spoken(live, messages[:260], 201)
    assert [one.why for one in of(AutomaticResumed, live)] == ["the pause is over"]
    assert live.stopped and model.asked == 4
    now[0], model.up = 122.0, True
    spoken(live, messages, 261)
    assert not live.stopped and of(CompactionEnded, live)


def test_it_tries_again_once_the_messages_have_grown() -> None:
    model = Down()
    settings = Settings(cooldown=0.1, hysteresis=0.0, last_resort=False)
    live = Compactor(
        without_fallback("summarize"),
        model=model,
        window=10_000,
        settings=settings,
        clock=lambda: 0.0,
    )
    spoken(live, openai(80))
    tries = of(AutomaticResumed, live)
    assert len(tries) > 2 and {one.why for one in tries} == {"the messages have grown"}
    assert model.asked == 3 + len(tries)


@pytest.mark.parametrize("preset", ["none", "operator_use", "docker_agent", "ex_athena"])
def test_the_last_resort_keeps_every_request_within_the_window(preset: str) -> None:
    messages = openai(60)
    live = Compactor(preset, model=Down(), window=4_000)
    judge = Compactor("none", window=10**9)
    for sent in spoken(live, messages):
        assert validators.openai_chat(sent) == []
        judge.before_request(sent)
        assert judge.tokens <= 4_000
    assert all(
        event.fits and event.tokens_after <= 4_000 < event.tokens_before
        for event in of(LastResort, live)
    )
    assert of(LastResort, live)
    assert live.original == messages


def test_a_host_may_switch_the_last_resort_off() -> None:
    messages = openai(60)
    assert (
        Compactor("none", window=4_000, settings=Settings(last_resort=False)).before_request(
            messages
        )
        == messages
    )
    assert (
        Compactor("none", window=4_000, settings=Settings(automatic=False)).before_request(messages)
        == messages
    )


def test_a_presets_own_count_does_not_hide_what_the_host_counts() -> None:
    def blind(message: Message) -> int:
        return 1

    live = Compactor(Preset("blind", Strategy("blind", ()), AtShare(), count=blind), window=4_000)
    assert len(live.before_request(openai(60))) < len(openai(60))


def test_the_last_resort_keeps_a_newest_message_that_fits_and_says_where_nothing_can() -> None:
    long = asked("word " * 4_500)
    live = Compactor("none", window=6_000)
    assert live.before_request([*openai(10), long])[-1] is long
    tight = Compactor("none", window=4_000, pins=lambda record: record["role"] == "user")
    tight.before_request([*openai(10), long])
    assert [event.fits for event in of(LastResort, tight)] == [False]


def test_the_last_resort_says_where_nothing_can_go() -> None:
    live = Compactor("none", window=4_000)
    live.before_request([{"role": "system", "content": "rule " * 4_000}, asked("so?")])
    assert of(LastResort, live) == [LastResort(live.tokens, live.tokens, 4_000, 0, fits=False)]


def test_the_last_resort_drops_old_messages_before_a_request_that_a_presets_own_count_weighs_more() -> (
    None
):
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
    }
    messages: list[Record] = []
    for n in range(11):
        shown = [{"type": "text", "text": f"Screenshot {n}"}, picture]
        messages += [{"role": "user", "content": shown}, {"role": "assistant", "content": "Seen."}]
    live = Compactor("operator_use", model=find_model("extractive"), window=16_000)
    sent = live.before_request([*messages, asked("Rename field_17 to column_17. " * 550)])
    assert sent[-1]["content"] == "Rename field_17 to column_17. " * 550 and len(sent) < len(
        messages
    )
    assert [event.fits for event in of(LastResort, live)] == [True] and live.tokens <= 16_000


@pytest.mark.parametrize(
    "preset", ["truncate", "none", "docker_agent", "clear_tool_uses", "observation_mask"]
)
def test_a_reminder_that_a_client_puts_beside_a_result_does_not_displace_what_the_person_asked(
    preset: str,
) -> None:
    reminder = {"type": "text", "text": "<system-reminder>The list is empty.</system-reminder>"}
    messages: list[Record] = [asked("Port module X to Rust.")]
    for call in ("a", "b"):
        use: Record = {"type": "tool_use", "id": call, "name": "read", "input": {}}
        result: Record = {"type": "tool_result", "tool_use_id": call, "content": "word " * 4_000}
        messages += [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result, reminder]},
        ]
    assert "Port module X to Rust." in str(
        Compactor(preset, model=find_model("extractive"), window=8_000).before_request(messages)
    )


@pytest.mark.parametrize("preset", sorted(BUILTIN_PRESETS))
def test_a_window_in_which_a_preset_never_compacts_is_told_at_construction(preset: str) -> None:
    small = [
        event.why
        for event in of(
            WindowTooSmall, Compactor(preset, model=find_model("extractive"), window=16_000)
        )
    ]
    if preset in ("operator_use", "docker_agent"):
        assert small[0].startswith(
            f"preset {preset!r} never compacts in a window of 16,000 tokens, since in a full"
        )
    else:
        assert small == []
    assert (
        of(WindowTooSmall, Compactor(preset, model=find_model("extractive"), window=128_000)) == []
    )


@pytest.mark.parametrize("is_in_the_messages", [True, False])
def test_a_window_that_the_system_prompt_fills_is_told_once(is_in_the_messages: bool) -> None:
    live = Compactor("truncate", window=2_000)
    prompt = "Work carefully. " * 1_000
    messages = openai(2)
    system = None if is_in_the_messages else prompt
    if is_in_the_messages:
        messages = [{"role": "system", "content": prompt}, *messages]
    for _ in range(2):
        live.before_request(messages, system=system)
    [told] = of(WindowTooSmall, live)
    assert told.why == (
        "system prompt and tools take 4,018 tokens of each request, and the window is 2,000:"
        " choose one of at least 8,036"
    )


def test_of_a_system_prompt_that_grows_it_is_told_once() -> None:
    live = Compactor("truncate", window=2_000)
    for turn in range(3):
        live.before_request(openai(2), system="Work carefully. " * (1_000 + turn))
    assert len(of(WindowTooSmall, live)) == 1


RULES = {"role": "system", "content": "Work carefully."}


def size_by_role(message: Message) -> int:
    """The system prompt, and any other message of that role, fills half of the window."""
    return 1_000 if message.role == "system" else 10


@pytest.mark.parametrize(("prompts", "is_told"), [(1, False), (2, True)])
def test_a_window_is_full_where_nothing_is_left_of_it(prompts: int, is_told: bool) -> None:
    live = Compactor("truncate", window=2_000, count=size_by_role)
    live.before_request([*(prompts * [RULES]), *openai(2)[1:]])
    assert bool(of(WindowTooSmall, live)) == is_told


def test_a_system_message_behind_others_may_go_and_fills_no_window() -> None:
    live = Compactor("truncate", window=2_000, count=size_by_role)
    live.before_request([RULES, *openai(2)[1:], RULES, *openai(2)[1:]])
    assert not of(WindowTooSmall, live)


class Nothing:
    """Finds nothing to do."""

    name = "nothing"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return None


def test_a_host_s_own_preset_is_judged_by_its_own_trigger_and_stages() -> None:
    (told,) = of(
        WindowTooSmall, Compactor(Preset("idle", Strategy("idle", (Nothing(),))), window=50_000)
    )
    assert (
        "'idle' never compacts in a window of 50,000 tokens" in told.why
        and "another preset" in told.why
    )


def test_a_window_that_an_error_states_is_judged_too() -> None:
    live = Compactor("operator_use", model=find_model("extractive"), window=128_000)
    messages = openai(20)
    live.before_request(messages)
    live.on_error("prompt is too long: 21346 tokens > 16000 maximum")
    live.before_request(messages)
    assert [event.window for event in of(WindowTooSmall, live)] == [16_000]


@pytest.mark.parametrize("preset", ["summarize", "operator_use", "docker_agent", "pi"])
def test_a_preset_that_first_of_all_asks_a_model_needs_one(preset: str) -> None:
    with pytest.raises(
        SettingError, match=f"preset '{preset}' asks a model for a summary: pass one as `model`"
    ):
        Compactor(preset)


@pytest.mark.parametrize(
    "preset", ["pipeline", "truncate", "none", "ex_athena", "observation_mask"]
)
def test_one_that_does_other_things_first_goes_without(preset: str) -> None:
    live = Compactor(preset, window=4_000)
    assert all(validators.openai_chat(sent) == [] for sent in spoken(live, openai(40)))


def test_by_hand_a_model_that_fails_is_an_error() -> None:
    live = Compactor("docker_agent", model=Down(), window=128_000)
    live.before_request(openai(12))
    with pytest.raises(ModelError, match="TimeoutError: no answer"):
        live.compact()
