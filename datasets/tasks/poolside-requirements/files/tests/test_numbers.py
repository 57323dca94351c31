from decimal import Decimal

import pytest

from poolside import numbers


@pytest.mark.parametrize("text, value", [("0,45", "0.45"), ("7,1", "7.1"), (" 28,0 ", "28.0"), ("7.41", "7.41"), ("0", "0")])
def test_parsed(text, value):
    assert numbers.parsed(text) == Decimal(value)


@pytest.mark.parametrize("text", ["", "-", "0,4,5", "n/a", "0,24*"])
def test_not_a_number(text):
    with pytest.raises(ValueError):
        numbers.parsed(text)


@pytest.mark.parametrize("value, places, text", [("0.445", 2, "0.45"), ("0.455", 2, "0.46"), ("27.25", 1, "27.3"), ("27.24", 1, "27.2")])
def test_rounded_half_up(value, places, text):
    assert str(numbers.rounded(Decimal(value), places)) == text


def test_comma():
    assert numbers.comma(Decimal("0.45")) == "0,45"
