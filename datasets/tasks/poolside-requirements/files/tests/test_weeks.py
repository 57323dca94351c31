from datetime import date, datetime

import pytest

from poolside import weeks
from poolside.errors import PoolsideError


def test_a_week_is_monday_to_sunday():
    found = weeks.days(weeks.week("2026-W22"))
    assert (found[0], found[-1]) == (date(2026, 5, 25), date(2026, 5, 31))


@pytest.mark.parametrize("text", ["2026-22", "2026-W2", "W22", "2026-W54", "2025-W53", ""])
def test_not_a_week(text):
    with pytest.raises(PoolsideError):
        weeks.week(text)


def test_a_year_with_53_weeks():
    assert weeks.shown(weeks.week("2026-W53")) == "2026-W53"


def test_week_of_a_day_at_the_turn_of_the_year():
    assert weeks.week_of(date(2027, 1, 2)) == weeks.Week(2026, 53)


def test_due_on_friday_noon_of_the_following_week():
    assert weeks.due(weeks.week("2026-W22"), 5, "12:00") == datetime(2026, 6, 5, 12, 0)


def test_due_after_the_last_week_of_a_year():
    assert weeks.due(weeks.week("2026-W53"), 5, "12:00") == datetime(2027, 1, 8, 12, 0)
