"""Goods set aside for orders that are not paid yet. The rules stand in docs/holds.md."""

from stockroom import clock, ledger
from stockroom.errors import HoldEnded, NotEnoughStock


def held(db, sku):
    row = db.execute("select coalesce(sum(quantity), 0) as n from holds where sku = ? and state = 'open'", (sku,))
    return row.fetchone()["n"]


def free(db, sku):
    return ledger.on_shelf(db, sku) - held(db, sku)


def place(db, config, line_id, sku, quantity):
    available = free(db, sku)
    if quantity > available:
        raise NotEnoughStock(sku, quantity, available)
    cursor = db.execute(
        "insert into holds (line_id, sku, quantity, placed_at, ends_at) values (?, ?, ?, ?, ?)",
        (line_id, sku, quantity, clock.stamp(), clock.stamp(clock.after(config.hold_minutes))),
    )
    return cursor.lastrowid


def open_hold(db, line_id):
    return db.execute("select * from holds where line_id = ? and state = 'open'", (line_id,)).fetchone()


def take(db, line_id):
    """The line was paid: its hold ends, and the pieces leave the shelf elsewhere."""
    hold = open_hold(db, line_id)
    if hold is None:
        raise HoldEnded(f"line {line_id} has no open hold")
    db.execute("update holds set state = 'taken' where id = ?", (hold["id"],))
    return hold["quantity"]


def release(db, line_id, quantity=None):
    """Give back all of a line's hold, or a part of it."""
    hold = open_hold(db, line_id)
    if hold is None:
        raise HoldEnded(f"line {line_id} has no open hold")
    if quantity is None or quantity >= hold["quantity"]:
        db.execute("update holds set state = 'released' where id = ?", (hold["id"],))
        return hold["quantity"]
    db.execute("update holds set state = 'released' where id = ?", (hold["id"],))
    db.execute(
        "insert into holds (line_id, sku, quantity, placed_at, ends_at) values (?, ?, ?, ?, ?)",
        (line_id, hold["sku"], hold["quantity"] - quantity, clock.stamp(), hold["ends_at"]),
    )
    return quantity
