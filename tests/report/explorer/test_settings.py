from typing import Any

import pytest

from builders import conversation
from workbench import Session, Situation, prepared, preset
from workbench.engine.compaction.presets import BUILTIN
from workbench.report.explorer.settings import ExplorerSettings, telling_window, tuned


def due(preset_name: str, tokens: int, **settings: Any) -> Any:
    changed = tuned(preset(preset_name), ExplorerSettings(preset_name, 10_000, **settings))
    return changed.trigger.check(Situation(tokens=tokens, window=10_000, overhead=1_000))


def test_untouched_controls_leave_the_preset_as_it_is() -> None:
    assert tuned(preset("summarize"), ExplorerSettings("summarize")) is preset("summarize")


@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_what_can_change_nothing_is_left_as_it_is_and_all_else_is_tuned(name: str) -> None:
    own, settings = preset(name), ExplorerSettings(name, threshold=0.5, tail=1_000)
    assert (tuned(own, settings) is own) == (name == "none")


def test_the_threshold_moves_the_trigger() -> None:
    assert due("summarize", 5_000, threshold=0.5) is not None
    assert due("summarize", 4_999, threshold=0.5) is None
    assert (
        due("summarize", 7_999, tail=100) is None and due("summarize", 8_000, tail=100) is not None
    )


def test_the_target_stays_below_a_low_threshold() -> None:
    assert due("summarize", 5_000, threshold=0.3).target < 3_000


def test_the_tail_is_asked_for_and_fits_the_target() -> None:
    assert due("summarize", 9_000, tail=500).keep_recent == 500
    assert due("summarize", 9_000, tail=6_000).target == 7_000


def test_what_keeps_only_its_tail_has_it_as_its_target() -> None:
    assert due("truncate", 9_000, tail=500).target == 1_500


def test_the_settings_are_python_to_copy() -> None:
    code = ExplorerSettings("pipeline", 24_000, 0.7, 4_000).code()
    compile(code, "code", "exec")
    assert (
        'wb.explore(session, strategy="pipeline", window=24_000, threshold=0.7, tail=4_000)' in code
    )


@pytest.mark.parametrize("turns", [1, 30])
def test_a_session_that_never_fills_its_window_is_shown_in_one_that_it_fills(turns: int) -> None:
    ready = prepared(Session.of(conversation(turns, words=100)))
    window = telling_window(ready)
    assert window < ready.window and (turns == 1 or window < sum(ready.sizing.sizes))
