from __future__ import annotations

import pytest

from workbench import SettingError
from workbench.engine.models.cache_rules import (
    ANTHROPIC,
    NO_CACHE,
    OPENAI,
    CacheRules,
    rules_for,
)
from workbench.engine.models.prices import given_tariff, tariff


def rules_of(model: str, *, hour: bool = False) -> CacheRules:
    """What the provider of a model with a price caches."""
    priced = tariff(model)
    assert priced is not None
    return rules_for(priced, model, hour=hour)


def test_prices_are_by_the_token_and_not_by_the_million() -> None:
    priced = tariff("claude-opus-4-5")
    assert priced is not None
    rates = priced.rates
    assert (rates.input, rates.output) == (5e-6, 25e-6)
    assert (rates.cache_read, rates.cache_write, rates.cache_write_long) == (0.5e-6, 6.25e-6, 10e-6)


def test_a_long_prompt_pays_the_dearer_tier_for_all_of_it() -> None:
    found = tariff("claude-sonnet-4-5")
    assert found is not None
    assert found.at(200_000).input == 3e-6
    dear = found.at(200_001)
    assert (dear.input, dear.output, dear.cache_read) == (6e-6, 22.5e-6, 0.6e-6)
    assert dear.cache_write == pytest.approx(7.5e-6)
    assert dear.cache_write_long == pytest.approx(12e-6)


@pytest.mark.parametrize("model", ["", "no-such-model-9", "gpt-5.3-codex-spark"])
def test_a_model_without_a_price_has_no_tariff(model: str) -> None:
    assert tariff(model) is None


def test_prices_of_one_s_own_are_by_the_million() -> None:
    rates = given_tariff("input=3, output=15, cache_read=0.3, cache_write=3.75").rates
    assert rates.input == pytest.approx(3e-6)
    assert rates.cache_write == rates.cache_write_long == pytest.approx(3.75e-6)
    plain = given_tariff("input=1,output=2").rates
    assert plain.cache_read == plain.cache_write == plain.input


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("input=3", "have no output"),
        ("", "no input and no output"),
        ("input=3,output=x", "no amount"),
        ("input=-1,output=2", "no amount"),
        ("input=nan,output=2", "no amount"),
        ("in=3,output=2", "not a price"),
    ],
)
def test_a_price_that_makes_no_sense_says_what_would(text: str, told: str) -> None:
    with pytest.raises(SettingError, match=told):
        given_tariff(text)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-opus-4-5", "Anthropic, 5 minutes"),
        ("openrouter/anthropic/claude-opus-4.5", "Anthropic, 5 minutes"),
        ("gpt-5.5", "OpenAI, automatic"),
        ("gpt-5.6", "OpenAI, writes charged"),
        ("gemini-2.5-pro", "Gemini, implicit"),
        ("deepseek/deepseek-chat", "DeepSeek, on disk"),
        ("xai/grok-4", "automatic, rules not published"),
        ("gpt-4", "no cache"),
    ],
)
def test_each_provider_has_its_own_rules(model: str, name: str) -> None:
    assert rules_of(model).name == name


def test_the_hour_is_taken_where_the_recording_says_so() -> None:
    assert rules_of("claude-opus-4-5", hour=True).seconds == 3_600
    assert rules_of("gpt-5.4", hour=True) == OPENAI


def test_a_model_has_its_own_minimum() -> None:
    assert rules_of("claude-opus-4-5").minimum == 4_096
    assert rules_of("claude-sonnet-4-5").minimum == 1_024


@pytest.mark.parametrize(
    ("model", "read"),
    [
        ("gpt-5.4", 29_952),
        ("gpt-5.5", 29_696),
        ("gpt-5.6", 29_696),
        ("gemini-3.1-pro-preview", 23_400),
        ("gemini-3-flash-preview", 28_672),
    ],
)
def test_some_models_read_whole_blocks_of_their_own(model: str, read: int) -> None:
    assert rules_of(model).cached(40_000, 30_001, 30_001, 500, 1.0) == read


@pytest.mark.parametrize(
    ("rules", "prefix", "read"),
    [
        (ANTHROPIC, 30_001, 30_001),
        (OPENAI, 30_001, 29_952),
        (rules_of("deepseek/deepseek-chat"), 30_001, 29_952),
        (rules_of("gemini-2.5-pro"), 30_001, 30_001),
        (NO_CACHE, 30_001, 0),
        (OPENAI, 1_023, 0),
        (OPENAI, 1_024, 1_024),
        (OPENAI, 1_151, 1_024),
        (OPENAI, 1_152, 1_152),
        (ANTHROPIC, 1_023, 0),
        (ANTHROPIC, 1_024, 1_024),
    ],
)
def test_a_prefix_is_cut_to_the_block_and_must_reach_the_minimum(
    rules: CacheRules, prefix: int, read: int
) -> None:
    assert rules.cached(40_000, prefix, prefix, 500, 1.0) == read
    assert rules.cached(40_000, prefix, prefix, 500, None) == read


@pytest.mark.parametrize(
    ("waited", "read"), [(None, 9_000), (0.0, 9_000), (300.0, 9_000), (300.5, 0)]
)
def test_a_prefix_dies_after_its_lifetime(waited: float | None, read: int) -> None:
    assert ANTHROPIC.cached(10_000, 9_000, 9_000, 2_000, waited) == read


def test_a_prompt_that_was_cut_in_the_middle_finds_the_head_alone_where_places_are_marked() -> None:
    assert ANTHROPIC.cached(60_000, 50_000, 90_000, 20_000, 1.0) == 20_000
    assert OPENAI.cached(60_000, 50_000, 90_000, 20_000, 1.0) == 49_920
    assert ANTHROPIC.cached(60_000, 5_000, 90_000, 20_000, 1.0) == 5_000
