"""Orders: place, pay, cancel a line, split over warehouses."""

from stockroom import catalog, clock, events, holds, ledger
from stockroom.errors import BadQuantity, HoldEnded, NoSuchOrder


def place(db, config, customer, wanted):
    """Place an order.

    wanted: list of (sku, packs). All lines are held, or none is.
    """
    cursor = db.execute("insert into orders (customer, state, at) values (?, 'placed', ?)", (customer, clock.stamp()))
    order_id = cursor.lastrowid
    try:
        for position, (sku, packs) in enumerate(wanted, 1):
            quantity = catalog.pieces(db, sku, packs)
            line = db.execute(
                "insert into lines (order_id, position, sku, quantity) values (?, ?, ?, ?)",
                (order_id, position, sku, quantity),
            )
            holds.place(db, config, line.lastrowid, sku, quantity)
    except Exception:
        db.rollback()
        raise
    db.commit()
    events.emit(db, "order.placed", order_id=order_id, customer=customer)
    return order_id


def get(db, order_id):
    row = db.execute("select * from orders where id = ?", (order_id,)).fetchone()
    if row is None:
        raise NoSuchOrder(f"order {order_id}")
    return row


def lines(db, order_id):
    return db.execute("select * from lines where order_id = ? order by position", (order_id,)).fetchall()


def pay(db, config, order_id):
    order = get(db, order_id)
    if order["state"] != "placed":
        raise HoldEnded(f"order {order_id} is {order['state']}")
    for line in lines(db, order_id):
        if line["quantity"] == line["cancelled"]:
            continue
        quantity = holds.take(db, line["id"])
        for warehouse, part in split(db, config, line["sku"], quantity):
            ledger.post(db, line["sku"], warehouse, -part, "pick", f"order:{order_id}")
    db.execute("update orders set state = 'paid' where id = ?", (order_id,))
    db.commit()
    events.emit(db, "order.paid", order_id=order_id)


def split(db, config, sku, quantity):
    """Where to pick from: the fullest warehouse first."""
    stock = sorted(((ledger.on_shelf(db, sku, w), w) for w in config.warehouses), reverse=True)
    parts = []
    for shelf, warehouse in stock:
        part = min(shelf, quantity)
        if part > 0:
            parts.append((warehouse, part))
            quantity -= part
    return parts


def cancel_line(db, config, order_id, position, packs=None):
    """Cancel a line, or some packs of it; returns the pieces given back."""
    order = get(db, order_id)
    line = lines(db, order_id)[position - 1]
    left = line["quantity"] - line["cancelled"]
    quantity = left if packs is None else packs
    if quantity < 1 or quantity > left:
        raise BadQuantity(f"line {position} of order {order_id}: {quantity} of {left}")
    if order["state"] == "paid":
        ledger.post(db, line["sku"], config.warehouses[0], quantity, "return", f"order:{order_id}")
    else:
        holds.release(db, line["id"], quantity)
    db.execute("update lines set cancelled = cancelled + ? where id = ?", (quantity, line["id"]))
    db.commit()
    events.emit(db, "line.cancelled", order_id=order_id, position=position, quantity=quantity)
    return quantity
