import pytest

from stockroom import ledger


def test_the_shelf_is_the_sum_of_movements(db):
    assert ledger.on_shelf(db, "HX-2210-B") == 45
    assert ledger.on_shelf(db, "HX-2210-B", "linz") == 15


def test_an_unknown_sku_has_nothing(db):
    assert ledger.on_shelf(db, "ZZ-0000-X") == 0


def test_an_unknown_reason_is_refused(db):
    with pytest.raises(ValueError, match="unknown reason"):
        ledger.post(db, "HX-2210-B", "graz", 1, "gift")


def test_a_correction_is_a_posting_like_any_other(db):
    ledger.post(db, "HX-2210-B", "graz", -2, "correction", "SR-1")
    assert [m["delta"] for m in ledger.movements(db, "HX-2210-B")] == [30, 15, -2]
