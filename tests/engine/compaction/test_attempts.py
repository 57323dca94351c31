"""When a trigger is asked again, and which attempts to compact were in vain."""

from __future__ import annotations

from typing import Literal

import pytest

from workbench.engine.compaction.attempts import Attempts
from workbench.engine.compaction.strategy import Ending, HostPolicy

STUCK = Ending("stuck", "recovery_exhausted")
HOST = HostPolicy(stuck_after=2, endings={"stuck": STUCK})


def test_the_trigger_is_asked_again_once_the_context_has_grown_by_the_share() -> None:
    attempts = Attempts().until_grown(1_000, window=10_000, share=0.05)

    assert not attempts.let_ask(1_500)
    assert attempts.let_ask(1_501)


@pytest.mark.parametrize(
    ("failure", "vain"), [("nothing", 1), ("failed", 1), ("no_room", 0), ("overflow", 0)]
)
def test_only_what_did_nothing_or_failed_was_in_vain(
    failure: Literal["nothing", "failed", "no_room", "stuck", "overflow"], vain: int
) -> None:
    assert Attempts().failed(failure).vain == vain


def test_a_run_is_stuck_after_vain_attempts_in_a_row() -> None:
    first = Attempts().failed("nothing")
    second = first.failed("failed")

    assert first.ending("nothing", HOST) is None
    assert second.ending("failed", HOST) == STUCK
    assert second.none_in_vain().ending("nothing", HOST) is None
