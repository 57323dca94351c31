"""Makes the long files: the manual of the shore protocol, and last winter's journal."""

import random
from pathlib import Path

CHANCE = random.Random("lantern")
Path("docs").mkdir()
PARTS = ["lamp", "horn", "radar buoy", "wind gauge", "pump 1", "pump 2", "heater", "anchor watch"]
SAYS = ["tested", "on", "off", "slow", "answers late", "checked by hand", "nothing unusual"]

codes = {number: f"{CHANCE.choice(PARTS)}: {CHANCE.choice(SAYS)}" for number in sorted(CHANCE.sample(range(300, 500), 70))}
codes.pop(417, None)
codes.pop(431, None)
codes[409], codes[423] = "queue: a job is held by somebody else", "queue: no such job"
lines = ["# Shore protocol, edition 7", "", "## 1. Lines", "",
         "The shore takes lines of at most 72 characters; what is longer is dropped whole, without a word.",
         "A line begins with the sender's mark and a blank. Marks are given out by the shore's office.", "",
         "## 2. Leases", "",
         "A worker holds a job for 120 seconds. Who needs longer asks again before the time is over.",
         "After 5 tries a job is given up and reported.", "", "## 3. Codes", ""]
lines += [f"- {number}: {what}" for number, what in sorted(codes.items())]
lines += ["", "## 4. Clocks", "", "The ship's clock may jump. Only the monotonic clock measures time that passes."]
Path("docs/protocol.md").write_text("\n".join(lines) + "\n")

winter = []
for day in range(1, 29):
    for _ in range(6):
        winter.append(f"02-{day:02} {CHANCE.randrange(24):02}:{CHANCE.randrange(60):02} {CHANCE.choice(PARTS)} {CHANCE.choice(SAYS)}")
winter.insert(61, "02-11 04:12 pump 2 and heater held job 88 at the same time: the heater's clock had jumped by an hour")
winter.insert(103, "02-18 13:40 a worker called \"\" (empty name) held job 91 and nobody could free it")
winter.insert(140, "02-24 02:05 job 97 was finished by pump 1 after pump 2 had got it: done twice, bilge dry, pump hot")
Path("docs/winter.log").write_text("\n".join(winter) + "\n")
