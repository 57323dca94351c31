"""Figures for the yearly meeting of the tenants."""

from meterly.billing import format_amount


def by_house(invoices, customers):
    houses = {c.number: c.house for c in customers}
    sums = {}
    for invoice in invoices:
        house = houses[invoice["customer"]]
        sums[house] = sums.get(house, 0.0) + invoice["gross"]
    return {house: round(total, 2) for house, total in sorted(sums.items())}


def table(invoices, customers):
    rows = [f"{house}  {format_amount(total):>14}" for house, total in by_house(invoices, customers).items()]
    return "\n".join(rows) + "\n"


def mean(invoices):
    return round(sum(i["gross"] for i in invoices) / len(invoices), 2)
