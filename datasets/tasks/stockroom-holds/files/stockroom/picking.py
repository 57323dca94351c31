"""Slips for the picking line: what to take from which shelf, in packs and single pieces."""

from stockroom import catalog


def slip(db, order_id):
    rows = db.execute(
        "select sku, warehouse, -sum(delta) as n from postings where ref = ? and reason = 'pick' group by sku, warehouse "
        "order by warehouse, sku",
        (f"order:{order_id}",),
    ).fetchall()
    out = []
    for row in rows:
        pack = catalog.pack_size(db, row["sku"])
        out.append({"sku": row["sku"], "warehouse": row["warehouse"], "packs": row["n"] // pack, "pieces": row["n"] % pack})
    return out


def text(db, order_id):
    return "\n".join(
        f"{item['warehouse']:<6}{item['sku']:<12}{item['packs']:>4} packs {item['pieces']:>3} pieces"
        for item in slip(db, order_id)
    )
