from datetime import datetime, timedelta

from meterly import readings
from meterly.readings import Reading

START = datetime(2026, 3, 1)


def series(*kwh, hours=24):
    return [Reading("H1", START + timedelta(hours=i * hours), k) for i, k in enumerate(kwh)]


def test_consumption_is_last_minus_first():
    assert readings.consumption(series(10.0, 11.5, 14.0), START, START + timedelta(days=2)) == 4.0


def test_a_swapped_meter_starts_again():
    assert readings.consumption(series(90.0, 95.0, 3.0), START, START + timedelta(days=2)) == 8.0


def test_nothing_read_is_nothing_used():
    assert readings.consumption([], START, START + timedelta(days=2)) == 0.0


def test_gaps():
    assert readings.gaps(series(1.0, 2.0, hours=6)) == []
    assert len(readings.gaps(series(1.0, 2.0, hours=7))) == 1
