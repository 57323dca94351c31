"""What we sell: SKU, name, pieces in a pack, price of a piece in cents."""

import csv
from pathlib import Path

from stockroom.errors import BadQuantity


def load_csv(db, path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        rows = [(r["sku"], r["name"], int(r["pack"]), int(r["cents"])) for r in csv.DictReader(file)]
    db.executemany("insert or replace into skus values (?, ?, ?, ?)", rows)
    db.commit()
    return len(rows)


def add(db, sku, name, pack=1, cents=0):
    db.execute("insert or replace into skus values (?, ?, ?, ?)", (sku, name, pack, cents))


def pack_size(db, sku):
    row = db.execute("select pack from skus where sku = ?", (sku,)).fetchone()
    if row is None:
        raise BadQuantity(f"no such SKU: {sku}")
    return row["pack"]


def pieces(db, sku, packs):
    """Order lines count packs, the shelf counts pieces."""
    if packs < 1:
        raise BadQuantity(f"{sku}: {packs} packs")
    return packs * pack_size(db, sku)
