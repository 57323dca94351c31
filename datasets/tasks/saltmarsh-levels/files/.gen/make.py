"""Water levels of six stations, hourly for 120 days, with the faults that real gauges have. Same seed, same bytes."""
import csv, math, random
from datetime import datetime, timedelta
from pathlib import Path

r = random.Random(1206)
Path("data").mkdir(exist_ok=True)
STATIONS = [("S1", "Alder Sluice", 312, "cm"), ("S2", "Bell Creek", 287, "cm"), ("S3", "Curlew Point", 301, "cm"),
            ("S4", "Dyke End", 295, "cm"), ("S5", "Eel Pool", 318, "ft"), ("S6", "Fen Gate", 306, "cm")]
with open("data/stations.csv", "w", newline="") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow(["station", "name", "zero_below_nd_cm", "logger"])
    w.writerows((s, n, z, f"LX{200 + i * 11}") for i, (s, n, z, _) in enumerate(STATIONS))
start = datetime(2026, 1, 5)
surge = {31 * 24 + 7: 61, 66 * 24 + 15: 94, 101 * 24 + 2: 48}
for i, (station, name, zero, unit) in enumerate(STATIONS):
    with open(f"data/{station}.csv", "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["time", "level", "battery"])
        for h in range(120 * 24):
            at = start + timedelta(hours=h)
            tide = 118 * math.cos(2 * math.pi * (h - i * 0.4) / 12.42) + 31 * math.cos(2 * math.pi * h / 12.0)
            level = tide + 6 * math.sin(h / 190) + r.gauss(0, 2.2)
            for peak, size in surge.items():
                level += size * math.exp(-((h - peak - i * 0.3) / 9.0) ** 2)
            if h > 58 * 24:
                level += 7.5
            raw = level + zero
            if station == "S4" and h < 66 * 24 + 20:
                raw += 13.0 * (h > 20 * 24)
            if station == "S2":
                raw += max(0, h - 40 * 24) * 0.0042
            if station == "S6" and h > 83 * 24:
                at += timedelta(hours=1)
            if station == "S3" and r.random() < 0.006:
                w.writerow([at.isoformat(), "-9999", "11.9"])
                continue
            if r.random() < 0.004:
                continue
            row = [at.isoformat(), f"{raw / 30.48:.3f}" if unit == "ft" else f"{raw:.1f}", f"{12.9 - h / 2400:.2f}"]
            w.writerow(row)
            if station == "S1" and 50 * 24 < h < 51 * 24:
                w.writerow(row)
with open("data/staff_readings.csv", "w", newline="") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow(["time", "station", "level_nd_cm", "by"])
    for d in range(3, 119, 9):
        for i, (station, *_ ) in enumerate(STATIONS):
            h = d * 24 + 9 + i % 3
            tide = 118 * math.cos(2 * math.pi * (h - i * 0.4) / 12.42) + 31 * math.cos(2 * math.pi * h / 12.0) + 6 * math.sin(h / 190) + (7.5 if h > 58 * 24 else 0)
            for peak, size in surge.items():
                tide += size * math.exp(-((h - peak - i * 0.3) / 9.0) ** 2)
            w.writerow([(start + timedelta(hours=h)).isoformat(), station, round(tide + r.gauss(0, 1.0)), r.choice(["mk", "jo", "sv"])])
