"""When a compaction pays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import rules, said, told
from workbench import Session, Situation, find_model, preset
from workbench.engine.compaction.timing import ByPrice, CachePrices, prices_of
from workbench.engine.transcript.message import Message, chars_per_token
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing

WINDOW = 100_000
NOW = Situation(tokens=60_000, window=WINDOW, requests=100, said=120_000, idle=20.0)
FREE = ByPrice(summary=0.0, prices=CachePrices())
"""For a strategy that asks no model."""


def talk(requests: int, *, pauses: dict[int, float] | None = None, words: int = 40) -> Session:
    """A request each ten seconds, or after a longer pause before some."""
    messages: list[Message] = [rules("be brief")]
    now = 0.0
    for n in range(requests):
        now += (pauses or {}).get(n, 10.0)
        messages.append(replace(said(f"question {n} " + "word " * words, f"u{n}"), time=now))
        messages.append(replace(told(f"answer {n} " + "word " * words, f"a{n}"), time=now + 1))
    return Session.of(messages)


def compacted_before(session: Session, trigger: ByPrice, window: int = 4_000) -> list[int]:
    counted = [chars_per_token(message) for message in session.messages]
    sizing = Sizing.of(session, counted, chars_per_token)
    how = replace(preset("truncate"), trigger=trigger)
    return [
        event.at
        for event in natural(session, how, find_model("extractive"), sizing, window=window).events
    ]


def test_a_full_window_is_due_whatever_it_costs() -> None:
    budget = FREE.check(Situation(tokens=95_000, window=WINDOW))
    assert budget is not None
    assert (budget.target, budget.reason) == (40_000, "threshold")
    assert FREE.check(Situation(tokens=94_999, window=WINDOW)) is None


def test_after_a_pause_that_the_cache_does_not_outlive_it_is_due_with_less_to_gain() -> None:
    early = replace(NOW, tokens=45_000)
    assert FREE.check(early) is None
    cold = FREE.check(replace(early, idle=301.0))
    assert cold is not None
    assert cold.reason == "price"


def test_a_pause_of_unknown_length_counts_as_none() -> None:
    assert FREE.check(replace(NOW, tokens=45_000, idle=None)) is None


def test_a_warm_cache_waits_until_as_much_goes_as_is_cheapest_in_the_long_run() -> None:
    # The square root of 2 * 40,000 * 1.15 * 1,200 / 0.1 is 33,226 tokens over the target of 40,000.
    assert FREE.check(replace(NOW, tokens=73_000)) is None
    assert FREE.check(replace(NOW, tokens=73_300)) is not None


def test_a_conversation_that_has_hardly_begun_is_not_expected_to_go_on_until_it_pays() -> None:
    due = replace(NOW, tokens=80_000)
    assert FREE.check(due) is not None
    assert FREE.check(replace(due, requests=5, said=6_000)) is None


def test_what_the_window_will_soon_make_due_anyway_has_little_time_to_pay() -> None:
    assert FREE.check(replace(NOW, tokens=80_000)) is not None
    assert FREE.check(replace(NOW, tokens=94_000)) is None


def test_a_summary_by_a_model_must_pay_too() -> None:
    due = replace(NOW, tokens=73_300)
    assert ByPrice(prices=CachePrices()).check(due) is None
    assert ByPrice(prices=CachePrices()).check(replace(due, said=500_000, idle=301.0)) is None
    assert ByPrice(prices=CachePrices()).check(replace(due, said=50_000, idle=301.0)) is not None


def test_prices_are_those_of_the_agents_model() -> None:
    assert prices_of("gpt-5.5").write == 1
    assert prices_of("gpt-5.5").seconds == 1_800
    assert prices_of("a model of my own") == prices_of("") == CachePrices()


@pytest.mark.parametrize("model", ["gpt-5.5", "claude-sonnet-4-5"])
def test_how_long_a_cache_lives_decides_what_a_pause_means(model: str) -> None:
    cold = replace(NOW, tokens=45_000, idle=900.0, model=model)
    assert (ByPrice(summary=0.0).check(cold) is not None) == (model == "claude-sonnet-4-5")


def test_a_replay_compacts_after_the_pause_and_not_before_it() -> None:
    steady = compacted_before(talk(40), FREE)
    paused = compacted_before(talk(40, pauses={25: 900.0}), FREE)
    at = talk(40).requests[25]
    assert at in paused
    assert at not in steady


def test_an_answer_that_takes_long_is_no_pause_before_its_request() -> None:
    steady = talk(40)
    slow = steady.requests[25]
    late = [
        replace(one, time=(one.time or 0.0) + 900.0 * (place >= slow))
        for place, one in enumerate(steady.messages)
    ]
    assert compacted_before(Session.of(late), FREE) == compacted_before(steady, FREE)


def test_nothing_that_comes_later_changes_what_is_due_now() -> None:
    session = talk(60, pauses={20: 900.0, 41: 900.0})
    every = compacted_before(session, FREE)
    assert len(every) > 1
    for at in every:
        beginning = Session.of(session.messages[: at + 1])
        assert compacted_before(beginning, FREE) == [one for one in every if one <= at]


def test_a_preset_by_price_keeps_its_strategy_and_its_target() -> None:
    found = preset("summarize+recall+price")
    assert found.name == "summarize+recall+price"
    assert found.strategy.stages == preset("summarize").strategy.stages
    assert found.strategy.recall
    assert found.trigger == ByPrice(target=0.4, summary=0.5)
    assert preset("truncate+price").trigger == ByPrice(target=0.4, summary=0.0)
