from dataclasses import replace

from builders import called, result, said
from workbench import Budget, Context
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.transcript.message import Message

STAGE = STAGES["shorten_unseen"]()
WAITING: list[Message] = [said("Read it."), called("read", "c"), result("word " * 2_000, "c")]


def test_a_new_result_is_cut_to_what_leaves_a_summary_its_room() -> None:
    context = Context.of(WAITING)
    plan = STAGE.plan(context, Budget(target=1_000, window=4_000))
    assert plan is not None
    assert 600 < plan.apply(context).tokens <= 820


def test_a_result_that_was_seen_is_left_to_other_stages() -> None:
    context = Context.of([*WAITING, called("read", "d"), result("done", "d")])
    assert STAGE.plan(context, Budget(target=1_000, window=4_000)) is None


def test_nothing_is_cut_where_a_comparison_sets_the_size() -> None:
    budget = Budget(target=1_000, window=4_000, reason="matched")
    assert STAGE.plan(Context.of(WAITING), budget) is None


def test_a_pinned_result_stays_whole() -> None:
    pinned = replace(WAITING[2], pinned=True)
    context = Context.of([*WAITING[:2], pinned])
    assert STAGE.plan(context, Budget(target=1_000, window=4_000)) is None


def test_where_no_room_is_left_nothing_is_cut() -> None:
    assert STAGE.plan(Context.of(WAITING), Budget(target=20, window=4_000)) is None
