"""What an order costs, in cents. Half a cent goes up."""


def line_cents(db, line):
    row = db.execute("select cents from skus where sku = ?", (line["sku"],)).fetchone()
    return row["cents"] * (line["quantity"] - line["cancelled"])


def rebate(cents, quantity):
    """3 percent from 50 pieces, 5 percent from 200."""
    percent = 5 if quantity >= 200 else 3 if quantity >= 50 else 0
    return (cents * percent + 50) // 100


def vat(cents, percent):
    return (cents * percent + 50) // 100


def total(db, config, lines):
    net = 0
    for line in lines:
        cents = line_cents(db, line)
        net += cents - rebate(cents, line["quantity"] - line["cancelled"])
    shipping = 0 if net >= config.free_shipping_cents else 590
    return {"net": net, "shipping": shipping, "vat": vat(net + shipping, config.vat_percent),
            "gross": net + shipping + vat(net + shipping, config.vat_percent)}
