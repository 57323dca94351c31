"""Writes data/readings.csv: March 2026, one reading a day and meter (hourly ones would not change a bill). Same seed, same bytes."""

import csv
import random
import sys
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from meterly.customers import directory

r = random.Random(93)
Path("data").mkdir(exist_ok=True)
with open("data/readings.csv", "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["meter", "at", "kwh"])
    for customer in directory():
        for kind, meter in sorted(customer.meters.items()):
            kwh = r.uniform(100, 90000)
            for day in range(32):
                at = datetime(2026, 3, 1) + timedelta(days=day)
                out.writerow([meter, at.isoformat(), f"{kwh:.4f}"])
                kwh += r.uniform(0, 40 if kind == "heat" else 14) * (4 if customer.group == "shop" else 1)
                if meter == "EB045" and day == 17:
                    kwh = 0.0
