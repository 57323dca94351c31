"""Copies of the sheets for a development machine: the same every time, with the faults that real sheets have."""

from datetime import datetime, timedelta
from pathlib import Path

FIRST, DAYS = datetime(2026, 5, 18), 21
STAFF = {
    "HS": ["Ruben Achterberg", "Dilys Vance"],
    "LI": ["Jonas Terwiel", "Mara Kessy", "Wanda Prill"],
    "NB": ["Theo Maas", "Aline Duforet", "Piet Olden"],
    "RW": ["Ines Corbach", "Mara Kessy"],
    "TH": ["Sigrid Oyen", "Hanno Biel"],
    "TK": ["Aline Duforet", "Yusuf Demirel"],
}
# free, combined, pH, temperature: middle value and how far it wanders, in hundredths; visitors at noon
USUAL = {
    "HS": ((45, 10), (12, 5), (715, 15), (2740, 90), 38),
    "LI": ((58, 12), (11, 6), (722, 20), (2260, 150), 260),
    "NB": ((46, 10), (12, 5), (718, 14), (2750, 80), 120),
    "RW": ((66, 14), (13, 6), (725, 20), (2310, 140), 310),
    "TH": ((85, 10), (13, 5), (712, 16), (3340, 90), 75),
    "TK": ((44, 9), (15, 4), (716, 12), (3080, 100), 44),
}


def numbers(seed):
    """Numbers from 0 to 1, the same on every machine."""
    state = seed
    while True:
        state = (state * 1103515245 + 12345) % 2**31
        yield state / 2**31


def typed(hundredths, places=2):
    return f"{hundredths / 100:.{places}f}".replace(".", ",")


def rows(code):
    chance = numbers(sum(map(ord, code)) * 7919)
    free, combined, ph, temp, visitors = USUAL[code]
    for day in range(DAYS):
        for hour, share in ((7, 0.4), (11, 1.0), (15, 1.3), (19, 0.7)):
            time = FIRST + timedelta(days=day, hours=hour)
            values = [round(m + w * (next(chance) + next(chance) - 1)) for m, w in (free, combined, ph, temp)]
            people = round(visitors * share * (0.6 + 0.8 * next(chance)))
            name = STAFF[code][int(next(chance) * len(STAFF[code]))]
            row = [f"{time:%Y-%m-%d %H:%M}", *map(typed, values[:3]), typed(values[3], 1), str(people), name]
            yield from faults(code, row)


def faults(code, row):
    """What people do to a sheet."""
    time = row[0]
    if code == "NB" and time == "2026-05-26 15:00":
        row[3] = row[3].replace(",", ".")
    if code == "RW" and time == "2026-05-28 11:00":
        row[1] = "0,24*"
    if code == "RW" and time == "2026-06-03 07:00":
        row[1] = "0,27*"
    if code == "LI" and time == "2026-05-30 19:00":
        return
    if code == "TK" and "2026-05-29 11:00" <= time <= "2026-05-29 15:00":
        row[2] = "0,23" if time.endswith("11:00") else "0,26"
    if code == "TH" and "2026-06-02 07:00" <= time <= "2026-06-02 19:00":
        row[1] = "1,08"
    if code == "NB" and "2026-06-04 11:00" <= time <= "2026-06-04 15:00":
        row[3] = "7,71"
    yield row
    if code == "HS" and time == "2026-05-27 11:00":
        yield [time, "0,51", *row[2:6], "Dilys Vance"]


def main():
    folder = Path("data")
    folder.mkdir(exist_ok=True)
    for code in sorted(USUAL):
        sheets = {}
        for row in rows(code):
            sheets.setdefault(row[0][:7], ["time;free;combined;ph;temp;visitors;by"]).append(";".join(row))
        for month, lines in sheets.items():
            (folder / f"{code}-{month}.csv").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
