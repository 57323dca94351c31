"""Makes the lots of the autumn and the reports of three inspections."""

import random
from pathlib import Path

CHANCE = random.Random("seedbank-labels")
for folder in ("data", "reports"):
    Path(folder).mkdir()
SPECIES = [
    "Achillea millefolium", "Briza media", "Campanula patula", "Dianthus carthusianorum", "Festuca ovina",
    "Galium verum", "Knautia arvensis", "Leucanthemum vulgare", "Salvia pratensis", "Trifolium montanum",
]
PLACES = [
    "Mill Meadow", "Upper Quarry, behind the third gate", "Railway Bank", "St. Anne's Slope above the old chapel",
    "Long Ridge", "Toll House",
]
PEOPLE = ["Hedwig Lorenz", "Tam Okafor", "Ilka Brandner", "Piet de Wit"]

held = [f"SB-26-{number}" for number in (169, 127, 274, 265, 103, 130, 280)]
lots = []
lines = ["lot,species,place,collector,collected,germination,grams"]
for number in range(1, 61):
    lot = f"SB-26-{100 + 3 * number}"
    lots.append(lot)
    day = f"2026-{CHANCE.randrange(6, 11):02}-{CHANCE.randrange(1, 29):02}"
    germination = CHANCE.randrange(66, 99) if lot in held else CHANCE.randrange(45, 99)
    grams = CHANCE.randrange(3, 12) if number % 6 == 0 else CHANCE.randrange(20, 240)
    where = f'"{CHANCE.choice(PLACES)}"'
    lines.append(f"{lot},{CHANCE.choice(SPECIES)},{where},{CHANCE.choice(PEOPLE)},{day},{germination},{grams}")
lots = [lot for lot in lots if lot not in held]
CHANCE.shuffle(lots)
Path("data/lots-2026.csv").write_text("\n".join([lines[0], *CHANCE.sample(lines[1:], 60)]) + "\n")

QUIET = (
    "{lot}: dry, clean, bag closed. Nothing to note.",
    "{lot}: some chaff, below what the handbook allows. Weighed again, {n} g.",
    "{lot}: bag changed, the old one was torn at the corner. Content complete.",
    "{lot}: looked at under the glass, {n} seeds, all sound.",
    "{lot}: humidity {n} %, back to the drying room for two days, then fine.",
    "{lot}: a beetle on the table, not in the bag. Opened again a week later: nothing.",
)
HELD = (
    "{lot}: larvae in the sample. Not to leave the house before the cold treatment is written down.",
    "{lot}: seeds of ragwort among ours. Back to cleaning; nobody gets any of it.",
    "{lot}: mould at the seam. Keep apart until the laboratory has answered.",
)
FREED = "{lot}: cold treatment done and written down, larvae dead, free again."
shares = {"september": lots[:23], "october-1": lots[23:38], "october-2": lots[38:]}
for number, (name, share) in enumerate(shares.items()):
    said = [CHANCE.choice(QUIET).format(lot=lot, n=CHANCE.randrange(6, 90)) for lot in share]
    said += [CHANCE.choice(QUIET).format(lot=lot, n=CHANCE.randrange(6, 90)) for lot in CHANCE.sample(lots, 22)]
    mine = held[:3] if number == 0 else held[3:5] if number == 1 else held[5:]
    said += [HELD[(at + number) % 3].format(lot=lot) for at, lot in enumerate(mine)]
    CHANCE.shuffle(said)
    if number == 2:
        said.append(FREED.format(lot=held[0]))
    head = f"# Inspection, {name}\n\nThe inspector writes as she goes, in the order of the shelves.\n\n"
    Path(f"reports/{name}.md").write_text(head + "\n\n".join(said) + "\n")
Path("labels/printer.cfg").write_text("[printer]\nmodel = TL-90\nwidth = unknown\ncodepage = cp437\n")
