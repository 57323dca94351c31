"""Stock lists for people."""

from stockroom import holds, ledger


def stock_line(db, config, sku):
    parts = "  ".join(f"{w} {ledger.on_shelf(db, sku, w):>5}" for w in config.warehouses)
    return f"{sku:<12}{parts}  held {holds.held(db, sku):>5}  free {holds.free(db, sku):>5}"


def low_stock(db, config):
    skus = [row["sku"] for row in db.execute("select sku from skus order by sku")]
    return [sku for sku in skus if holds.free(db, sku) < config.low_stock]


def full(db, config):
    return "\n".join(stock_line(db, config, row["sku"]) for row in db.execute("select sku from skus order by sku"))
