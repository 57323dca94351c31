"""Checks that must always hold; prints what does not."""

from stockroom import holds, ledger


def findings(db, config):
    found = []
    for row in db.execute("select sku from skus order by sku"):
        sku = row["sku"]
        if holds.free(db, sku) < 0:
            found.append(f"{sku}: free stock {holds.free(db, sku)} (shelf {ledger.on_shelf(db, sku)}, held {holds.held(db, sku)})")
        for warehouse in config.warehouses:
            if ledger.on_shelf(db, sku, warehouse) < 0:
                found.append(f"{sku}: {warehouse} has {ledger.on_shelf(db, sku, warehouse)}")
    double = db.execute(
        "select line_id, count(*) as n from holds where state in ('open', 'taken') group by line_id having n > 1"
    )
    found += [f"line {row['line_id']}: {row['n']} live holds" for row in double]
    return found
