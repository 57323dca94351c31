"""Reads what the weighbridge wrote. Owned by the bridge's vendor: do not change."""

import csv
from typing import NamedTuple


class Crate(NamedTuple):
    day: str
    badge: str
    scale: int
    row: str
    grams: int
    mark: str


def crates(month):
    """The crates of a month, in the order in which they were weighed."""
    with open(f"data/crates-{month}.csv", newline="") as file:
        for line in csv.DictReader(file):
            grams = round(float(line["kg"]) * 1000)
            yield Crate(line["day"], line["badge"], int(line["scale"]), line["row"], grams, line["mark"])
