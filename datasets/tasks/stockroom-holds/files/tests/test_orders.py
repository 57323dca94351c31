import pytest

from stockroom import holds, ledger, orders
from stockroom.errors import BadQuantity, HoldEnded, NotEnoughStock


def test_placing_holds_pieces_not_packs(db, settings):
    orders.place(db, settings, "C1", [("WN-2235-S", 3)])
    assert holds.held(db, "WN-2235-S") == 12


def test_all_lines_or_none(db, settings):
    with pytest.raises(NotEnoughStock):
        orders.place(db, settings, "C1", [("HX-2210-B", 2), ("WN-2235-S", 99)])
    assert holds.held(db, "HX-2210-B") == 0


def test_paying_takes_from_the_shelf(db, settings):
    order = orders.place(db, settings, "C1", [("HX-2210-B", 7)])
    orders.pay(db, settings, order)
    assert ledger.on_shelf(db, "HX-2210-B") == 38
    assert holds.held(db, "HX-2210-B") == 0


def test_paying_twice_is_refused(db, settings):
    order = orders.place(db, settings, "C1", [("HX-2210-B", 7)])
    orders.pay(db, settings, order)
    with pytest.raises(HoldEnded):
        orders.pay(db, settings, order)


def test_cancelling_a_line_gives_its_pieces_back(db, settings):
    order = orders.place(db, settings, "C1", [("HX-2210-B", 7)])
    assert orders.cancel_line(db, settings, order, 1) == 7
    assert holds.free(db, "HX-2210-B") == 45


def test_cancelling_more_than_the_line_has_is_refused(db, settings):
    order = orders.place(db, settings, "C1", [("HX-2210-B", 7)])
    with pytest.raises(BadQuantity):
        orders.cancel_line(db, settings, order, 1, packs=8)


def test_cancelling_after_payment_posts_a_return(db, settings):
    order = orders.place(db, settings, "C1", [("HX-2210-B", 7)])
    orders.pay(db, settings, order)
    orders.cancel_line(db, settings, order, 1, packs=2)
    assert ledger.movements(db, "HX-2210-B")[-1]["reason"] == "return"


def test_the_fullest_warehouse_is_picked_first(db, settings):
    assert orders.split(db, settings, "HX-2210-B", 33) == [("graz", 30), ("linz", 3)]
