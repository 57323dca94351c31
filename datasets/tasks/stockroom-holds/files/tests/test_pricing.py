import pytest

from stockroom import orders, pricing


@pytest.mark.parametrize("cents, quantity, expected", [(1000, 49, 0), (1000, 50, 30), (1000, 199, 30), (1000, 200, 50), (10, 50, 0)])
def test_rebate(cents, quantity, expected):
    assert pricing.rebate(cents, quantity) == expected


@pytest.mark.parametrize("cents, expected", [(100, 20), (1, 0), (3, 1), (7503, 1501)])
def test_vat(cents, expected):
    assert pricing.vat(cents, 20) == expected


def test_small_orders_pay_shipping(db, settings):
    order = orders.place(db, settings, "C1", [("HX-2210-B", 10)])
    assert pricing.total(db, settings, orders.lines(db, order)) == {"net": 120, "shipping": 590, "vat": 142, "gross": 852}
