from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from engine.models.windows import window_of
from priced import priced_as


def row(name: str) -> str:
    """The row of the table of prices that a name stands for."""
    tariff = priced_as(name).priced.tariff
    assert tariff is not None
    return tariff.row


@pytest.mark.parametrize("name", ["gpt-4.1", "openai/gpt-4.1", "openai:gpt-4.1"])
def test_a_name_may_name_its_provider_as_agents_libraries_do(name: str) -> None:
    assert window_of(f"litellm:{name}") == 1_047_576
    assert row(name) == row("gpt-4.1")


def test_a_dated_name_has_its_window_and_prices() -> None:
    found = priced_as("claude-opus-4-5-20251101").priced.tariff
    assert window_of("litellm:claude-opus-4-5-20251101") == 200_000
    assert found is not None
    assert (
        0
        < found.rates.cache_read
        < found.rates.input
        < found.rates.cache_write
        < found.rates.output
    )


@pytest.mark.parametrize(
    "name",
    [
        "claude-opus-4-5",
        "anthropic/claude-opus-4-5-20251101",
        "claude-opus-4.5",
        "us.anthropic.claude-opus-4-5-20251101-v1:0",
        "openrouter/anthropic/claude-opus-4.5",
        "some-gateway/claude-opus-4-5",
        "Claude-Opus-4-5",
    ],
)
def test_a_name_is_found_however_it_is_written(name: str) -> None:
    assert window_of(f"litellm:{name}") == 200_000


def test_a_date_that_the_table_does_not_know_falls_back_to_the_model() -> None:
    assert row("gpt-4o-2031-01-01") == "gpt-4o"


def test_a_small_sibling_is_not_taken_for_the_model() -> None:
    assert row("gpt-4o-mini") == "gpt-4o-mini"
    large = priced_as("gpt-4o").priced.tariff
    small = priced_as("gpt-4o-mini-2024-07-18").priced.tariff
    assert large is not None and small is not None and small.rates.input < large.rates.input


@pytest.mark.parametrize(
    "name", ["extractive", "no-such-model-9", "sample_spec", "dall-e-3", "/", "<synthetic>"]
)
def test_an_unknown_model_has_neither_window_nor_price(name: str) -> None:
    assert window_of(f"litellm:{name}") is None
    priced = priced_as(name).priced
    assert priced.why == f"no price is known for the model {name!r}" and priced.model != name


def test_a_model_without_cache_prices_pays_the_full_price_for_cached_input() -> None:
    found = priced_as("gpt-4").priced.tariff
    assert (
        found is not None and found.rates.cache_read == found.rates.cache_write == found.rates.input
    )


def test_prices_name_the_row_they_stand_in() -> None:
    assert row("some-gateway/gpt-4o") == "gpt-4o"


def test_looking_up_a_price_does_not_import_litellm() -> None:
    ask = "wb.SummaryRequest(purpose='question', system='', write=str)"
    loads = f"import sys, workbench as wb; wb.find_model('litellm:gpt-4o').window({ask})"
    code = f"{loads}; assert 'litellm' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


WITHOUT_LITELLM = """
import importlib.util

find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "litellm" else find(name, *rest)

import workbench as wb

question = wb.SummaryRequest(purpose="question", system="", write=lambda _: "why?")
try:
    wb.find_model("litellm:gpt-4o").window(question)
except wb.SetupError as error:
    print(error)
"""


def test_a_missing_table_names_what_to_install() -> None:
    command = [sys.executable, "-c", WITHOUT_LITELLM]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "litellm" in answer.stdout and "pip install" in answer.stdout
