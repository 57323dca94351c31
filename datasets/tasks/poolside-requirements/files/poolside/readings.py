"""Sheets of readings: data/<code>-<year>-<month>.csv."""

import csv
from collections import namedtuple
from datetime import datetime
from pathlib import Path

from poolside import numbers, weeks
from poolside.errors import DataError

Reading = namedtuple("Reading", "pool time free combined ph temp visitors by")

COLUMNS = ["time", "free", "combined", "ph", "temp", "visitors", "by"]
QUANTITIES = ("free", "combined", "ph", "temp")


def read_sheet(path, code):
    """The readings of one sheet, in the order of its lines."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter=";")
        if rows.fieldnames != COLUMNS:
            raise DataError(path, 1, "header", f"is {rows.fieldnames}, not {COLUMNS}")
        return [reading(path, line, code, row) for line, row in enumerate(rows, 2)]


def reading(path, line, code, row):
    values = {}
    for name in QUANTITIES:
        try:
            values[name] = numbers.parsed(row[name])
        except ValueError as problem:
            raise DataError(path, line, name, problem) from None
    try:
        time = datetime.strptime(row["time"], "%Y-%m-%d %H:%M")
    except ValueError:
        raise DataError(path, line, "time", f"{row['time']!r} is not a time") from None
    if not row["visitors"].isdigit():
        raise DataError(path, line, "visitors", f"{row['visitors']!r} is not a count")
    return Reading(code, time, visitors=int(row["visitors"]), by=row["by"], **values)


def read_week(folder, code, week):
    """The readings of a pool in a week, in order of time. A sheet that does not exist has none."""
    days = weeks.days(week)
    found = []
    for year, month in sorted({(day.year, day.month) for day in days}):
        path = Path(folder) / f"{code}-{year}-{month:02}.csv"
        if path.exists():
            found += [r for r in read_sheet(path, code) if days[0] <= r.time.date() <= days[-1]]
    return sorted(found, key=lambda r: r.time)
