"""What the engine records of a stage is what a look at every message shows."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from builders import conversation, rules, said
from workbench import (
    Budget,
    Compaction,
    Context,
    Plan,
    Replace,
    Strategy,
    compact,
    find_model,
    preset,
)
from workbench.engine.transcript.context import OpenContext
from workbench.engine.transcript.message import Message

BUDGET = Budget(target=0, window=5_000)
LONG = (rules("be brief"), *conversation(30, words=80))


@dataclass(frozen=True)
class Careless:
    """Drops, doubles, moves and rewrites messages as it comes."""

    chance: random.Random = field(default_factory=random.Random)
    name: str = "careless"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        start = self.chance.randrange(len(context.messages))
        some = context.messages[self.chance.randrange(len(context.messages))]
        by: tuple[Message, ...] = self.chance.choice(
            [
                (),
                (some,),
                (replace(some, pinned=True),),
                (context.messages[start], some),
                (said("new", "new"),),
            ]
        )
        return Plan((Replace(start, start + self.chance.randrange(2), by),))


def compacted(context: Context, seed: int) -> Compaction:
    return compact(
        context,
        Strategy("careless", (Careless(random.Random(seed)),)),
        BUDGET,
        find_model("extractive"),
    )


def touched(
    before: Context, after: Context
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Message, ...]]:
    """What a stage dropped, rewrote and wrote, by a look at every message."""
    kept = {message.id: message for message in after.messages}
    return (
        tuple(one.id for one in before.messages if one.id not in kept),
        tuple(one.id for one in before.messages if one.id in kept and kept[one.id] is not one),
        tuple(one for one in after.messages if all(one is not old for old in before.messages)),
    )


@pytest.mark.parametrize(
    "ids", [str, lambda id: "same" if id.startswith("u") else id], ids=["single", "double"]
)
def test_the_records_say_what_a_stage_did(ids: Callable[[str], str]) -> None:
    messages = tuple(replace(one, id=ids(one.id)) for one in LONG[:40])
    broken = 0
    for seed in range(300):
        fresh = Context.of(messages)
        stages = compacted(fresh, seed).stages
        plan = Careless(random.Random(seed)).plan(fresh, BUDGET)
        assert plan is not None
        for record in stages:
            assert (record.dropped, record.rewritten, record.wrote) == touched(
                fresh, plan.apply(fresh)
            )
        broken += bool(stages and stages[0].violations)
    assert broken > 20


@pytest.mark.parametrize("name", ["clear_tool_uses", "observation_mask"])
def test_a_plan_that_is_not_carried_out_is_made_again(name: str) -> None:
    (stage,) = preset(name).strategy.stages
    context = Context.of(LONG)
    first = stage.plan(context, BUDGET)
    assert first is not None and stage.plan(context, BUDGET) == first
    grown = OpenContext(context)
    grown.append(said("go on", "more"))
    again = stage.plan(grown.closed(), BUDGET)
    assert again is not None and again.edits[: len(first.edits)] == first.edits


@pytest.mark.parametrize("name", ["clear_tool_uses", "observation_mask"])
def test_what_stays_for_being_new_goes_when_it_is_not(name: str) -> None:
    (stage,) = preset(name).strategy.stages
    grown = OpenContext(Context.of(LONG[:8]))
    assert stage.plan(grown.closed(), BUDGET) is None
    for message in LONG[8:]:
        grown.append(message)
    plan, fresh = stage.plan(grown.closed(), BUDGET), stage.plan(Context.of(LONG), BUDGET)
    assert plan is not None and plan == fresh


@pytest.mark.parametrize("name", ["clear_tool_uses", "observation_mask"])
def test_what_another_stage_put_back_is_taken_out_again(name: str) -> None:
    (stage,) = preset(name).strategy.stages
    context = Context.of(LONG)
    plan = stage.plan(context, BUDGET)
    assert plan is not None
    cleared = plan.apply(context)
    assert stage.plan(cleared, BUDGET) is None
    back = plan.edits[0].start
    unclear = Plan((Replace(back, back + 1, (context.messages[back],)),)).apply(cleared)
    again = stage.plan(unclear, BUDGET)
    assert again is not None and [edit.start for edit in again.edits] == [back]
