import pytest

from stockroom import clock, holds
from stockroom.errors import HoldEnded, NotEnoughStock


def test_a_hold_takes_from_what_is_free(db, settings):
    holds.place(db, settings, 1, "HX-2210-B", 5)
    assert holds.free(db, "HX-2210-B") == 40


def test_more_than_free_is_refused_with_412(db, settings):
    with pytest.raises(NotEnoughStock) as caught:
        holds.place(db, settings, 1, "HX-2210-B", 46)
    assert caught.value.code == "E_STOCK_412"


def test_releasing_all_gives_all_back(db, settings):
    holds.place(db, settings, 1, "HX-2210-B", 5)
    assert holds.release(db, 1) == 5
    assert holds.free(db, "HX-2210-B") == 45


def test_releasing_a_part_keeps_the_rest_held(db, settings):
    holds.place(db, settings, 1, "HX-2210-B", 5)
    holds.release(db, 1, 2)
    assert holds.held(db, "HX-2210-B") == 3


def test_the_rest_keeps_its_old_deadline(db, settings):
    holds.place(db, settings, 1, "HX-2210-B", 5)
    clock.set_now("2026-04-12T09:20:00")
    holds.release(db, 1, 2)
    assert holds.open_hold(db, 1)["ends_at"] == "2026-04-12T09:45:00"


def test_a_hold_ends_once(db, settings):
    holds.place(db, settings, 1, "HX-2210-B", 5)
    holds.take(db, 1)
    with pytest.raises(HoldEnded):
        holds.release(db, 1)
