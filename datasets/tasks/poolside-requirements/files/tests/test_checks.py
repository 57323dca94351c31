from poolside import checks, weeks
from tests.builders import full_week, measured

WEEK = weeks.week("2026-W22")


def changed(series, **values):
    """The series with other values at these places: at_3=dict(free=...)."""
    return [
        one if f"at_{n}" not in values else measured(one.pool, f"{one.time:%Y-%m-%d %H:%M}", **values[f"at_{n}"])
        for n, one in enumerate(series)
    ]


def test_a_good_week_has_no_findings():
    assert checks.findings(full_week()) == []


def test_a_finding_names_value_and_limit():
    [one] = checks.findings(changed(full_week(), at_3=dict(ph="7.7")))
    assert (one.quantity, str(one.value), str(one.limit.high)) == ("ph", "7.7", "7.6")


def test_three_in_a_row_are_an_alarm():
    bad = dict(free="0.7")
    [one] = checks.alarms(changed(full_week(), at_3=bad, at_4=bad, at_5=bad), 3)
    assert (one.pool, one.quantity, len(one.findings)) == ("NB", "free", 3)


def test_two_in_a_row_are_none():
    bad = dict(free="0.7")
    assert checks.alarms(changed(full_week(), at_3=bad, at_4=bad), 3) == []


def test_a_row_may_end_with_the_week():
    bad = dict(free="0.7")
    assert len(checks.alarms(changed(full_week(), at_25=bad, at_26=bad, at_27=bad), 3)) == 1


def test_different_quantities_are_different_rows():
    series = changed(full_week(), at_3=dict(free="0.7"), at_4=dict(ph="7.7"), at_5=dict(free="0.7"))
    assert checks.alarms(series, 3) == []


def test_a_missing_reading_ends_a_row():
    bad = dict(free="0.7")
    series = changed(full_week(), at_3=bad, at_4=bad, at_5=bad, at_6=bad)
    assert checks.alarms(series[:5] + series[6:], 3) == []


def test_missing_readings():
    series = full_week()
    found = checks.missing(WEEK, series[:10] + series[12:])
    assert [f"{time:%a %H}" for time in found] == ["Wed 15", "Wed 19"]
