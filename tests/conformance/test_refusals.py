"""A replay of a recording follows what the restated system does around a compaction, where it is
asked to.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import workbench as wb
from workbench import CompactionRefused, SettingError

WINDOW = 8_000


@cache
def recording(id: str) -> wb.Session:
    return next(session for session in wb.bundled() if session.id == id)


def above(replay: Any) -> list[int]:
    """Where requests are above the window."""
    return [step.index for step in replay.steps if step.tokens_sent > replay.window]


def test_a_request_above_the_window_is_compacted_again_as_the_system_does_then() -> None:
    plain, refused = (
        wb.replay(recording("meterly-meeting"), "ddx_agent", window=WINDOW, refusals=refusals)
        for refusals in (False, True)
    )
    overflows = [event for event in refused.events if event.compaction.budget.reason == "overflow"]
    assert above(plain)[0] == overflows[0].at and not above(refused)
    assert plain.ended is None and refused.ended is None


def test_opal_then_keeps_a_fifth_of_the_window() -> None:
    replay = wb.replay(recording("poolside-requirements"), "opal", window=WINDOW, refusals=True)
    budgets = [event.compaction.budget for event in replay.events]
    assert {budget.keep_recent for budget in budgets if budget.reason == "overflow"} == {
        WINDOW // 5
    }
    assert {budget.keep_recent for budget in budgets if budget.reason != "overflow"} == {
        None
    } and not above(replay)


def test_where_that_does_not_help_ex_athenas_run_ends() -> None:
    replay = wb.replay(recording("meterly-meeting"), "ex_athena", window=WINDOW, refusals=True)
    assert replay.ended == (above(replay)[0], "error_prompt_too_long", "capacity")
    assert wb.replay(recording("meterly-meeting"), "ex_athena", window=WINDOW).ended is None


def test_the_user_compacts_by_hand_and_opal_keeps_20_000_tokens() -> None:
    session = recording("poolside-requirements")
    replay = wb.replay(session, "opal", window=128_000, by_hand=[200])
    (event,) = replay.events
    budget = event.compaction.budget
    assert (event.at, budget.reason, budget.keep_recent) == (200, "manual", 20_000)


def test_operator_use_refuses_that_during_a_turn() -> None:
    session = recording("poolside-requirements")
    asks = next(i for i, one in enumerate(session.messages) if i > 99 and one.role == "user")
    assert wb.replay(session, "operator_use", by_hand=[asks]).events
    with pytest.raises(
        CompactionRefused,
        match=f"a turn goes on before message {asks + 1}, and preset 'operator_use'",
    ):
        wb.replay(session, "operator_use", by_hand=[asks + 1])


def test_a_message_that_is_not_there_is_refused() -> None:
    with pytest.raises(
        SettingError, match="by_hand names message 500; a number from 0 to 297 would be accepted"
    ):
        wb.replay(recording("poolside-requirements"), "opal", by_hand=[500])
