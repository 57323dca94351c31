"""Calendar weeks, Monday to Sunday, written 2026-W22."""

import re
from collections import namedtuple
from datetime import date, datetime, timedelta

from poolside.errors import PoolsideError

Week = namedtuple("Week", "year number")


def week(text):
    """'2026-W22' -> Week(2026, 22)"""
    found = re.fullmatch(r"(\d{4})-W(\d{2})", text)
    if not found:
        raise PoolsideError(f"{text!r} is not a week; write it as 2026-W22")
    year, number = int(found[1]), int(found[2])
    try:
        date.fromisocalendar(year, number, 1)
    except ValueError:
        raise PoolsideError(f"{year} has no week {number}") from None
    return Week(year, number)


def shown(of):
    return f"{of.year}-W{of.number:02}"


def days(of):
    """The seven days."""
    monday = date.fromisocalendar(of.year, of.number, 1)
    return [monday + timedelta(days=n) for n in range(7)]


def week_of(day):
    year, number, _ = day.isocalendar()
    return Week(year, number)


def due(of, weekday, time):
    """When the report of a week must be at the office: that weekday (1 is Monday) of the following week."""
    hour, minute = map(int, time.split(":"))
    day = days(of)[0] + timedelta(days=7 + weekday - 1)
    return datetime(day.year, day.month, day.day, hour, minute)
