"""The sweep: ends holds whose time has run out."""

from stockroom import clock, events


def due(db, config):
    return db.execute(
        "select * from holds where state = 'open' and ends_at <= ? order by ends_at limit ?",
        (clock.stamp(), config.sweep_batch),
    ).fetchall()


def sweep(db, config):
    """End what is due, a batch at a time, and return how many holds ended."""
    ended = 0
    batch = due(db, config)
    while batch:
        for hold in batch:
            db.execute("update holds set state = 'expired' where id = ?", (hold["id"],))
            events.emit(db, "hold.expired", hold_id=hold["id"], sku=hold["sku"], quantity=hold["quantity"])
            ended += 1
        db.commit()
        batch = due(db, config) if len(batch) == config.sweep_batch else []
    return ended
