from __future__ import annotations

import pytest
from priced import PRICED, priced_as


def test_prices_are_by_the_token_and_not_by_the_million() -> None:
    tariff = priced_as("claude-opus-4-5").priced.tariff
    assert tariff is not None
    rates = tariff.rates
    assert (rates.input, rates.output) == (5e-6, 25e-6)
    assert (rates.cache_read, rates.cache_write, rates.cache_write_long) == (0.5e-6, 6.25e-6, 10e-6)


def test_a_long_prompt_pays_the_dearer_tier_for_all_of_it() -> None:
    tariff = priced_as("claude-sonnet-4-5").priced.tariff
    assert tariff is not None
    assert tariff.at(200_000).input == 3e-6
    dear = tariff.at(200_001)
    assert (dear.input, dear.output, dear.cache_read) == (6e-6, 22.5e-6, 0.6e-6)
    assert dear.cache_write == pytest.approx(7.5e-6)
    assert dear.cache_write_long == pytest.approx(12e-6)


@pytest.mark.parametrize("model", ["", "no-such-model-9", "gpt-5.3-codex-spark"])
def test_a_model_without_a_price_is_priced_as_another(model: str) -> None:
    priced = priced_as(model).priced
    assert priced.model != model and priced.why.startswith("no price is known for")


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
    assert priced_as(model).priced.rules.name == name


def test_the_hour_is_taken_where_the_recording_says_so() -> None:
    assert priced_as("claude-opus-4-5", hour=True).priced.rules.seconds == 3_600
    of_openai = priced_as("gpt-5.4", hour=True).priced.rules
    assert of_openai == priced_as("gpt-5.4").priced.rules


def test_a_model_has_its_own_minimum() -> None:
    assert priced_as("claude-opus-4-5").priced.rules.minimum == 4_096
    assert priced_as("claude-sonnet-4-5").priced.rules.minimum == 1_024


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
    assert priced_as(model).priced.rules.cached(40_000, 30_001, 30_001, 500, 1.0) == read


@pytest.mark.parametrize(
    ("model", "prefix", "read"),
    [
        ("claude-sonnet-4-5", 30_001, 30_001),
        ("gpt-5.4", 30_001, 29_952),
        ("deepseek/deepseek-chat", 30_001, 29_952),
        ("gemini-2.5-pro", 30_001, 30_001),
        ("gpt-4", 30_001, 0),
        ("gpt-5.4", 1_023, 0),
        ("gpt-5.4", 1_024, 1_024),
        ("gpt-5.4", 1_151, 1_024),
        ("gpt-5.4", 1_152, 1_152),
        ("claude-sonnet-4-5", 1_023, 0),
        ("claude-sonnet-4-5", 1_024, 1_024),
    ],
)
def test_a_prefix_is_cut_to_the_block_and_must_reach_the_minimum(
    model: str, prefix: int, read: int
) -> None:
    rules = priced_as(model).priced.rules
    assert rules.cached(40_000, prefix, prefix, 500, 1.0) == read
    assert rules.cached(40_000, prefix, prefix, 500, None) == read


@pytest.mark.parametrize(
    ("waited", "read"), [(None, 9_000), (0.0, 9_000), (300.0, 9_000), (300.5, 0)]
)
def test_a_prefix_dies_after_its_lifetime(waited: float | None, read: int) -> None:
    rules = PRICED["anthropic"].rules
    assert rules.cached(10_000, 9_000, 9_000, 2_000, waited) == read


def test_a_prompt_that_was_cut_in_the_middle_finds_the_head_alone_where_places_are_marked() -> None:
    anthropic, openai = PRICED["anthropic"].rules, PRICED["openai"].rules
    assert anthropic.cached(60_000, 50_000, 90_000, 20_000, 1.0) == 20_000
    assert openai.cached(60_000, 50_000, 90_000, 20_000, 1.0) == 49_920
    assert anthropic.cached(60_000, 5_000, 90_000, 20_000, 1.0) == 5_000
