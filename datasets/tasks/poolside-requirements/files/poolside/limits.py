"""Limits by quantity and kind of pool: docs/limits.md."""

from collections import namedtuple
from decimal import Decimal

Limit = namedtuple("Limit", "low high unit")

NAMES = {"free": "free chlorine", "combined": "combined chlorine", "ph": "pH", "temp": "temperature"}

LIMITS = {
    ("free", "indoor"): Limit(Decimal("0.3"), Decimal("0.6"), "mg/l"),
    ("free", "outdoor"): Limit(Decimal("0.3"), Decimal("0.6"), "mg/l"),
    ("free", "school"): Limit(Decimal("0.3"), Decimal("0.6"), "mg/l"),
    ("free", "kids"): Limit(Decimal("0.3"), Decimal("0.6"), "mg/l"),
    ("free", "thermal"): Limit(Decimal("0.7"), Decimal("1.0"), "mg/l"),
    ("combined", None): Limit(Decimal("0.0"), Decimal("0.2"), "mg/l"),
    ("ph", None): Limit(Decimal("6.5"), Decimal("7.6"), ""),
    ("temp", "indoor"): Limit(Decimal("24"), Decimal("30"), "°C"),
    ("temp", "school"): Limit(Decimal("24"), Decimal("30"), "°C"),
    ("temp", "outdoor"): Limit(Decimal("18"), Decimal("28"), "°C"),
    ("temp", "kids"): Limit(Decimal("28"), Decimal("33"), "°C"),
    ("temp", "thermal"): Limit(Decimal("31"), Decimal("35"), "°C"),
}


def limit(quantity, kind):
    """The limit that holds for a quantity in a pool of that kind."""
    return LIMITS.get((quantity, kind)) or LIMITS[quantity, None]


def outside(value, of):
    """Values at a limit are allowed."""
    return not of.low <= value <= of.high
