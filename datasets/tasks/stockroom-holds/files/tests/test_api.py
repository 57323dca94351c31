from stockroom import api


def place(db, settings, *lines):
    return api.handle(db, settings, {"action": "place", "customer": "C7", "lines": [{"sku": s, "packs": p} for s, p in lines]})


def test_placing_answers_with_the_total(db, settings):
    status, answer = place(db, settings, ("HX-2210-B", 3))
    assert status == 200
    assert answer["total"]["net"] == 36


def test_too_much_is_412(db, settings):
    status, answer = place(db, settings, ("HX-2210-B", 300))
    assert (status, answer["code"]) == (412, "E_STOCK_412")


def test_an_unknown_order_is_404(db, settings):
    status, answer = api.handle(db, settings, {"action": "pay", "order": 999})
    assert (status, answer["code"]) == (404, "E_ORDER_404")


def test_paying_answers_with_the_slip(db, settings):
    _, answer = place(db, settings, ("WN-2235-S", 3))
    status, paid = api.handle(db, settings, {"action": "pay", "order": answer["order"]})
    assert paid["slip"] == [{"sku": "WN-2235-S", "warehouse": "graz", "packs": 3, "pieces": 0}]


def test_a_missing_field_is_400(db, settings):
    status, answer = api.handle(db, settings, {"action": "place", "customer": "C7"})
    assert status == 400
