"""D1 to D14: sizes, budgets, triggers, and what happens over many requests, for every preset and every stage."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
import validators
from properties.chats import Record, long_chat
from properties.extremes import huge
from properties.holding import every_preset, every_subject, holds
from properties.invariants import EVERY
from properties.requests import begun, ended, openai
from properties.steps import PRESETS, SUBJECTS, Words, conversations, step, steps

from builders import conversation
from workbench.compaction.engine import Compaction, compact
from workbench.compaction.live.compactor import Compactor
from workbench.compaction.live.events import (
    AutomaticStopped,
    CompactionCancelled,
    CompactionFailed,
    UsageIgnored,
)
from workbench.compaction.live.hooks import Cancel, Due, Hooks
from workbench.compaction.live.settings import Settings
from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Always, Situation
from workbench.models.extractive import Extractive
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Usage
from workbench.transcript.tokens import chars_per_token

WINDOWING = ("none", "null", "truncate", "stage keep_floor", "stage truncate")
"""Those that only choose what stays. The others write a summary or markers whose size depends on the budget, or choose
by age and number and not by the budget; for them more room may mean another choice."""
REWRITES = (
    "stage budget_reduction",
    "stage snip",
    "stage microcompact",
    "stage context_collapse",
    "stage repair_pairs",
)
LONG = long_chat(9)
"""One host's conversation of some hundred messages."""
BY_HAND = Settings(automatic=False)


@every_subject("D1")
def test_d1_no_compaction_makes_a_context_larger(name: str) -> None:
    """What comes out has at most the tokens of what went in, kept or sent."""
    holds("D1", name)


@every_subject("D2")
def test_d2_the_target_is_reached_or_what_is_protected_is_named(name: str) -> None:
    """Above the target the outcome says so, and says how many tokens nobody may touch: overhead, pins, newest user."""
    holds("D2", name)


@every_subject("D3")
def test_d3_what_is_within_its_target_is_left_alone(name: str) -> None:
    """Compacting a result that reached its target changes nothing; a stage that only rewrites is done."""
    for one in steps(name):
        if one.done.outcome == "compacted" and not one.budget.force:
            again = compact(one.after, SUBJECTS[name], one.budget, Words())
            assert again.after is one.after and again.sent.messages == one.done.sent.messages, one.case
        if name in REWRITES:
            assert compact(one.after, SUBJECTS[name], one.budget, Words()).after is one.after, one.case


@pytest.mark.parametrize("name", WINDOWING)
def test_d4_with_more_room_no_message_is_lost(name: str) -> None:
    """Where a strategy only chooses what stays, a larger target keeps at least what a smaller one keeps."""
    for case, before, _ in conversations():
        kept: set[str] = set()
        for share in (0.0, 0.05, 0.2, 0.5, 0.9):
            budget = Budget(target=before.overhead + int(share * before.spoken), window=max(before.tokens, 1))
            done = compact(before, SUBJECTS[name], budget, Words())
            now = {message.id for message in done.after.messages}
            assert kept <= now, (case, share, kept - now)
            kept = now


@every_preset
def test_d5_more_messages_never_make_a_due_context_not_due(name: str) -> None:
    """With the same report of usage, present, missing, stale or larger than the window, a trigger is monotone."""
    rng, trigger = random.Random(name), PRESETS[name].trigger
    for _ in range(300):
        window = rng.choice((1, 200, 8_000, 32_000, 200_000, 1_000_000))
        overhead, reported = (
            rng.randint(0, window),
            rng.choice((None, Usage(), Usage(input=rng.randint(1, 3 * window)))),
        )
        spoken, since, count, was = rng.randint(0, window), rng.randint(0, window), rng.randint(0, 300), False
        for extra in sorted(rng.randint(0, 2 * window) for _ in range(6)):
            situation = Situation(
                tokens=overhead + spoken + extra, window=window, overhead=overhead, messages=count + extra // 100,
                reported=reported, since=since + extra,
            )  # fmt: skip
            now = trigger.check(situation) is not None
            assert now or not was, situation
            was = now


def grown(name: str, window: int, **options: object) -> tuple[Compactor, list[Record]]:
    """A compactor that just compacted by itself, and what it had been given."""
    live = Compactor(name, model=Extractive(), window=window, **options)  # type: ignore[arg-type]
    for end in range(1, len(LONG)):
        if LONG[end]["role"] == "assistant":
            live.before_request(LONG[:end])
        else:
            live.after_turn(LONG[:end])
        if ended(live):
            return live, LONG[:end]
    return live, LONG[:]


@every_preset
def test_d6_a_compaction_is_not_followed_by_another_until_the_messages_have_grown(name: str) -> None:
    """Whatever the trigger says, nothing starts by itself before the hysteresis is used up: for any preset, also one
    that is due at once by design."""
    live, messages = grown(name, 2_000, settings=Settings(hysteresis=0.05))
    fired = begun(live)
    assert fired or name == "none"
    for word in range(10):
        messages = [*messages, {"role": "user", "content": f"more {word}"}]
        live.before_request(messages)
        live.after_turn(messages)
    assert begun(live) == fired


