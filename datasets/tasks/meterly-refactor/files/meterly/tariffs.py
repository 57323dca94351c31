"""Prices by kind, customer group and date."""

from datetime import date

TARIFFS = [
    # kind, group, from, base fee a month (euro), price of a kWh (euro)
    ("electricity", "home", date(2025, 1, 1), 4.90, 0.2791),
    ("electricity", "home", date(2026, 3, 16), 4.90, 0.2653),
    ("electricity", "shop", date(2025, 1, 1), 12.50, 0.2415),
    ("heat", "home", date(2025, 10, 1), 7.25, 0.1132),
    ("heat", "shop", date(2025, 10, 1), 18.00, 0.1044),
]


def valid(kind, group, day):
    """The tariff of that day."""
    found = [t for t in TARIFFS if t[0] == kind and t[1] == group and t[2] <= day]
    if not found:
        raise LookupError(f"no tariff for {kind}, {group} on {day}")
    return max(found, key=lambda t: t[2])


def changes(kind, group, start, stop):
    """Days inside (start, stop) on which the price changes."""
    return sorted(t[2] for t in TARIFFS if t[0] == kind and t[1] == group and start < t[2] < stop)
