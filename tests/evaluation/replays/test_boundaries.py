"""Boundaries are the same for every strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from builders import conversation
from workbench import Session, SettingError, compare
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.replays.boundaries import (
    at_boundaries,
    at_shares,
    by_fill,
)
from workbench.evaluation.replays.sizing import Sizing


def made(turns: int) -> tuple[Session, Sizing]:
    session = Session.of(conversation(turns, words=60))
    return session, Sizing.of(
        session, [chars_per_token(m) for m in session.messages], chars_per_token
    )


def test_a_boundary_is_a_recorded_request() -> None:
    session, sizing = made(40)
    assert set(at_shares(session)) <= set(session.requests)
    assert set(by_fill(session, sizing, 4_000)) <= set(session.requests)


def test_a_history_that_never_fills_the_window_has_no_boundary() -> None:
    session, sizing = made(40)
    assert by_fill(session, sizing, 10_000_000) == ()


def test_there_are_never_more_boundaries_than_asked_for() -> None:
    session, sizing = made(200)
    assert len(by_fill(session, sizing, 1_000)) == 24


def test_a_session_too_short_to_score_has_none() -> None:
    session, _ = made(2)
    assert at_shares(session) == ()


def test_boundaries_are_named_by_share_by_index_by_fill_or_by_what_was_recorded() -> None:
    session, sizing = made(40)
    n = len(session.messages)
    assert at_boundaries(session, sizing, 4_000, (0.35, 0.5)) == at_shares(session, (0.35, 0.5))
    assert at_boundaries(session, sizing, 4_000, (n // 2,)) == at_shares(session, (0.5,))
    assert at_boundaries(session, sizing, 4_000, "fill") == by_fill(session, sizing, 4_000)
    assert at_boundaries(session, sizing, 4_000, "recorded") == ()


@pytest.mark.parametrize("wrong", ["somewhere", (0.0,), (1.5,), (0,), (-3,)])
def test_what_names_no_boundary_is_refused(wrong: Any, tmp_path: Path) -> None:
    session, _ = made(5)
    with pytest.raises(SettingError, match="boundar"):
        compare(session, strategies=("truncate",), boundaries=wrong, out=tmp_path)
