"""D1 to D14: sizes, budgets, triggers, and what happens over many requests, for every preset and
every stage.
"""

from __future__ import annotations

import random

import pytest
from preset_names import BUILTIN_PRESETS
from properties import dynamics
from properties.chats import Record
from properties.dynamics import LONG
from properties.extremes import huge
from properties.holding import every_preset, every_subject, holds, known
from properties.invariants import EVERY, LET_OFF
from properties.requests import ended, openai
from properties.steps import SUBJECTS, Words, due, step, steps
from properties.test_fifty_compactions import turn

from builders import compact_if_due, conversation, rules
from profiles import examples
from workbench import (
    Budget,
    Cancel,
    Compactor,
    Context,
    Hooks,
    Settings,
    Situation,
    find_model,
    preset,
)
from workbench.engine.transcript.context import OpenContext, protected
from workbench.engine.transcript.message import chars_per_token
from workbench.live.events import AutomaticStopped, CompactionEnded, CompactionStarted, LastResort

WINDOWING = ("none", "null", "truncate", "stage keep_floor", "stage truncate")
"""Those that only choose what stays. The others write a summary or markers whose size depends on
the budget, or choose by age and number and not by the budget; for them more room may mean another
choice.
"""
REWRITES = (
    "stage budget_reduction",
    "stage snip",
    "stage microcompact",
    "stage context_collapse",
    "stage repair_pairs",
)
OURS = ("none", "null", "truncate", "summarize", "pipeline", "scored")
SEEDS = ("opal", "operator_use", "ddx_agent", "ex_athena", "docker_agent")
PEERS = tuple(name for name in BUILTIN_PRESETS if name not in OURS + SEEDS)
BY_HAND = Settings(automatic=False)


@every_subject("D1")
def test_d1_no_compaction_makes_a_context_larger(name: str) -> None:
    """What comes out has at most the tokens of what went in, kept or sent."""
    holds("D1", name)


@every_subject("D2")
def test_d2_the_target_is_reached_or_what_is_protected_is_named(name: str) -> None:
    """Above the target the outcome says so, and says how many tokens nobody may touch: overhead,
    pins, newest user.
    """
    holds("D2", name)


@pytest.mark.parametrize("name", ["truncate", "summarize", "pipeline"])
def test_d2_our_own_reach_the_target_wherever_what_is_protected_leaves_room(name: str) -> None:
    """The pipeline protects named messages besides, so conversations with names do not count for
    it.
    """
    missed = []
    for one in steps(name):
        named = any(message.name for message in one.before.messages)
        floor = one.before.overhead + sum(
            one.before.sizes[i] for i in protected(one.before.messages)
        )
        if floor <= one.budget.target < one.done.sent.tokens and not (name == "pipeline" and named):
            missed.append(one.case)
    assert missed == []


@every_subject("D3")
def test_d3_what_is_within_its_target_is_left_alone(name: str) -> None:
    """Compacting a result that reached its target changes nothing; a stage that only rewrites is
    done.
    """
    assert dynamics.d3(SUBJECTS[name], steps(name), only_rewrites=name in REWRITES) == []


@pytest.mark.parametrize("name", WINDOWING)
def test_d4_with_more_room_no_message_is_lost(name: str) -> None:
    """Where a strategy only chooses what stays, a larger target keeps at least what a smaller
    one keeps.
    """
    broken = dynamics.d4(SUBJECTS[name])
    known("D4", name, broken)
    assert broken == []


@every_preset
def test_d5_more_messages_never_make_a_due_context_not_due(name: str) -> None:
    """With the same report of usage, present, missing, stale or larger than the window, a
    trigger is monotone.
    """
    assert dynamics.d5(preset(name).trigger, random.Random(name)) == []


def grown(name: str, window: int, settings: Settings) -> tuple[Compactor, list[Record]]:
    """A compactor that just compacted by itself, and what it had been given."""
    live = Compactor(name, model=find_model("extractive"), window=window, settings=settings)
    for end in range(1, len(LONG)):
        if LONG[end]["role"] == "assistant":
            live.before_request(LONG[:end])
        else:
            live.after_turn(LONG[:end])
        if ended(live):
            return live, LONG[:end]
    return live, LONG[:]


@every_preset
def test_d6_a_compaction_is_not_followed_by_another_until_the_messages_have_grown(
    name: str,
) -> None:
    """Whatever the trigger says, nothing starts by itself before the hysteresis is used up: for any
    preset, also one that is due at once by design.
    """
    live, messages = grown(name, 2_000, Settings(hysteresis=0.05))
    assert name == "none" or any(
        isinstance(event, CompactionStarted | AutomaticStopped | LastResort)
        for event in live.events
    )
    assert dynamics.d6(live, messages) == []


