"""Meter readings: parsing, gaps, consumption."""

import csv
from datetime import datetime, timedelta

from meterly import settings


class Reading:
    def __init__(self, meter, at, kwh):
        self.meter = meter
        self.at = at
        self.kwh = kwh

    def __repr__(self):
        return f"Reading({self.meter} {self.at:%Y-%m-%d %H:%M} {self.kwh})"


def parse(row):
    return Reading(row["meter"], datetime.fromisoformat(row["at"]), float(row["kwh"]))


def load(path):
    with open(path, newline="") as file:
        return [parse(row) for row in csv.DictReader(file)]


def by_meter(readings):
    found = {}
    for reading in readings:
        found.setdefault(reading.meter, []).append(reading)
    for series in found.values():
        series.sort(key=lambda r: r.at)
    return found


def gaps(series):
    """Pairs of neighbours that lie further apart than allowed."""
    allowed = timedelta(hours=settings.MAX_GAP_HOURS)
    return [(a, b) for a, b in zip(series, series[1:]) if b.at - a.at > allowed]


def consumption(series, start, stop):
    """kWh between the last reading at or before start and the last at or before stop; a swapped meter starts again at zero."""
    inside = [r for r in series if r.at <= stop]
    before = [r for r in inside if r.at <= start]
    chain = before[-1:] + [r for r in inside if r.at > start]
    total = 0.0
    for a, b in zip(chain, chain[1:]):
        total += b.kwh - a.kwh if b.kwh >= a.kwh else b.kwh
    return total
