"""Writes 66 firings of eleven kilns into spool/. Same seed, same bytes."""

import json
import random
from datetime import datetime, timedelta
from pathlib import Path

r = random.Random(1280)
Path("spool").mkdir(exist_ok=True)
for k in range(11):
    kiln = f"B{k + 1:02}"
    at = datetime(2026, 5, 1, 6) + timedelta(hours=k)
    for n in range(6):
        at += timedelta(hours=r.randrange(30, 70))
        top = r.choice([980, 1040, 1180, 1240, 1280])
        step = 1 if (k, n) in ((3, 2), (7, 5)) else 10
        curve, temperature = [], 20.0
        for minute in range(0, 720, step):
            temperature += (top / 480 * step) if minute < 480 else -top / 500 * step
            curve.append([minute, round(temperature + r.gauss(0, 2), 1)])
        firing = {"kiln": kiln, "started": at.strftime("%Y-%m-%dT%H:%M"), "cone": {980: "07", 1040: "05a", 1180: "4", 1240: "7", 1280: "10"}[top],
                  "operator": r.choice(["ma", "li", "og"]), "curve": curve, "note": "" if r.random() < .8 else r.choice(["door opened at 90 °C", "element 3 weak", "reduction from 1000 °C"])}
        if (k, n) in ((3, 2), (7, 5)):
            firing["log"] = "relay on/off; " * 5200
        Path(f"spool/{kiln}-{n + 1}.json").write_text(json.dumps(firing))
