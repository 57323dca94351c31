"""The table for the health office: docs/office.md."""

from poolside import weeks
from poolside.numbers import comma, rounded

COLUMNS = (
    "week pool name readings missing free_mean free_min free_max combined_max ph_min ph_max temp_mean visitors findings alarms"
).split()


def table(found):
    """The file's bytes."""
    rows = [";".join(COLUMNS)] + [";".join(row(one)) for one in found]
    return ("\r\n".join(rows) + "\r\n").encode("latin-1")


def row(one):
    figures = [""] * 7
    if one.readings:
        figures = [
            comma(rounded(one.means["free"], 2)),
            comma(one.lows["free"]),
            comma(one.highs["free"]),
            comma(one.highs["combined"]),
            comma(one.lows["ph"]),
            comma(one.highs["ph"]),
            comma(rounded(one.means["temp"], 2)),
        ]
    start = [weeks.shown(one.week), one.pool.code, one.pool.name, str(len(one.readings)), str(len(one.missing))]
    return start + figures + [str(one.visitors), str(len(one.findings)), str(len(one.alarms))]
