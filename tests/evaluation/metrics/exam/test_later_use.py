"""What a context holds of what was edited, asked for and said later."""

from __future__ import annotations

import pytest

from workbench import AssistantMessage, Text, ToolCall, UserMessage
from workbench.engine.transcript.message import ToolResult
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.later_use import LaterUse
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.view import View

GOAL = "Please make the ledger export tolerate missing currency codes before friday's audit"
LINES = [f"    total_{name} = convert({name}_amount, rate_of({name}_code))" for name in "abcdefgh"]
MESSAGES = (
    UserMessage(id="goal", blocks=(Text(GOAL),)),
    AssistantMessage(id="look", blocks=(ToolCall("1", "read", {"path": "src/export.py"}),)),
    ToolResult(id="seen", call_id="1", name="read", blocks=(Text("\n".join(LINES)),)),
    AssistantMessage(
        id="plan",
        blocks=(Text("The rounding helper drops half cents whenever conversion rates change"),),
    ),
    AssistantMessage(
        id="edit",
        blocks=(
            Text("Since the rounding helper drops half cents whenever rates change, I edit it"),
            ToolCall(
                "2", "edit", {"path": "src/export.py", "old": "\n".join(LINES[:6]), "new": "pass"}
            ),
        ),
    ),
)
AT = 4
USED = LaterUse(Exams.of(Index(MESSAGES)).history)


def shares(*texts: str, kept: frozenset[int] = frozenset()) -> dict[str, float]:
    found = USED.shares(AT, View(kept, texts, texts))
    return {part: share for part, share in found.items()}


def test_the_whole_history_holds_all_and_nothing_holds_nothing() -> None:
    assert shares(kept=frozenset(range(AT))) == {
        "edits": 1.0,
        "request": 1.0,
        "phrases": pytest.approx(1.0),
    }
    assert set(shares().values()) == {0.0}


def test_half_of_the_lines_that_the_next_edit_replaces_are_half_of_the_readiness_to_edit() -> None:
    assert shares("\n".join(LINES[3:]))["edits"] == 0.5


def test_the_request_counts_in_phrases_so_that_its_words_in_another_order_are_nothing() -> None:
    assert shares(f"The user said: {GOAL}")["request"] == 1.0
    assert shares(" ".join(sorted(GOAL.split())))["request"] < 0.2


def test_what_the_agent_said_again_counts_and_what_it_did_not_does_not() -> None:
    assert shares(kept=frozenset({3}))["phrases"] > 0.5
    assert shares(kept=frozenset({0}))["phrases"] < 0.2


def test_a_boundary_that_no_edit_follows_has_no_readiness_to_edit() -> None:
    assert "edits" not in USED.shares(len(MESSAGES), View(frozenset(), (), ()))
