"""Findings, alarms and missing readings."""

from collections import namedtuple
from datetime import datetime, timedelta

from poolside import limits, weeks
from poolside.pools import HOURS, pool
from poolside.readings import QUANTITIES

Finding = namedtuple("Finding", "pool time quantity value limit")
Alarm = namedtuple("Alarm", "pool quantity findings")


def findings(readings):
    """Every single value outside of its limit, in order of time."""
    found = []
    for reading in readings:
        kind = pool(reading.pool).kind
        for quantity in QUANTITIES:
            of = limits.limit(quantity, kind)
            value = getattr(reading, quantity)
            if limits.outside(value, of):
                found.append(Finding(reading.pool, reading.time, quantity, value, of))
    return found


def alarms(readings, run_length):
    """Rows of at least `run_length` successive readings of a pool with the same quantity outside."""
    found = []
    by_time = {}
    for finding in findings(readings):
        by_time[finding.pool, finding.quantity, finding.time] = finding
    for code in sorted({reading.pool for reading in readings}):
        for quantity in QUANTITIES:
            row = []
            for time in slots(min(r.time for r in readings), max(r.time for r in readings)):
                finding = by_time.get((code, quantity, time))
                if finding:
                    row.append(finding)
                    continue
                if len(row) >= run_length:
                    found.append(Alarm(code, quantity, tuple(row)))
                row = []
            if len(row) >= run_length:
                found.append(Alarm(code, quantity, tuple(row)))
    return found


def slots(first, last):
    """The times at which lifeguards measure, from the first to the last."""
    day = datetime(first.year, first.month, first.day)
    while day <= last:
        for hour in HOURS:
            time = day + timedelta(hours=hour)
            if first <= time <= last:
                yield time
        day += timedelta(days=1)


def missing(week, readings):
    """The times of a week at which nobody measured."""
    had = {reading.time for reading in readings}
    days = weeks.days(week)
    first = datetime(days[0].year, days[0].month, days[0].day)
    return [time for time in slots(first, first + timedelta(days=7)) if time not in had]
