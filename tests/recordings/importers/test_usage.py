from __future__ import annotations

from workbench.engine.transcript.message import Usage
from workbench.recordings.importers.usage import ANTHROPIC_USAGE, GEMINI_USAGE, OPENAI_USAGE


def test_openai_counts_the_cached_part_within_its_prompt_and_anthropic_beside_it() -> None:
    given = {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    assert OPENAI_USAGE.read(given) == Usage(input=40, cache_read=60, output=9)
    given = {
        "input_tokens": 40,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 7,
        "output_tokens": 9,
    }
    assert ANTHROPIC_USAGE.read(given) == Usage(input=40, cache_read=60, cache_write=7, output=9)
    hour = {
        **given,
        "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 5},
    }
    assert ANTHROPIC_USAGE.read(hour) == Usage(
        input=40, cache_read=60, cache_write=7, output=9, cache_write_long=5
    )
    assert OPENAI_USAGE.read({}) is None
    assert ANTHROPIC_USAGE.read({"input_tokens": 0}) is None


def test_a_cache_that_is_larger_than_the_prompt_is_beside_it() -> None:
    report = {
        "prompt_tokens": 19,
        "completion_tokens": 175,
        "prompt_tokens_details": {"cached_tokens": 10_386},
    }
    assert OPENAI_USAGE.read(report) == Usage(input=19, cache_read=10_386, output=175)


def test_what_gemini_searched_for_an_answer_is_a_part_of_its_prompt() -> None:
    report = {
        "prompt_token_count": 50,
        "tool_use_prompt_token_count": 311,
        "candidates_token_count": 20,
        "thoughts_token_count": 5,
        "total_token_count": 386,
    }
    assert GEMINI_USAGE.read(report) == Usage(input=361, output=25, reasoning=5)


def test_a_total_without_the_thoughts_tells_that_the_output_has_them_all() -> None:
    report = {
        "prompt_tokens": 561,
        "completion_tokens": 1_652,
        "total_tokens": 2_213,
        "completion_tokens_details": {"reasoning_tokens": 1_881},
    }
    assert OPENAI_USAGE.read(report) == Usage(input=561, output=1_652, reasoning=1_652)
    beside = {**report, "total_tokens": 2_213 + 1_881}
    assert OPENAI_USAGE.read(beside) == Usage(input=561, output=3_533, reasoning=1_881)
    unknown = {name: report[name] for name in report if name != "total_tokens"}
    assert OPENAI_USAGE.read(unknown) == Usage(input=561, output=3_533, reasoning=1_881)


def test_what_only_the_total_of_openai_s_names_has_was_thought() -> None:
    report = {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 100}
    assert OPENAI_USAGE.read(report) == Usage(input=50, output=50, reasoning=41)
    gemini = {"prompt_token_count": 50, "candidates_token_count": 9, "total_token_count": 100}
    assert GEMINI_USAGE.read(gemini) == Usage(input=50, output=50, reasoning=41)
    told = {"completion_tokens_details": {"reasoning_tokens": 4}}
    assert OPENAI_USAGE.read({**report, **told}) == Usage(input=50, output=9, reasoning=4)
    assert OPENAI_USAGE.read({"total_tokens": 100}) is None
