"""The controls of the explorer, and the replay that comes of them."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from builders import conversation, reporting
from workbench import (
    Budget,
    Explorer,
    Session,
    SettingError,
    Situation,
    explore,
    prepared,
    preset,
    replay,
)

WINDOW = 10_000
OVERHEAD = 1_000
NEVER_COMPACT = {"none", "docker_agent"}
"""Presets that leave this session as it is."""


@pytest.fixture(scope="module")
def session() -> Session:
    """Of 20,000 tokens, with an overhead."""
    return Session.of(list(reporting(conversation(30, words=60), OVERHEAD)))


def shown(session: Session, strategy: str, **settings: Any) -> Explorer:
    return explore(session, strategy=strategy, window=WINDOW, **settings)


def budgets(view: Explorer) -> list[Budget]:
    """What each compaction was given."""
    return [event.compaction.budget for event in view.replay.events]


def largest_left_alone(view: Explorer) -> int:
    """The largest request that was sent as it was."""
    return max(step.tokens_sent for step in view.replay.steps if step.compaction is None)


def smallest_compacted(view: Explorer) -> int:
    return min(event.compaction.before.tokens for event in view.replay.events)


def test_untouched_controls_leave_the_preset_as_it_is(session: Session) -> None:
    view = shown(session, "summarize")
    assert view.replay.steps == replay(session, "summarize", window=WINDOW).steps


def test_what_can_change_nothing_is_left_as_it_is_and_all_else_is_tuned(session: Session) -> None:
    view = shown(session, "truncate", threshold=0.5, tail=1_200)
    for name in view.presets:
        kept = {budget.keep_recent for budget in budgets(view.set(strategy=name))}
        assert kept == (set() if name in NEVER_COMPACT else {1_200}), name


class GrantsANumber:
    def check(self, situation: Situation, /) -> Any:
        return 5


def test_an_own_trigger_that_grants_no_budget_is_told_as_it_is(session: Session) -> None:
    own = replace(preset("summarize"), trigger=GrantsANumber())
    with pytest.raises(SettingError, match="what the trigger returned is 5; a"):
        explore(session, strategy=own, window=WINDOW, tail=1_200)


def test_the_threshold_moves_the_trigger(session: Session) -> None:
    view = shown(session, "summarize", threshold=0.5)
    assert largest_left_alone(view) < 5_000 <= smallest_compacted(view)
    view = shown(session, "summarize", tail=100)
    assert 5_000 < largest_left_alone(view) < 8_000 <= smallest_compacted(view)


def test_the_target_stays_below_a_low_threshold(session: Session) -> None:
    view = shown(session, "summarize", threshold=0.3)
    assert budgets(view) and all(budget.target < 3_000 for budget in budgets(view))


def test_the_tail_is_asked_for_and_fits_the_target(session: Session) -> None:
    small = budgets(shown(session, "summarize", tail=500))
    assert {budget.keep_recent for budget in small} == {500}
    large = budgets(shown(session, "summarize", tail=6_000))
    assert {budget.target for budget in large} == {OVERHEAD + 6_000}


def test_what_keeps_only_its_tail_has_it_as_its_target(session: Session) -> None:
    own = budgets(shown(session, "truncate", tail=500))
    assert {budget.target for budget in own} == {OVERHEAD + 500}


def test_the_settings_are_python_to_copy(session: Session) -> None:
    view = explore(session, strategy="pipeline", window=24_000, threshold=0.7, tail=4_000)
    panel = view.html().partition("<h4>As code</h4>")[2]
    code = unescape(panel.partition("<pre>")[2].partition("</pre>")[0])
    compile(code, "code", "exec")
    assert (
        'wb.explore(session, strategy="pipeline", window=24_000, threshold=0.7, tail=4_000)' in code
    )


@pytest.mark.parametrize("turns", [1, 30])
def test_a_session_that_never_fills_its_window_is_shown_in_one_that_it_fills(turns: int) -> None:
    ready = prepared(Session.of(conversation(turns, words=100)))
    window = explore(ready.session).replay.window
    assert window < ready.window and (turns == 1 or window < sum(ready.sizing.sizes))
