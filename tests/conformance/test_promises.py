"""The presets that restate a system keep the invariants of the engine on random conversations too."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties.conversations import CASES, SHARES, Brief, context
from properties.test_every_strategy import promises, written

from workbench.compaction.engine import compact
from workbench.compaction.presets import preset
from workbench.compaction.presets.opal import OPAL_TRUNCATE
from workbench.compaction.stage import Budget
from workbench.compaction.strategy import Strategy
from workbench.transcript.message import Summary

RESTATED = (*(preset(name).strategy for name in ("opal", "operator_use", "ddx_agent")), OPAL_TRUNCATE.strategy)
often = settings(max_examples=max(CASES // 40, 1), deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize("strategy", RESTATED, ids=lambda strategy: strategy.name)
@often
@given(seed=st.integers(0, 2**32))
def test_a_restated_system_keeps_the_promises(strategy: Strategy, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        before = context(rng)
        budget = Budget(
            target=before.overhead + int(rng.choice(SHARES) * before.spoken),
            window=rng.choice((max(before.tokens, 1), 200, 10_000)),
            reason=rng.choice(("threshold", "matched", "overflow", "manual")),
            force=rng.random() < 0.2,
            keep_recent=rng.choice((None, None, 0, 30, 100, 1_000)),
        )
        frozen = written(before)
        done = compact(before, strategy, budget, Brief())
        assert written(before) == frozen, "C8: the input was touched"
        promises(before, done, budget)
        assert compact(before, strategy, budget, Brief()) == done, "C9: another result the second time"
        once_more = compact(done.after, strategy, replace(budget, target=0, force=True), Brief())
        promises(done.after, once_more, replace(budget, target=0, force=True))
        fresh = [message for message in once_more.after.messages if isinstance(message, Summary) and not message.pinned]
        assert len(fresh) <= 1, "C5: two summaries"
