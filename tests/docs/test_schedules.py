"""The cheapest schedule of compactions, and what those of triggers cost beside it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain, combinations
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pytest
from priced import PRICED

from builders import conversation, rules
from workbench import Preset, Session, find_model, preset
from workbench.engine.transcript.message import Usage, chars_per_token
from workbench.evaluation.metrics.costs.replay_cost import replay_cost
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing

FILE = Path(__file__).parents[2] / "reports" / "studies" / "timing" / "schedules.py"
"""Loaded by its path: beside it are files with the names of our test folders."""
_SPEC = spec_from_file_location(FILE.stem, FILE)
assert _SPEC is not None and _SPEC.loader is not None
sys.modules[FILE.stem] = module_from_spec(_SPEC)
_SPEC.loader.exec_module(sys.modules[FILE.stem])


class Schedules(Protocol):
    """What these tests ask of the class of that name in the file."""

    session: Session
    sizing: Sizing
    places: Sequence[int]
    target: int
    before: npt.NDArray[np.int_]

    def cost(self, schedule: Sequence[int]) -> float: ...

    def feasible(self, schedule: Sequence[int]) -> bool: ...

    def cheapest(self) -> tuple[int, ...]: ...

    def under(self, preset: Preset) -> tuple[int, ...]: ...


_ANTHROPIC = PRICED["anthropic"]
SMALL = {
    "anthropic": replace(_ANTHROPIC, rules=replace(_ANTHROPIC.rules, minimum=0)),
    "not marked": replace(_ANTHROPIC, rules=replace(_ANTHROPIC.rules, minimum=0, marked=False)),
    "forgets": replace(
        _ANTHROPIC, rules=replace(_ANTHROPIC.rules, minimum=0, marked=False, forgets=True)
    ),
}
"""By the provider's cache, which holds prompts of any size."""


def session(turns: int, pause: int) -> Session:
    """Three requests a turn, ten seconds apart, and a long pause before one turn."""
    messages = [rules("be brief"), *conversation(turns, words=60)]
    steps = ((10.0 if message.id != f"u{pause}" else 900.0) for message in messages)
    now, timed = 0.0, []
    for message, step in zip(messages, steps, strict=True):
        now += step
        timed.append(replace(message, time=now))
    return Session.of(timed)


def schedules(
    strategy: str = "truncate",
    turns: int = 5,
    window: int = 2_000,
    pause: int = 3,
    cache: str = "anthropic",
    thinking: bool = False,
) -> Schedules:
    made = session(turns, pause)
    if thinking:
        usage = Usage(output=1, reasoning=1)
        made = Session.of(
            [replace(one, usage=usage) if one.role == "assistant" else one for one in made.messages]
        )
    sizing = Sizing.of(
        made, [chars_per_token(message) for message in made.messages], chars_per_token
    )
    loaded: Schedules = sys.modules[FILE.stem].Schedules(
        made,
        sizing,
        Index(made.messages),
        SMALL[cache],
        preset(strategy).strategy,
        find_model("extractive"),
        window=window,
    )
    return loaded


@pytest.mark.parametrize(
    ("strategy", "window"), [("truncate", 2_000), ("truncate", 900), ("summarize", 1_500)]
)
def test_no_other_schedule_is_cheaper(strategy: str, window: int) -> None:
    known = schedules(strategy, window=window)
    places = [n for n, size in enumerate(known.before) if size > known.target]
    best = known.cost(known.cheapest())
    others = chain.from_iterable(combinations(places, n) for n in range(4))
    allowed = [one for one in others if known.feasible(one)]
    assert len(allowed) > 10
    assert best == pytest.approx(min(map(known.cost, allowed)))


@pytest.mark.parametrize("forgets", [False, True])
def test_never_to_compact_costs_what_the_replay_without_compaction_costs(forgets: bool) -> None:
    """Also where the thinking of a turn leaves the prompt with the next one, which makes it
    dearer.
    """
    cache = "forgets" if forgets else "not marked"
    known = schedules(cache=cache, thinking=True)
    replay = natural(
        known.session, preset("none"), find_model("extractive"), known.sizing, window=2_000
    )
    bill = replay_cost(replay, SMALL[cache])
    assert bill is not None
    assert known.cost(()) == pytest.approx(bill.usd)
    kept = schedules(cache="not marked", thinking=True)
    assert (known.cost(()) > kept.cost(())) is forgets


def test_no_request_of_the_cheapest_schedule_exceeds_the_window() -> None:
    known = schedules(turns=12, window=900)
    assert known.feasible(known.cheapest())
    assert not known.feasible(())


def test_the_schedule_of_a_trigger_is_that_of_its_replay() -> None:
    known = schedules(turns=20, window=2_000)
    for how in (preset("truncate"), preset("truncate+price")):
        replay = natural(known.session, how, find_model("extractive"), known.sizing, window=2_000)
        compacted = [event.at for event in replay.events]
        assert compacted
        assert [known.places[n] for n in known.under(how)] == compacted


def test_by_price_comes_closer_to_the_cheapest_than_a_share_of_the_window_does() -> None:
    known = schedules(turns=20, window=3_000, pause=12)
    by_share, by_price = (
        known.cost(known.under(one)) for one in (preset("truncate"), preset("truncate+price"))
    )
    assert known.cost(known.cheapest()) <= by_price < by_share
