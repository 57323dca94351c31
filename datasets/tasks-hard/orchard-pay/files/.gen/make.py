"""Makes June: crates as the bridge weighed them, the journal of the packing shed, the bridge's mail."""

import random
from pathlib import Path

CHANCE = random.Random("orchard-pay")
Path("data").mkdir()
PEOPLE = {
    "201": "Oda Brandt", "204": "Jonas Wirth", "207": "Mirela Pop", "211": "Adam Zych", "214": "Lene Voss",
    "219": "Karim Aziz", "223": "Petra Holub", "226": "Sam Oduya",
}
ROWS = [f"R{number:02}" for number in range(3, 24)]
DAYS = [f"2026-06-{day:02}" for day in (8, 9, 10, 11, 12, 15, 16, 17, 18, 19, 22, 23)]

lines = ["day,badge,scale,row,kg,mark"]
for day in DAYS:
    for badge in PEOPLE:
        if CHANCE.random() < 0.12:
            continue
        for _ in range(CHANCE.randrange(28, 46)):
            kg = round(CHANCE.uniform(3.6, 9.4), 2)
            mark = CHANCE.choice(["", "", "", "", "", "H", "W"])
            lines.append(f"{day},{badge},{CHANCE.randrange(1, 5)},{CHANCE.choice(ROWS)},{kg:.2f},{mark}")
Path("data/crates-2026-06.csv").write_text("\n".join(lines) + "\n")
Path("data/people.csv").write_text("badge,name\n" + "".join(f"{b},{n}\n" for b, n in PEOPLE.items()))

SAID = (
    "trailer {n} back from {row}, {m} crates, tyres fine",
    "cold room at {t:.1f} degrees, door closed",
    "{row}: ladders counted, {m} of {m}",
    "water brought to {row}, two barrels",
    "scale {s} cleaned, shows 0.00 when empty",
    "grader belt {s} stopped for {m} minutes, a leaf in the sensor",
    "visitor from the school asked about {row}, shown around",
)
FACTS = {
    ("2026-06-17", 5): "badges mixed up at the gate: all crates under 219 before noon and after were picked by 214; "
    "219 was ill at home all day",
    ("2026-06-11", 3): "rain from 13:10; foreman sends all home, wet fruit is marked W as always",
    ("2026-06-19", 7): "row R15 belongs to the monastery: its crates are weighed with ours but paid by the brothers",
    ("2026-06-22", 2): "new paper for the badge printer",
}
journal = []
for day in DAYS:
    for number in range(14):
        said = FACTS.get((day, number)) or CHANCE.choice(SAID).format(
            n=CHANCE.randrange(1, 6), row=CHANCE.choice(ROWS), m=CHANCE.randrange(9, 60),
            t=CHANCE.uniform(1.5, 4), s=CHANCE.randrange(1, 5),
        )
        journal.append(f"{day} {6 + number // 2:02}:{CHANCE.randrange(60):02} {said}")
Path("data/journal-2026-06.log").write_text("\n".join(journal) + "\n")
Path("tools/inbox.txt").write_text(
    "From: weighbridge service\nScale 3 showed 0.35 kg too much from 9 June to 12 June, both days included. It was "
    "set right on 12 June in the evening. We do not keep a copy of this message.\n"
)
