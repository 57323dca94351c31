"""The collector is off inside, and as it was before afterwards."""

from __future__ import annotations

import gc

import pytest

from workbench.transcript.pausing import collector_paused


def test_it_is_off_inside_and_on_again_afterwards_also_after_an_error() -> None:
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled(), "who paused first ends it"
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), collector_paused():
        _ = 1 / 0
    assert gc.isenabled()


def test_a_function_that_it_decorates_may_call_itself() -> None:
    @collector_paused()
    def deep(left: int) -> bool:
        return deep(left - 1) and not gc.isenabled() if left else not gc.isenabled()

    assert deep(5) and gc.isenabled()


def test_who_turned_it_off_finds_it_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