@every_preset
def test_d7_compactions_without_effect_stop_and_by_hand_one_still_starts(name: str) -> None:
    """Where everything is pinned and the trigger always says yes, three are the last; by hand it still works."""
    settings = Settings(trigger=Always(), hysteresis=0.0)
    live = Compactor(name, model=Extractive(), window=2_000, settings=settings, pins=lambda message: True)
    for end in range(1, 60):
        live.before_request(LONG[:end])
        live.after_turn(LONG[:end])
    assert live.stopped
    assert sum(isinstance(event, AutomaticStopped) for event in live.events) == 1
    fired = begun(live)
    live.compact()
    assert begun(live) == fired + 1


@every_subject("D8")
def test_d8_sizes_before_and_after_are_of_one_counter(name: str) -> None:
    """A context's size is its overhead and the count of each of its messages, before and after."""
    holds("D8", name)


@every_preset
def test_d8_what_the_events_say_is_what_is_sent(name: str) -> None:
    """Through a compactor the sizes before and after are those of whole requests, by one counter."""
    for lived in openai(name):
        for event in ended(lived.live):
            assert event.tokens_after <= event.tokens_before
        assert lived.live.tokens == ended(lived.live)[-1].tokens_after


@every_preset
@pytest.mark.parametrize("where", list(huge(10)))
def test_d9_one_huge_message_is_survived(name: str, where: str) -> None:
    """A message larger than the window, wherever it stands: it is cut with a mark, or the outcome says why."""
    before = Context.of(huge(1_000_000)[where])
    done = step(name, where, before, Budget(target=2_000, window=8_000, reason="matched"))
    assert {rule: faults for rule, check in EVERY.items() if (faults := check(done))} == {}


@every_preset
def test_d10_usage_from_before_a_compaction_is_ignored(name: str) -> None:
    """A report about a request that was sent before the history was compacted moves nothing, nor another model's."""
    live = Compactor(name, model=Extractive(), window=100_000)
    live.before_request(LONG, model="one")
    live.compact()
    known, changed = live.tokens, bool(ended(live)) and ended(live)[-1].outcome != "unchanged"
    if changed:
        assert live.report_usage({"prompt_tokens": 99_000}, model="one") is None
        assert isinstance(live.events[-1], UsageIgnored) and live.tokens == known
    live.before_request(LONG, model="one")
    assert live.report_usage({"prompt_tokens": 99_000}, model="another") is None
    assert isinstance(live.events[-1], UsageIgnored) and live.tokens == known


@every_preset
def test_d11_what_is_said_during_a_compaction_survives_it(name: str) -> None:
    """A message that is queued while it runs stands behind its result; a history that was taken back keeps its own."""
    later = [*LONG, {"role": "user", "content": "one thing more"}]
    happens: list[Callable[[], object]] = []

    def before(due: Due) -> None:
        if happens:
            happens.pop()()

    live = Compactor(name, model=Extractive(), window=100_000, settings=BY_HAND, hooks=Hooks(before=before))
    live.before_request(LONG)
    happens.append(lambda: live.before_request(later))
    live.compact()
    sent = live.before_request(later)
    assert sent[-1] == later[-1] and live.original == later
    assert validators.openai_chat(sent) == []

    live = Compactor(name, model=Extractive(), window=100_000, settings=BY_HAND, hooks=Hooks(before=before))
    live.before_request(LONG)
    early = [*LONG[:3], {"role": "user", "content": "no, this"}]
    happens.append(lambda: live.before_request(early))
    live.compact()
    assert live.before_request(early) == early and live.original == early


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
    """Cancelled by the host or broken off by an error, before it or at a stage: the next request is the whole list."""
    live = Compactor(name, model=Extractive(), window=100_000, settings=BY_HAND, hooks=CANCELS[how])
    live.before_request(LONG)
    try:
        live.compact()
        stopped = any(isinstance(event, CompactionCancelled) for event in live.events)
        assert stopped or (how == "a hook breaks at a stage" and ended(live)[-1].outcome == "unchanged")
    except RuntimeError:
        assert isinstance(live.events[-1], CompactionFailed)
    assert live.before_request(LONG) == LONG and live.original == LONG


@every_preset
def test_d13_counting_costs_what_changed_for_a_check_and_the_length_for_a_compaction(name: str) -> None:
    """A request counts only the messages that are new; a compaction counts each a fixed number of times."""
    counted: list[str] = []

    def count(message: Message) -> int:
        counted.append(message.id)
        return chars_per_token(message)

    live = Compactor(name, model=Extractive(), window=1_000_000, count=count)
    live.before_request(LONG)
    counted.clear()
    live.before_request([*LONG, {"role": "user", "content": "and now?"}])
    assert len(counted) <= 1
    for turns in (25, 100):
        messages = conversation(turns)
        assert _counted(name, messages) <= COUNTS * len(messages) + 60


COUNTS = 3
"""How often a compaction may count each message: once for every preset at its end, and some try twice."""


def _counted(name: str, messages: Sequence[Message]) -> int:
    calls = 0

    def count(message: Message) -> int:
        nonlocal calls
        calls += 1
        return chars_per_token(message)

    made = Context.of(messages)
    before = Context(made.messages, made.sizes, 0, count)
    done: Compaction = compact(
        before, SUBJECTS[name], Budget(target=made.tokens // 4, window=made.tokens, reason="matched"), Words()
    )
    assert done.before is before
    return calls
