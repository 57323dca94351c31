"""A gateway on this machine that falls back to a smaller model and returns to the large one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from live.strict_server import Refused, StrictServer, running
from live.talk import Record, asked, back, used

from workbench import Compactor

LARGE = 40_000
SMALL = 12_000
TURN_SECONDS = 20.0
TURNS = 100
FALLBACK = range(30, 52)
RESULT = "a line of a log that says nothing new " * 100


@dataclass
class Gateway:
    """Serves one model's name with two models; in some turns only the small one answers.

    Attributes:
        fallbacks: the turns in which the small model answers.
        turn: the present one.
        sizes: tokens of the requests that it took, by turn.
        refused: the turns in which it refused a request.
    """

    fallbacks: tuple[range, ...]
    turn: int = 0
    sizes: dict[int, int] = field(default_factory=dict)
    refused: list[int] = field(default_factory=list)

    def __call__(self, messages: Sequence[Record]) -> str:
        window = LARGE
        if any(self.turn in turns for turns in self.fallbacks):
            window = SMALL
        tokens = len(json.dumps(messages)) // 4
        if tokens > window:
            self.refused.append(self.turn)
            return f"prompt is too long: {tokens} tokens > {window} maximum"
        self.sizes[self.turn] = tokens
        return ""


def worked(gateway: Gateway, turns: int = TURNS, preset: str = "truncate") -> Compactor:
    """The compactor of an agent that reads a result of about a thousand tokens in each turn."""
    live = Compactor(
        preset, model="extractive", window=LARGE, clock=lambda: gateway.turn * TURN_SECONDS
    )
    messages = [asked("Read the log.")]
    with running(gateway) as server:
        for turn in range(turns):
            gateway.turn = turn
            sent = live.before_request(messages, model="gateway")
            _ask(server, live, sent)
            if turn in gateway.sizes:
                live.report_usage({"prompt_tokens": gateway.sizes[turn]})
            messages += [used(f"call_{turn}"), back(f"call_{turn}", f"{turn} {RESULT}")]
    return live


def _ask(server: StrictServer, live: Compactor, sent: list[Record]) -> None:
    """Send a request, and again as often as the compactor says."""
    while True:
        try:
            return server.ask(sent)
        except Refused as error:
            retry = live.on_error(error, model="gateway")
        if retry is None:
            return
        sent = retry.messages


@pytest.mark.parametrize("preset", ["truncate", "pi"])
def test_a_smaller_model_behind_a_gateway_refuses_a_few_requests_and_each_turn_is_answered(
    preset: str,
) -> None:
    gateway = Gateway((FALLBACK,))
    worked(gateway, preset=preset)
    assert 1 <= len(gateway.refused) <= 3
    assert sorted(gateway.sizes) == list(range(TURNS))


def test_of_a_long_fallback_ever_fewer_requests_are_refused() -> None:
    gateway = Gateway((range(30, 150),))
    worked(gateway, turns=150)
    assert len(gateway.refused) <= 5
    pauses = [later - turn for turn, later in pairwise(gateway.refused)]
    assert pauses == sorted(pauses)


def test_the_larger_window_is_used_again_once_the_large_model_is_back() -> None:
    gateway = Gateway((FALLBACK,))
    live = worked(gateway)
    assert max(gateway.sizes[turn] for turn in range(FALLBACK.stop, TURNS)) > SMALL
    assert live.window == LARGE


def test_a_smaller_window_that_is_known_is_believed_at_once_in_the_next_fallback() -> None:
    second = range(85, 95)
    gateway = Gateway((FALLBACK, second))
    worked(gateway)
    assert len([turn for turn in gateway.refused if turn in second]) == 1


def answered_before(tokens: int) -> Compactor:
    """An agent whose model answered a request of so many tokens."""
    live = Compactor("truncate", window=200_000, clock=lambda: 0.0)
    live.before_request([asked("Read the log.")], model="gateway/m")
    live.report_usage({"prompt_tokens": tokens})
    return live


def test_a_limit_that_an_error_states_for_the_model_by_name_is_believed_at_once() -> None:
    live = answered_before(90_000)
    live.on_error("prompt is too long for gateway/m: 90000 tokens > 60000 maximum")
    assert live.window == 60_000


def test_a_limit_below_an_answered_request_is_believed_when_it_is_stated_again() -> None:
    live = answered_before(90_000)
    windows = []
    for limit in (60_000, 50_000, 60_000):
        live.on_error(f"prompt is too long: 90000 tokens > {limit} maximum")
        windows.append(live.window)
    assert windows == [200_000, 200_000, 60_000]


def test_a_limit_that_was_stated_before_the_agent_was_saved_is_believed_when_it_is_stated_again() -> (
    None
):
    error = "prompt is too long: 90000 tokens > 60000 maximum"
    live = answered_before(90_000)
    live.on_error(error)
    loaded = Compactor.load(live.save(), clock=lambda: 0.0)
    assert loaded.window == 200_000
    loaded.before_request([asked("Read the log.")], model="gateway/m")
    loaded.on_error(error)
    assert loaded.window == 60_000
