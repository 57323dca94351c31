from stockroom import clock, expiry, holds, orders


def test_a_hold_ends_after_its_minutes(db, settings):
    orders.place(db, settings, "C1", [("HX-2210-B", 7)])
    clock.set_now("2026-04-12T09:45:00")
    assert expiry.sweep(db, settings) == 1
    assert holds.free(db, "HX-2210-B") == 45


def test_a_young_hold_stays(db, settings):
    orders.place(db, settings, "C1", [("HX-2210-B", 7)])
    clock.set_now("2026-04-12T09:44:59")
    assert expiry.sweep(db, settings) == 0


def test_more_than_a_batch_is_swept(db, settings):
    for _ in range(5):
        orders.place(db, settings, "C1", [("HX-2210-B", 1)])
    clock.set_now("2026-04-12T10:00:00")
    from stockroom.config import Config
    assert expiry.sweep(db, Config(sweep_batch=2)) == 5
