"""What every strategy promises, on random conversations. The ids are those of the invariants: S structure, C contract,
D size."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties.conversations import BATCH, OFTEN, Brief, cases, often, shared

from builders import called, result, said, told
from workbench.compaction.engine import Compaction, compact
from workbench.compaction.guard import violations
from workbench.compaction.presets import preset
from workbench.compaction.stage import Budget
from workbench.compaction.stages import BUILTIN as STAGES
from workbench.compaction.strategy import Strategy
from workbench.models.extractive import Extractive
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, ToolResult, is_empty, plain_text, said_texts
from workbench.transcript.pairing import callers, last_user, protected

SURROGATE = re.compile("[\ud800-\udfff]")
ALONE = tuple(Strategy(f"only {name}", (stage(),)) for name, stage in STAGES.items())
OURS = ("none", "null", "truncate", "summarize", "pipeline")
"""Presets that restate another system are held to that system's own tables, and to what it promises."""
EVERY = tuple(preset(name).strategy for name in OURS) + ALONE
every_strategy = pytest.mark.parametrize("strategy", EVERY, ids=lambda strategy: strategy.name)


@every_strategy
@shared
@often
@given(seed=st.integers(0, 2**32))
def test_every_strategy_keeps_its_promises(strategy: Strategy, seed: int) -> None:
    for before, budget in cases(seed)[: BATCH // 2 if strategy in ALONE else BATCH]:
        frozen = written(before)
        done = compact(before, strategy, budget, Brief())
        assert written(before) == frozen, "C8: the input was touched"
        promises(before, done, budget)
        target_is_reached(before, done, budget, strategy.name)
        one_summary(done, strategy.name)
        again = compact(before, strategy, budget, Brief())
        assert again == done, "C9: another result the second time"


@pytest.mark.parametrize("name", ["null", "truncate", "summarize", "pipeline"])
@shared
@often
@given(seed=st.integers(0, 2**32))
def test_every_preset_goes_on_from_its_own_result(name: str, seed: int) -> None:
    """C5, D3, D14: within the target nothing more happens; above it another pass keeps the promises too."""
    strategy = preset(name).strategy
    for before, budget in cases(seed)[: BATCH // 2]:
        calm = Budget(target=budget.target, window=budget.window)
        once = compact(before, strategy, calm, Brief())
        twice = compact(once.after, strategy, calm, Brief())
        promises(once.after, twice, calm)
        if once.outcome == "compacted":
            assert twice.after is once.after, "D3: compacted again within the target"


def promises(before: Context, done: Compaction, budget: Budget) -> None:
    after = done.after
    assert not done.violations, done.violations
    assert not violations(before, after), "the whole step broke what no stage did"
    assert not violations(after, done.sent), "the view broke something"
    assert after.tokens <= before.tokens, "D1"
    assert after.tokens == after.overhead + sum(map(after.count, after.messages)), "D8: size and thing drifted apart"
    pinned_stay(before, after)
    order_stays(before, after)
    pairs_stay(before, done.after)
    pairs_stay(before, done.sent)
    newest_user_stays(before, after, budget)
    texts_are_whole(before, after)
    target_or_reason(before, done, budget)
    for ref in after.archive.keys() - before.archive.keys():
        assert any(plain_text(message) == after.archive[ref] for message in before.messages), "C7: it was never said"


def written(context: Context) -> list[str]:
    """The only part of a context that can be changed in place: arguments."""
    return [call.arguments_json() for message in context.messages for call in getattr(message, "calls", ())]


def pinned_stay(before: Context, after: Context) -> None:
    kept = set(map(id, after.messages))
    lost = [message for message in before.messages if message.pinned and id(message) not in kept]
    assert not lost, f"C2: {lost}"


def order_stays(before: Context, after: Context) -> None:
    place = {message.id: i for i, message in enumerate(before.messages)}
    places = [place[message.id] for message in after.messages if message.id in place]
    assert places == sorted(places), "C1"


def pairs_stay(before: Context, after: Context) -> None:
    """S1, S2: whole pairs stay whole, and what is between a call and its result was there before."""
    open_before, orphans_before = faults(before.messages)
    open_after, orphans_after = faults(after.messages)
    assert open_after <= open_before and orphans_after <= orphans_before, "S1"
    new = {message.id for message in after.messages} - {message.id for message in before.messages}
    for answer, caller in callers(after.messages).items():
        assert not new & {message.id for message in after.messages[caller:answer]}, "S3: something parts a pair"


def faults(messages: tuple[Message, ...]) -> tuple[set[tuple[str, str]], set[str]]:
    """The calls without a result, and the results without a call."""
    caller_of = callers(messages)
    answered = {(messages[caller].id, messages[i].call_id) for i, caller in caller_of.items()}  # type: ignore[union-attr]
    asked = {(message.id, call.id) for message in messages for call in getattr(message, "calls", ())}
    results = [i for i, message in enumerate(messages) if isinstance(message, ToolResult)]
    return asked - answered, {messages[i].id for i in results if i not in caller_of}


def newest_user_stays(before: Context, after: Context, budget: Budget) -> None:
    """C3: verbatim, or cut with a marker where it does not fit beside what is pinned."""
    i = last_user(before.messages)
    if i is None:
        return
    newest = before.messages[i]
    now = next((message for message in after.messages if message.id == newest.id), None)
    assert now is not None, "C3"
    if now != newest:
        floor = before.overhead + sum(before.sizes[j] for j in protected(before.messages))
        assert floor > budget.target or named(before), "C3: cut though there was room"
        assert "left out" in plain_text(now)


def texts_are_whole(before: Context, after: Context) -> None:
    """S7, S13: nothing empty was written, and no character was split."""
    old = set(map(id, before.messages))
    for message in after.messages:
        if id(message) not in old:
            assert not is_empty(message), "S7"
            lone = lone_surrogates([message])
            assert not lone or lone <= lone_surrogates(before.messages), "S13"


def lone_surrogates(messages: object) -> set[str]:
    """The lone surrogates in the messages, with their neighbours, each pair of surrogates taken as one character."""
    found = set()
    for message in messages:  # type: ignore[attr-defined]
        for text in said_texts(message):
            if SURROGATE.search(text):
                joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
                found |= {"lone"} if "�" in joined else set()
    return found


def target_or_reason(before: Context, done: Compaction, budget: Budget) -> None:
    """D2: what is above the target says so, and names the floor."""
    if done.sent.tokens > budget.target:
        assert done.outcome in ("too_large", "unchanged")
        assert "are protected" in done.why


def named(context: Context) -> bool:
    """Whether a name may add to what a strategy protects."""
    return any(message.name for message in context.messages)


def target_is_reached(before: Context, done: Compaction, budget: Budget, name: str) -> None:
    """D2: wherever what is protected leaves room, the strategies that promise it reach the target."""
    if name not in ("truncate", "summarize", "pipeline") or (name == "pipeline" and named(before)):
        return
    if before.overhead + sum(before.sizes[i] for i in protected(before.messages)) <= budget.target:
        assert done.sent.tokens <= budget.target, "D2: there was room"
        assert done.outcome in ("compacted", "unchanged")


def one_summary(done: Compaction, name: str) -> None:
    """C5, but for summaries that are pinned."""
    if name in ("summarize", "pipeline"):
        live = [message for message in done.after.messages if isinstance(message, Summary) and not message.pinned]
        assert len(live) <= 1, "C5"


@pytest.mark.parametrize("name", ["summarize", "pipeline"])
@shared
@settings(often, max_examples=max(OFTEN // BATCH // 10, 1))
@given(seed=st.integers(0, 2**32))
def test_the_promises_hold_with_the_offline_model_too(name: str, seed: int) -> None:
    for before, budget in cases(seed):
        done = compact(before, preset(name).strategy, budget, Extractive())
        promises(before, done, budget)
        assert compact(before, preset(name).strategy, budget, Extractive()) == done


HUGE = "0123456789" * 1_000_000
HUGE_MESSAGES: dict[str, list[Message]] = {
    "user": [said(HUGE)],
    "assistant": [said("go"), told(HUGE)],
    "argument": [said("go"), called("write", "c", path="a.py", content=HUGE), result("ok", "c")],
    "result": [said("go"), called("read", "c", path="a.py"), result(HUGE, "c")],
    "result in the middle": [
        said("go"),
        called("read", "c"),
        result(HUGE, "c"),
        told("done"),
        said("next", "u2"),
        told("ok", "a2"),
    ],
    "pinned": [replace(said(HUGE), pinned=True), told("ok")],
}


@every_strategy
@pytest.mark.parametrize("where", HUGE_MESSAGES)
def test_a_single_message_of_ten_megabytes_is_survived(strategy: Strategy, where: str) -> None:
    """D9."""
    before = Context.of(HUGE_MESSAGES[where])
    budget = Budget(target=2_000, window=100_000)
    done = compact(before, strategy, budget, Brief())
    promises(before, done, budget)
    if strategy.name in ("truncate", "summarize", "pipeline") and where != "pinned":
        assert done.outcome == "compacted"
