from stockroom import audit, orders, report


def test_a_stock_line_shows_every_warehouse(db, settings):
    assert report.stock_line(db, settings, "HX-2210-B") == "HX-2210-B   graz    30  linz    15  ulm     0  held     0  free    45"


def test_low_stock_looks_at_what_is_free(db, settings):
    orders.place(db, settings, "C1", [("HX-2210-B", 40)])
    assert report.low_stock(db, settings) == ["HX-2210-B"]


def test_a_fresh_database_is_clean(db, settings):
    assert audit.findings(db, settings) == []
