from datetime import date

from meterly import dunning

INVOICE = {"number": "202603-K1", "customer": "K1", "gross": 122.15}


def test_paid_is_not_overdue():
    assert dunning.overdue([INVOICE], {"202603-K1": 122.15}, date(2026, 4, 20), date(2026, 6, 1)) == []


def test_a_fee_is_added():
    [(invoice, days, fee)] = dunning.overdue([INVOICE], {}, date(2026, 4, 20), date(2026, 5, 22))
    assert (days, fee) == (32, 3.05)


def test_letter():
    assert "Please pay 125,20." in dunning.letter(INVOICE, 32, 3.05)
