"""Writes data/skus.csv and data/events-0412.jsonl, a day of requests like those of 12 April. Same seed, same bytes."""

import csv
import json
import random
from datetime import datetime, timedelta

r = random.Random(412)
KINDS = [("HX", "hex bolt"), ("WN", "wing nut"), ("SP", "split pin"), ("WS", "washer"), ("AN", "wall anchor"), ("HG", "hinge")]
SIZES = {"B": 1, "S": 4, "M": 10, "L": 25}
skus = []
for i in range(24):
    kind, name = KINDS[i % len(KINDS)]
    size = "BSML"[i // len(KINDS)]
    skus.append((f"{kind}-{2200 + i * 5}-{size}", f"{name} {2 + i % 5 * 2} mm", SIZES[size], r.randrange(4, 240)))
with open("data/skus.csv", "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["sku", "name", "pack", "cents"])
    out.writerows(skus)

events, moment = [], datetime(2026, 4, 12, 6, 0)
for n, (sku, _, pack, _) in enumerate(skus):
    for k, warehouse in enumerate(("graz", "linz", "ulm")):
        events.append({"action": "receipt", "at": moment.isoformat(), "sku": sku, "warehouse": warehouse, "pieces": r.randrange(3, 9) * pack, "ref": f"DN-{7300 + n * 3 + k}"})
placed, number = [], 40290
while moment < datetime(2026, 4, 12, 18, 0):
    moment += timedelta(seconds=r.randrange(60, 400))
    roll = r.random()
    if roll < 0.50 or not placed:
        lines = [{"sku": sku, "packs": r.randrange(1, 4)} for sku, *_ in r.sample(skus, r.randrange(1, 4))]
        events.append({"action": "place", "at": moment.isoformat(), "shop_order": f"S-{number}", "customer": f"C{r.randrange(100, 999)}", "lines": lines})
        placed.append((f"S-{number}", lines))
        number += 1
    elif roll < 0.75:
        order, _ = placed.pop(r.randrange(len(placed)))
        events.append({"action": "pay", "at": moment.isoformat(), "shop_order": order})
    elif roll < 0.90:
        order, lines = placed[r.randrange(len(placed))]
        position = r.randrange(len(lines))
        event = {"action": "cancel", "at": moment.isoformat(), "shop_order": order, "position": position + 1}
        if lines[position]["packs"] > 1:
            event["packs"] = 1
        events.append(event)
    else:
        events.append({"action": "sweep", "at": moment.isoformat()})
with open("data/events-0412.jsonl", "w") as file:
    file.writelines(json.dumps(event) + "\n" for event in events)
