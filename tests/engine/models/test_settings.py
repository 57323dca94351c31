"""A real model as a run asks it, through cache, checks and limits: behind a server on this
machine.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Provider, Reply, completion

from builders import called, conversation, result, said
from workbench import (
    Budget,
    Compaction,
    Context,
    ModelSettings,
    Refused,
    SettingError,
    Strategy,
    compact,
)
from workbench.engine.compaction.stages import Summarize
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions
from workbench.engine.transcript.message import Message


@pytest.fixture
def how(tmp_path: Path) -> ModelSettings:
    return ModelSettings(cache=tmp_path, run="r", on_bad_summary="keep")


def split_turn(words: str = "edited") -> list[Message]:
    """A conversation whose last turn is so long that its start is summarised apart."""
    turn: list[Message] = [said("refactor", "turn")]
    for i in range(20):
        turn += [called("edit", f"s{i}", path=f"b{i}.py"), result(f"{words} " * 40, f"s{i}")]
    return [*conversation(6, words=40), *turn]


def compacted(
    provider: Provider, how: ModelSettings, messages: list[Message] | None = None
) -> Compaction:
    context = Context.of(split_turn() if messages is None else messages)
    options = ProviderOptions(
        api_base=provider.address,
        tries=1,
        timeout=20.0,
        window=100_000,
        input_usd=1.0,
        output_usd=2.0,
    )
    model = how.model(LiteLLM("openai/stub", options))
    budget = Budget(target=int(0.4 * context.tokens), window=100_000)
    return compact(
        context,
        Strategy("s", (Summarize(stand_ins=replace(Summarize().stand_ins, fallback=None)),)),
        budget,
        model,
    )


def texts(done: Compaction) -> list[str]:
    return [answer.text for stage in done.stages for answer in stage.completions]


def of_both(provider: Provider, meets: threading.Barrier | None = None) -> None:
    """Let the server tell the two questions of a split turn apart."""

    def answered(asked: dict[str, Any]) -> Reply:
        start = "b0.py" in str(asked["messages"])
        return replace(completion("the start" if start else "the history"), meets=meets)

    provider.by = answered


def test_both_summaries_of_a_split_turn_are_on_the_way_at_the_same_time(
    provider: Provider, how: ModelSettings
) -> None:
    of_both(provider, meets=threading.Barrier(2))  # neither is answered before the other is asked
    compaction = compacted(provider, how)
    assert texts(compaction) == ["the history", "the start"]
    assert provider.most_open == 2


def test_without_a_cache_they_are_on_the_way_at_the_same_time_as_well(
    provider: Provider, how: ModelSettings
) -> None:
    of_both(provider, meets=threading.Barrier(2))
    assert texts(compacted(provider, replace(how, use_cache=False))) == ["the history", "the start"]


def test_of_two_questions_the_one_that_was_answered_before_is_not_asked(
    provider: Provider, how: ModelSettings
) -> None:
    of_both(provider)
    compacted(provider, how)
    # the history is the same, the start of the turn is not
    compaction = compacted(provider, how, split_turn("sorted"))
    assert texts(compaction) == ["the history", "the start"]
    assert len(provider.requests) == 3


def test_two_questions_wait_for_each_other_where_one_call_at_a_time_is_allowed(
    provider: Provider, how: ModelSettings
) -> None:
    of_both(provider)
    compaction = compacted(provider, replace(how, concurrency=1))
    assert texts(compaction) == ["the history", "the start"]
    assert provider.most_open == 1


def test_of_two_questions_the_limit_lets_through_what_it_can_pay_for(
    provider: Provider, how: ModelSettings
) -> None:
    of_both(provider)
    compacted(provider, replace(how, run="rich"))
    dear = replace(how, run="rich").ledger.spent
    poor = replace(how, max_usd=1.5 * dear, use_cache=False)
    with pytest.raises(Refused, match="limit"):
        compacted(provider, poor)
    assert poor.ledger.spent <= 1.5 * dear


def test_a_model_that_is_asked_one_by_one_stays_so_under_cache_and_checks(
    how: ModelSettings,
) -> None:
    class OneByOne(LiteLLM):
        at_once = False  # as a model that says nothing of it

    for model_settings in (how, replace(how, use_cache=False)):
        assert getattr(model_settings.model(LiteLLM("openai/stub")), "at_once", False)
        assert not getattr(model_settings.model(OneByOne("openai/stub")), "at_once", False)


def test_a_limit_is_refused_on_another_machine_which_could_not_keep_it(how: ModelSettings) -> None:
    model_settings = replace(how, machine="elsewhere")
    assert model_settings.model(LiteLLM("openai/stub")).name == "litellm:openai/stub"
    for limit in ({"max_usd": 1.0}, {"concurrency": 2}):
        with pytest.raises(SettingError, match="on one machine only"):
            replace(model_settings, **limit).model(LiteLLM("openai/stub"))
        assert (
            replace(model_settings, machine="", **limit).model(LiteLLM("openai/stub")) is not None
        )
