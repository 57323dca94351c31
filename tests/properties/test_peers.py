"""Every preset that restates a peer keeps the invariants of the engine, on random conversations and in long chains.

WORKBENCH_TESTS=full python -m pytest tests/properties/test_peers.py
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties.conversations import CASES, SHARES, Brief, context, shared
from properties.test_chain import RULE, Faithful, turn
from properties.test_every_strategy import promises, written

from builders import compact_if_due, rules, said
from workbench.compaction.engine import compact
from workbench.compaction.presets import NAMES, preset
from workbench.compaction.stage import Budget
from workbench.compaction.strategy import Preset
from workbench.compaction.trigger import Situation
from workbench.models.extractive import Extractive
from workbench.transcript.context import Context, OpenContext
from workbench.transcript.message import Message, Summary, Usage
from workbench.transcript.tokens import chars_per_token

OURS = {"none", "null", "truncate", "summarize", "pipeline"}
RESTATED = tuple(preset(name) for name in NAMES if name not in OURS)
SEEDS = {"opal", "operator_use", "ddx_agent", "ex_athena", "docker_agent"}
"""What more these promise stands in their own conformance tests."""
BATCH = 10
ROUNDS = CASES
"""Random conversations for each preset; ten presets and more share them."""
often = settings(max_examples=max(ROUNDS // BATCH, 1), deadline=None, derandomize=True, database=None)
every_restated = pytest.mark.parametrize("peer", RESTATED, ids=lambda peer: peer.name)


@lru_cache(maxsize=2_000)
def cases(seed: int) -> tuple[tuple[Context, Budget], ...]:
    """A batch of random contexts, each with a budget; made once for all presets."""
    return tuple(_cases(random.Random(seed)))


def _cases(rng: random.Random) -> Iterator[tuple[Context, Budget]]:
    for _ in range(BATCH):
        before = context(rng)
        yield (
            before,
            Budget(
                target=before.overhead + int(rng.choice(SHARES) * before.spoken),
                window=rng.choice((max(before.tokens, 1), 200, 10_000)),
                reason=rng.choice(("threshold", "matched", "overflow", "manual", "events")),
                force=rng.random() < 0.2,
                keep_recent=rng.choice((None, None, 0, 30, 100, 1_000)),
            ),
        )


@every_restated
@shared
@often
@given(seed=st.integers(0, 2**32))
def test_a_restated_peer_keeps_the_promises(peer: Preset, seed: int) -> None:
    for before, budget in cases(seed):
        frozen = written(before)
        done = compact(before, peer.strategy, budget, Brief())
        assert written(before) == frozen, "C8: the input was touched"
        promises(before, done, budget)
        assert compact(before, peer.strategy, budget, Brief()) == done, "C9: another result the second time"
        harder = replace(budget, target=0, force=True)
        once_more = compact(done.after, peer.strategy, harder, Brief())
        promises(done.after, once_more, harder)
        fresh = [message for message in once_more.after.messages if isinstance(message, Summary) and not message.pinned]
        assert len(fresh) <= 1 or peer.name in SEEDS, "C5: two summaries"


@every_restated
@shared
@settings(often, max_examples=max(often.max_examples // 10, 1))
@given(seed=st.integers(0, 2**32))
def test_the_promises_hold_with_the_offline_model_and_the_peers_own_trigger(peer: Preset, seed: int) -> None:
    for before, budget in cases(seed):
        reported = random.Random(seed).choice((None, Usage(input=budget.window // 2), Usage(input=3 * budget.window)))
        situation = Situation(
            tokens=before.tokens, window=budget.window, overhead=before.overhead, messages=len(before.messages),
            reported=reported, since=before.spoken // 3, requested=budget.force,
        )  # fmt: skip
        done = compact_if_due(before, peer, situation, Extractive())
        if done is not None:
            promises(before, done, done.budget)
            assert done.budget.target < max(before.tokens, 1) or peer.name in SEEDS, "a due context is above its target"
            assert compact_if_due(before, peer, situation, Extractive()) == done


@every_restated
@often
@given(st.data())
def test_more_messages_never_make_a_due_context_not_due(peer: Preset, data: st.DataObject) -> None:
    """D5, with the same report."""
    window = data.draw(st.sampled_from((1, 200, 8_000, 32_000, 128_000, 200_000, 1_000_000)))
    overhead = data.draw(st.integers(0, window))
    spoken, more, since = (data.draw(st.integers(0, 2 * window)) for _ in range(3))
    reported = data.draw(st.one_of(st.none(), st.integers(1, 2 * window).map(lambda n: Usage(input=n))))
    messages = data.draw(st.integers(0, 300))

    def due(extra: int) -> bool:
        situation = Situation(
            tokens=overhead + spoken + extra, window=window, overhead=overhead, reported=reported, since=since + extra,
            messages=messages + bool(extra),
        )  # fmt: skip
        return peer.trigger.check(situation) is not None

    assert not due(0) or due(more)


PEERS = tuple(peer for peer in RESTATED if peer.name not in SEEDS)
SUMMARIZING = tuple(peer for peer in PEERS if peer.name not in ("clear_tool_uses", "observation_mask"))
every_peer = pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)


@every_peer
def test_fifty_compactions_in_a_row_keep_every_promise(peer: Preset) -> None:
    """D14."""
    rng = random.Random(peer.name)
    first = replace(said(RULE, "first"), pinned=True)
    messages: list[Message] = [rules("be careful"), first]
    context, fired, n, model = Context.of(messages, peer.count or chars_per_token), 0, 0, Faithful()
    while fired < 50:
        n += 1
        context = Context.of([*context.messages, *turn(n, rng)], context.count)
        situation = Situation(tokens=context.tokens, window=6_000, messages=len(context.messages))
        done = compact_if_due(context, peer, situation, model)
        if done is not None:
            promises(context, done, done.budget)
            context, fired = done.after, fired + 1
    assert first in context.messages
    assert sum(isinstance(message, Summary) for message in context.messages) == (peer in SUMMARIZING)


@pytest.mark.parametrize("window", [32_000, 200_000])
@pytest.mark.parametrize("peer", SUMMARIZING, ids=lambda peer: peer.name)
def test_after_a_compaction_there_is_room_for_a_while(peer: Preset, window: int) -> None:
    """D6: a twentieth of the window may be said before the next one is due."""
    rng = random.Random(window)
    grown, n = OpenContext(Context.of([rules("be careful")], peer.count or chars_per_token)), 0
    while peer.trigger.check(situation := at(grown.tokens, window, len(grown.messages))) is None:
        n += 1
        for message in turn(n, rng):
            grown.append(message)
    done = compact_if_due(grown.closed(), peer, situation, Faithful())
    assert done is not None
    assert done.outcome == "compacted", done.why
    after = at(done.after.tokens + window // 20, window, len(done.after.messages) + 2)
    assert peer.trigger.check(after) is None


def at(tokens: int, window: int, messages: int) -> Situation:
    return Situation(tokens=tokens, window=window, messages=messages)
