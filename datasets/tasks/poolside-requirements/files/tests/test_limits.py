from decimal import Decimal

import pytest

from poolside import limits


@pytest.mark.parametrize(
    "quantity, kind, low, high",
    [
        ("free", "indoor", "0.3", "0.6"),
        ("free", "outdoor", "0.3", "0.6"),
        ("free", "thermal", "0.7", "1.0"),
        ("combined", "kids", "0.0", "0.2"),
        ("ph", "school", "6.5", "7.6"),
        ("temp", "kids", "28", "33"),
    ],
)
def test_limits(quantity, kind, low, high):
    of = limits.limit(quantity, kind)
    assert (of.low, of.high) == (Decimal(low), Decimal(high))


@pytest.mark.parametrize("value, is_outside", [("0.29", True), ("0.3", False), ("0.30", False), ("0.6", False), ("0.601", True)])
def test_a_value_at_a_limit_is_allowed(value, is_outside):
    assert limits.outside(Decimal(value), limits.limit("free", "indoor")) is is_outside
