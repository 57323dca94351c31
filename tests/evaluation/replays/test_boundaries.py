"""Boundaries are the same for every strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from builders import conversation
from workbench import Session, SettingError, compare, replay

USUAL = Session.of(conversation(20, words=40, steps=1))


def by_fill(session: Session, window: int) -> list[int]:
    """Where a replay on its own trigger is scored: as the history fills the window."""
    return [shot.at for shot in replay(session, "none", window=window).snapshots]


def cut_at(out: Path, boundaries: Any) -> list[int]:
    """Where strategies are cut to the same size."""
    results = compare(
        USUAL,
        strategies=("truncate",),
        window=4_000,
        shares=(0.5,),
        boundaries=boundaries,
        out=out,
        quiet=True,
    )
    places: list[int] = results.boundaries["at"].tolist()
    return places


def test_a_history_that_fills_its_window_is_scored_at_recorded_requests() -> None:
    places = by_fill(USUAL, 4_000)
    assert len(places) > 1 and set(places) <= set(USUAL.requests)


def test_a_history_that_never_fills_the_window_has_no_boundary() -> None:
    assert by_fill(USUAL, 10_000_000) == []


def test_there_are_never_more_boundaries_than_asked_for() -> None:
    assert len(by_fill(Session.of(conversation(60, words=60)), 1_000)) == 24


def test_a_session_too_short_to_score_has_none() -> None:
    assert by_fill(Session.of(conversation(4, words=300, steps=1)), 1_000) == []


@pytest.mark.parametrize(
    ("boundaries", "places"),
    [((0.5,), [41]), ((40,), [41]), ((0.35, 0.1), [29]), ("recorded", [])],
    ids=["a share", "an index", "one with too little before it", "none recorded"],
)
def test_boundaries_are_named_by_share_by_index_or_by_what_was_recorded(
    boundaries: Any, places: list[int], tmp_path: Path
) -> None:
    assert cut_at(tmp_path, boundaries) == places
    assert set(places) <= set(USUAL.requests)


def test_boundaries_by_fill_are_where_the_history_fills_the_window(tmp_path: Path) -> None:
    assert cut_at(tmp_path, "fill") == by_fill(USUAL, 4_000)


@pytest.mark.parametrize("wrong", ["somewhere", (0.0,), (1.5,), (0,), (-3,)])
def test_what_names_no_boundary_is_refused(wrong: Any, tmp_path: Path) -> None:
    session = Session.of(conversation(5, words=60))
    with pytest.raises(SettingError, match="boundar"):
        compare(session, strategies=("truncate",), boundaries=wrong, out=tmp_path)
