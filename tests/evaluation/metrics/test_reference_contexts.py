from __future__ import annotations

import pytest

from builders import remembering, rules
from workbench import Context, Session
from workbench.engine.transcript.context import callers
from workbench.engine.transcript.message import ToolResult
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.reference_contexts import Oracle, random_context
from workbench.evaluation.metrics.view import view

MESSAGES = (rules("be brief"), *remembering(60))
SESSION = Session.of(MESSAGES)
AT = 150
EXAM = Exams(Index(MESSAGES)).at(AT)
HISTORY = Context.of(MESSAGES[:AT])


def kept(context: Context) -> float:
    return EXAM.score(view(SESSION, context))


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.6])
def test_the_oracle_answers_what_any_context_of_that_size_answers(share: float) -> None:
    target = int(share * HISTORY.tokens)
    best = Oracle(HISTORY, EXAM).context(target)
    assert best.tokens <= target
    assert all(kept(best) >= kept(random_context(HISTORY, target, str(seed))) for seed in range(5))


def test_the_oracle_answers_more_with_more_room() -> None:
    oracle = Oracle(HISTORY, EXAM)
    found = [kept(oracle.context(target)) for target in (30, 80, 160, 1_000)]
    assert found == sorted(found)
    assert found[0] < found[-1] == 1.0


def test_the_random_arm_is_seeded_and_fills_its_size() -> None:
    target = HISTORY.tokens // 3
    context, same, other = (random_context(HISTORY, target, seed) for seed in ("a", "a", "b"))
    assert context == same != other
    assert 0.9 * target < context.tokens <= target


def test_no_arm_parts_a_call_from_its_result_or_drops_what_is_protected() -> None:
    target = HISTORY.tokens // 4
    for context in (random_context(HISTORY, target, "a"), Oracle(HISTORY, EXAM).context(target)):
        paired = callers(context.messages)
        assert all(i in paired for i, m in enumerate(context.messages) if isinstance(m, ToolResult))
        assert MESSAGES[0] in context.messages
        newest = max(i for i in range(AT) if MESSAGES[i].role == "user")
        assert MESSAGES[newest] in context.messages
