"""The append-only list of stock movements. Imported by the couriers' team: keep `post` and `on_shelf` as they are."""

from stockroom import clock

REASONS = ("receipt", "pick", "return", "correction", "transfer")


def post(db, sku, warehouse, delta, reason, ref=""):
    """Add one movement and return its id."""
    if reason not in REASONS:
        raise ValueError(f"unknown reason {reason!r}")
    cursor = db.execute(
        "insert into postings (sku, warehouse, delta, reason, ref, at) values (?, ?, ?, ?, ?, ?)",
        (sku, warehouse, delta, reason, ref, clock.stamp()),
    )
    return cursor.lastrowid


def on_shelf(db, sku, warehouse=None):
    """Pieces that stand on the shelf, in one warehouse or in all."""
    if warehouse is None:
        row = db.execute("select coalesce(sum(delta), 0) as n from postings where sku = ?", (sku,))
    else:
        row = db.execute(
            "select coalesce(sum(delta), 0) as n from postings where sku = ? and warehouse = ?", (sku, warehouse)
        )
    return row.fetchone()["n"]


def movements(db, sku):
    return db.execute("select * from postings where sku = ? order by id", (sku,)).fetchall()
