"""Numbers as the lifeguards type them and as the office wants them."""

from decimal import ROUND_HALF_UP, Decimal, InvalidOperation


def parsed(text):
    """'0,45' -> Decimal('0.45'). Raises ValueError."""
    try:
        return Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        raise ValueError(f"{text!r} is not a number") from None


def rounded(number, places):
    """Half up, as in docs/office.md."""
    return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def mean(numbers):
    return sum(numbers) / len(numbers)


def comma(number):
    """Decimal('0.45') -> '0,45'"""
    return str(number).replace(".", ",")
