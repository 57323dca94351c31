"""Small sheets and settings for tests."""

from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from poolside.config import Config
from poolside.readings import Reading

HEADER = "time;free;combined;ph;temp;visitors;by\n"


def settings(folder, **changed):
    known = dict(
        data=Path(folder) / "data",
        out=Path(folder) / "out",
        host="127.0.0.1",
        port=8090,
        recipient="water@health.example",
        due_weekday=5,
        due_time="12:00",
        run_length=3,
        keep_days=90,
    )
    return Config(**{**known, **changed})


def measured(pool="NB", time="2026-05-25 07:00", free="0.45", combined="0.10", ph="7.10", temp="27.0", visitors=10, by="Theo Maas"):
    values = {name: Decimal(text) for name, text in (("free", free), ("combined", combined), ("ph", ph), ("temp", temp))}
    return Reading(pool, datetime.strptime(time, "%Y-%m-%d %H:%M"), visitors=visitors, by=by, **values)


def full_week(pool="NB", **changed):
    """A reading at each time of 2026-W22."""
    start = datetime(2026, 5, 25)
    times = [start + timedelta(days=day, hours=hour) for day in range(7) for hour in (7, 11, 15, 19)]
    return [measured(pool, f"{time:%Y-%m-%d %H:%M}", **changed) for time in times]


def write_sheet(folder, name, *rows):
    path = Path(folder) / "data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows), "utf-8")
    return path