@pytest.mark.parametrize("window", [32_000, 200_000])
@pytest.mark.parametrize(
    "name", [name for name in PEERS if name not in ("clear_tool_uses", "observation_mask")]
)
def test_d6_after_a_compaction_a_twentieth_of_the_window_may_be_said_before_the_next_is_due(
    name: str, window: int
) -> None:
    """Of a peer that summarises, by its own trigger."""
    rng, peer = random.Random(window), preset(name)
    grown, n = OpenContext(Context.of([rules("be careful")], peer.count or chars_per_token)), 0
    while peer.trigger.check(situation := at(grown.tokens, window, len(grown.messages))) is None:
        n += 1
        for message in turn(n, rng):
            grown.append(message)
    compaction = compact_if_due(grown.closed(), peer, situation, Words())
    assert compaction is not None and compaction.outcome == "compacted"
    assert (
        peer.trigger.check(
            at(compaction.after.tokens + window // 20, window, len(compaction.after.messages) + 2)
        )
        is None
    )


def at(tokens: int, window: int, messages: int) -> Situation:
    return Situation(tokens=tokens, window=window, messages=messages)


@pytest.mark.parametrize("name", PEERS)
def test_d6_what_is_due_is_above_its_target(name: str) -> None:
    """Or a peer would be due again at once. The seeds' targets are their systems', see their own
    tables.
    """
    assert [one.case for one in due(name) if one.budget.target >= max(one.before.tokens, 1)] == []


@every_preset
def test_d7_compactions_without_effect_stop_and_by_hand_one_still_starts(name: str) -> None:
    """Where everything is pinned and the trigger always says yes, three are the last; by hand it
    still works.
    """
    settings = Settings(trigger=preset("null").trigger, hysteresis=0.0)
    live = Compactor(
        name,
        model=find_model("extractive"),
        window=2_000,
        settings=settings,
        pins=lambda message: True,
    )
    assert dynamics.d7(live) == []


@every_subject("D8")
def test_d8_sizes_before_and_after_are_of_one_counter(name: str) -> None:
    """A context's size is its overhead and the count of each of its messages, before and after."""
    holds("D8", name)


@every_preset
def test_d8_what_the_events_say_is_what_is_sent(name: str) -> None:
    """Through a compactor the sizes before and after are those of whole requests, by one
    counter.
    """
    for lived in openai(name):
        sized = [
            event for event in lived.live.events if isinstance(event, CompactionEnded | LastResort)
        ]
        assert all(event.tokens_after <= event.tokens_before for event in sized)
        # the last resort counts by the larger of two counts
        if isinstance(sized[-1], CompactionEnded):
            assert lived.live.tokens == sized[-1].tokens_after


@every_subject("D9")
@pytest.mark.parametrize("where", list(huge(10)))
def test_d9_one_huge_message_is_survived(name: str, where: str) -> None:
    """A message larger than the window, wherever it stands: it is cut with a mark, or the
    outcome says why.
    """
    before = Context.of(huge(examples(1_000_000))[where])
    done = step(name, where, before, Budget(target=2_000, window=8_000, reason="matched"))
    held = {rule: check for rule, check in EVERY.items() if (rule, name) not in LET_OFF}
    assert {rule: faults for rule, check in held.items() if (faults := check(done))} == {}


@every_preset
def test_d10_usage_from_before_a_compaction_is_ignored(name: str) -> None:
    """A report about a request that was sent before the history was compacted moves nothing, nor
    another model's.
    """
    assert dynamics.d10(Compactor(name, model=find_model("extractive"), window=100_000)) == []


@every_preset
def test_d11_what_is_said_during_a_compaction_survives_it(name: str) -> None:
    """A message that is queued while it runs stands behind its result; a history that was taken
    back keeps its own.
    """

    def make(hooks: Hooks) -> Compactor:
        return Compactor(
            name, model=find_model("extractive"), window=100_000, settings=BY_HAND, hooks=hooks
        )

    assert dynamics.d11(make) == []


def _raise(*_: object) -> None:
    raise RuntimeError("the host is broken")


CANCELS: dict[str, Hooks] = {
    "the host says no": Hooks(before=lambda due: Cancel()),
    "a hook breaks": Hooks(before=_raise),
    "a hook breaks at a stage": Hooks(before_stage=_raise),
}


@every_preset
@pytest.mark.parametrize("how", CANCELS)
def test_d12_a_compaction_that_is_broken_off_leaves_the_old_history(name: str, how: str) -> None:
    """Cancelled by the host or broken off by an error, before it or at a stage: the next request
    is the whole list.
    """
    live = Compactor(
        name, model=find_model("extractive"), window=100_000, settings=BY_HAND, hooks=CANCELS[how]
    )
    assert dynamics.d12(live) == []


@every_preset
def test_d13_counting_costs_what_changed_for_a_check_and_the_length_for_a_compaction(
    name: str,
) -> None:
    """A request counts only the messages that are new; a compaction counts each a fixed number
    of times.
    """

    def make(count: dynamics.Counted) -> Compactor:
        return Compactor(name, model=find_model("extractive"), window=1_000_000, count=count)

    assert dynamics.d13_check(make) == []
    for turns in (25, 100):
        assert dynamics.d13_compaction(SUBJECTS[name], conversation(turns)) == []
