"""Numbers as people read them: no more digits than mean something. A missing number is a dash."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps

NOTHING = "–"


def missing(value: object) -> bool:
    """Whether a value of a table is None, NaN or pandas' own missing value."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ == "NAType"
    )


def or_dash(show: Callable[[float], str]) -> Callable[[float | None], str]:
    """A number format that shows a missing number as a dash."""

    @wraps(show)
    def format(number: float | None) -> str:
        if missing(number):
            return NOTHING
        return show(number)  # type: ignore[arg-type]  # it is none of those that are missing

    return format


@or_dash
def percent(share: float) -> str:
    """A share as whole per cent; one digit more where it is small and not nothing."""
    if 0 < abs(share) < 0.0005:
        return "< 0.1 %"
    if 0 < abs(share) < 0.0095:
        return f"{100 * share:.1f} %"
    return f"{100 * share:.0f} %".replace("-0 %", "0 %")


@or_dash
def points(share: float) -> str:
    """A difference of shares in percentage points."""
    if 0.0005 <= abs(share) < 0.0095:
        return f"{100 * share:.1f}"
    return f"{100 * share:.0f}".replace("-0", "0")


@or_dash
def gap(share: float) -> str:
    """A difference of shares in percentage points with its sign: `+12`, `−0.4`."""
    text = points(share).replace("-", "−")
    if share < 0 or text == "0":
        return text
    return f"+{text}"


@or_dash
def p_value(p: float) -> str:
    """The p of a test with two figures, so that 0.053 is not taken for 0.05: `0.012`, `< 0.001`."""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.2g}"


@or_dash
def amount(number: float) -> str:
    """Tokens or another large number, to two or three figures: `51,800` stays, `1,234,567`
    becomes `1.23 million`.
    """
    if abs(number) >= 1_000_000:
        return f"{number / 1_000_000:.3g} million"
    step = 1
    if abs(number) >= 10_000:
        step = 100
    elif abs(number) >= 1_000:
        step = 10
    return f"{round(number / step) * step:,}"


@or_dash
def decimal(number: float) -> str:
    """A number with two decimal places, such as a score between 0 and 1."""
    return f"{number:.2f}".replace("-0.00", "0.00")


@or_dash
def count(number: float) -> str:
    """A mean count, with one digit where it is no whole number."""
    if abs(number - round(number)) < 0.05:
        return f"{number:,.0f}"
    return f"{number:,.1f}"


@or_dash
def seconds(number: float) -> str:
    """A mean time: `3.2 s`."""
    return f"{count(number)} s"


@or_dash
def figure(number: float) -> str:
    """A number of any size: without decimal places from 100 on, else with three."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3f}"


@or_dash
def dollars(usd: float) -> str:
    """USD with two figures that mean something: `$1,235`, `$12.30`, `$0.042`, `−$0.13`."""
    size = abs(usd)
    if 0 < size < 0.0005:
        return "< $0.001"
    text = f"{size:.3f}"
    if size >= 1_000:
        text = f"{size:,.0f}"
    elif size >= 0.095 or size == 0:
        text = f"{size:,.2f}"
    sign = "−" if usd < 0 else ""
    return f"{sign}${text}"


def interval(low: float | None, high: float | None, of: Callable[[float | None], str] = gap) -> str:
    """`+4 to +12`, or a dash where there are too few sessions for an interval."""
    if missing(low) or missing(high):
        return NOTHING
    return f"{of(low)} to {of(high)}"


def joined(words: Sequence[str], joint: str = "and") -> str:
    """`a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joint} {words[-1]}"


def first_sentence(text: str) -> tuple[str, str]:
    """The first sentence of a paragraph and those that follow it, empty where none do."""
    sentence, stop, following = text.partition(". ")
    return sentence + stop.strip(), following


def paragraph(*sentences: str) -> str:
    """The sentences one behind the other; empty ones are left out."""
    return " ".join(sentence for sentence in sentences if sentence)


def capitalized(words: str) -> str:
    """Words as the beginning of a sentence: the first letter is large, the others are as they are."""
    return f"{words[:1].upper()}{words[1:]}"


def some(number: int, singular: str, plural: str = "") -> str:
    """`1 session`, `3 sessions`."""
    if number == 1:
        return f"1 {singular}"
    return f"{number:,} {plural or singular + 's'}"


NUMBERS: Mapping[str, Callable[[float | None], str]] = {
    "percent": percent, "points": points, "gap": gap, "p_value": p_value, "amount": amount, "decimal": decimal,
    "figure": figure,
    "decimal3": or_dash("{:.3f}".format), "count": count, "dollars": dollars,
}  # fmt: skip
"""What a column of a table may be formatted as."""
OF_UNIT: Mapping[str, Callable[[float | None], str]] = {
    "share": percent,
    "tokens": amount,
    "count": count,
    "usd": dollars,
    "seconds": seconds,
}
"""How a metric's values are shown, by its unit."""
MOST_DECIMALS = 9
"""Of a label at an axis."""


def axis_labels(values: Sequence[float], unit: str) -> list[str]:
    """The round values of an axis as they are shown: as everywhere, with more digits where two of
    them would read alike.

    Args:
        values: each another one.
        unit: of the metric.
    """
    labels = list(map(OF_UNIT[unit], values))
    decimals = 0
    while len(set(labels)) < len(values) and decimals < MOST_DECIMALS:
        labels = list(map(partial(_with_decimals, decimals=decimals, unit=unit), values))
        decimals += 1
    return labels


def _with_decimals(value: float, decimals: int, unit: str) -> str:
    """A value in its unit with so many decimal places."""
    if unit == "share":
        return f"{100 * value:.{decimals}f} %"
    digits = f"{value:,.{decimals}f}"
    if unit == "usd":
        return f"${digits}".replace("$-", "−$")
    if unit == "seconds":
        return f"{digits} s"
    return digits
