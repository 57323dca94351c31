"""A provider's report of a request is read in every form, and its trigger is told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from workbench import Budget, Compactor, Preset, Situation, preset
from workbench.engine.transcript.message import Usage

TALK = [
    {"role": "user", "content": "Which files are old?"},
    {"role": "assistant", "content": "None."},
    {"role": "user", "content": "And the others?"},
]


class Told:
    """A trigger that is never due, and keeps what it is told."""

    name = "told"

    def __init__(self) -> None:
        self.situations: list[Situation] = []

    def check(self, situation: Situation, /) -> Budget | None:
        self.situations.append(situation)
        return None


def reported(report: Any) -> Usage | None:
    """What a trigger is told of the request before, which a provider reported so."""
    trigger = Told()
    live = Compactor(Preset("told", preset("truncate").strategy, trigger), window=10_000)
    live.before_request(TALK[:1])
    live.report_usage(report)
    live.before_request(TALK)
    return trigger.situations[-1].reported


@pytest.mark.parametrize(
    ("given", "prompt", "cached", "output"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 60}}, 100, 60, 9),
        ({"input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30, "output_tokens": 9},
         100, 60, 9),
        ({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 9}, 100, 60, 9),
        (SimpleNamespace(prompt_tokens=100, completion_tokens=9, prompt_tokens_details=None), 100, 0, 9),
        (SimpleNamespace(prompt_tokens=100.0, completion_tokens=9,
                         prompt_tokens_details=SimpleNamespace(cached_tokens=60)), 100, 60, 9),
        ({"prompt_tokens": 100, "completion_tokens": -1, "service_tier": "auto"}, 100, 0, 0),
        ({"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 9}, 100, 60, 9),
        (Usage(input=40, cache_read=60, output=9), 100, 60, 9),
    ],
)  # fmt: skip
def test_usage_is_read_in_every_providers_form(
    given: Any, prompt: int, cached: int, output: int
) -> None:
    usage = reported(given)
    assert usage is not None
    assert (usage.prompt, usage.cache_read, usage.output) == (prompt, cached, output)


@pytest.mark.parametrize(
    "given", [None, {}, {"prompt_tokens": 0}, {"prompt_tokens": None}, {"input_tokens": -1}]
)
def test_a_report_that_says_nothing_is_none(given: Any) -> None:
    assert reported(given) is None
