"""What every stage promises by itself, on random conversations; for stages that are not ours
too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from properties.steps import budgets, conversations

from workbench import Budget, Context, Plan, Summary
from workbench.engine.compaction.plan import Draft
from workbench.engine.compaction.stages import BUILTIN
from workbench.engine.transcript.message import Message, plain_text

every_stage = pytest.mark.parametrize("name", BUILTIN)
REWRITES = ("budget_reduction", "snip", "microcompact", "context_collapse", "supersede")


def cases() -> Iterator[tuple[Context, Budget]]:
    for case, before in conversations():
        for budget in budgets(case, before):
            yield before, budget


@every_stage
def test_the_same_context_gives_the_same_plan(name: str) -> None:
    """C9; and edits are in order, inside the context, and change something."""
    stage = BUILTIN[name]()
    for context, budget in cases():
        plan = stage.plan(context, budget)
        assert plan == stage.plan(context, budget)
        if plan is not None:
            assert plan.edits
            assert all(one.stop <= other.start for one, other in pairwise(plan.edits))
            assert all(edit.by != context.messages[edit.start : edit.stop] for edit in plan.edits)


@pytest.mark.parametrize("name", REWRITES)
def test_what_a_cheap_stage_writes_is_smaller_one_by_one_and_done_once(name: str) -> None:
    """D1, D3."""
    stage = BUILTIN[name]()
    for context, budget in cases():
        plan = stage.plan(context, budget)
        if plan is None:
            continue
        after = plan.apply(context)
        assert len(after.messages) == len(context.messages)
        changed = [
            i for i, message in enumerate(after.messages) if message is not context.messages[i]
        ]
        assert len(changed) == len(plan.edits)
        assert all(after.sizes[i] < context.sizes[i] for i in changed)
        assert all(after.messages[i].id == context.messages[i].id for i in changed)
        assert stage.plan(after, budget) is None


def test_no_plan_depends_on_what_the_ids_are() -> None:
    """A stage is blind: with other ids for the same messages it keeps, drops and rewrites the
    same ones.
    """
    stage = BUILTIN["truncate"]()
    for context, budget in cases():
        other = Context(
            tuple(_renamed(message) for message in context.messages),
            context.sizes,
            context.overhead,
            context.count,
        )
        plan, same = stage.plan(context, budget), stage.plan(other, budget)
        assert _shape(plan) == _shape(same)


def _shape(plan: Plan | None) -> list[tuple[int, int, list[str]]]:
    edits = plan.edits if plan is not None else ()
    return [
        (edit.start, edit.stop, [plain_text(new) for new in edit.by if not isinstance(new, Draft)])
        for edit in edits
    ]


def _renamed(message: Message) -> Message:
    return message if isinstance(message, Summary) else replace(message, id=f"other-{message.id}")


def test_the_conversations_are_not_all_alike() -> None:
    """The generator makes what it says: empty, short and long contexts, and all kinds of
    messages.
    """
    contexts = [context for case, context in conversations() if case.startswith("random")]
    lengths = [len(context.messages) for context in contexts]
    assert min(lengths) == 0
    assert 1 in lengths
    assert max(lengths) > 40
    assert {message.role for context in contexts for message in context.messages} == {
        "system",
        "user",
        "assistant",
        "tool",
        "summary",
    }
