"""Draws losses of recordings and writes sheets for readers who label them.

    python reports/studies/losses/draw.py sheets RECORDINGS FILES OUT [LOSSES]
    python reports/studies/losses/draw.py join OUT LABELS

`sheets` reads FILES, one recording a line, below RECORDINGS. It draws as many losses of each, LOSSES
(200) in all, from what six strategies are listed to have lost, and writes OUT/sheet-1 to sheet-3
and OUT/second: a file an item, the definitions and an empty `labels.csv`. No sheet shows what the workbench says of
a loss. OUT/drawn.csv says which loss each item is. `join` puts the filled sheets and that together,
in the form of the labels beside this file, as LABELS; then `losses.py` scores them. It prints, too,
how often the second reader agrees.
"""

from __future__ import annotations

import csv
import random
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from losses import HERE, digest, prepared_session

from workbench.evaluation.experiment.loss_rows import loss_rows
from workbench.evaluation.experiment.prepared import Prepared, metric_input, read, replay
from workbench.evaluation.experiment.sources import SessionSource
from workbench.lab.judge.losses.page import LossAtHand, loss_page

STRATEGIES = ("claude_code", "ex_athena", "opencode", "pipeline", "summarize", "truncate")
LARGEST_WINDOW = 60_000
"""Tokens; a session that is shorter than two of them gets half of its own size."""
LOSSES, SHEETS, SECOND, SEED = 200, 3, 60, 8
MOST_OF_ONE = 4
"""How many times its share of the losses one recording may give, where others have fewer."""
PROCESSES = 2
ANSWERS = ("kind", "need", "stage", "way_back")
"""What a reader labels."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Which loss an item of a sheet is about, as the labels name it."""

    recording: str
    session: str
    window: int
    strategy: str
    at: int
    needed_at: int
    thing: str


COLUMNS = [field.name for field in fields(Drawn)]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A listed loss that may be drawn, with the page that a reader is shown of it."""

    loss: Drawn
    page: str


def candidates(path: Path, recording: str, limit: int) -> list[Candidate]:
    """Losses of the longest session of a recording, each thing once, drawn at random."""
    chance = random.Random(f"{SEED} {recording}")
    session = _longest(read(SessionSource(path=path), LARGEST_WINDOW).ready)
    window = min(LARGEST_WINDOW, sum(session.sizing.sizes) // 2)
    session = prepared_session(path, session.session.id, window)
    strategies = list(STRATEGIES)
    chance.shuffle(strategies)
    listed: dict[tuple[str, int], tuple[Drawn, LossAtHand]] = {}
    for strategy in strategies:
        data = metric_input(session, replay(session, strategy))
        for row in loss_rows(data):
            drawn = Drawn(
                recording=recording,
                session=session.session.id,
                window=window,
                strategy=strategy,
                at=row["at"],
                needed_at=row["needed_at"],
                thing=digest(row["entity"]),
            )
            thing = row["entity"], row["needed_at"]
            listed.setdefault(thing, (drawn, LossAtHand(data, row)))
    shuffled = list(listed.values())
    chance.shuffle(shuffled)
    return [Candidate(drawn, loss_page(loss).text) for drawn, loss in shuffled[:limit]]


def _longest(sessions: Sequence[Prepared]) -> Prepared:
    return max(sessions, key=lambda session: sum(session.sizing.sizes))


def in_turns(lists: Sequence[Sequence[Candidate]], limit: int) -> list[Candidate]:
    """One of each list in turn, until there are enough."""
    drawn: list[Candidate] = []
    longest = max(map(len, lists), default=0)
    for turn in range(longest):
        for choices in lists:
            if turn < len(choices) and len(drawn) < limit:
                drawn.append(choices[turn])
    return drawn


def write_sheets(recordings: Path, files: Path, out: Path, wanted: int) -> None:
    """Draw so many losses and write the sheets."""
    out.mkdir(parents=True, exist_ok=True)
    names = files.read_text(encoding="utf-8").splitlines()
    limit = MOST_OF_ONE * wanted // len(names)
    with ProcessPoolExecutor(PROCESSES) as pool:
        paths = [recordings / name for name in names]
        lists = list(pool.map(candidates, paths, names, [limit] * len(names)))
    for name, choices in zip(names, lists, strict=True):
        sys.stdout.write(f"{len(choices):4} losses of {name}\n")
    drawn = in_turns(lists, wanted)
    drawn.sort(key=lambda candidate: candidate.loss.recording)
    items = [f"{number:03}" for number in range(1, len(drawn) + 1)]
    second = set(random.Random(SEED).sample(items, min(SECOND, len(items))))
    rows: list[dict[str, object]] = []
    for place, (item, candidate) in enumerate(zip(items, drawn, strict=True)):
        rows.append({"item": item, **asdict(candidate.loss)})
        _write_item(out / f"sheet-{1 + place * SHEETS // len(drawn)}", item, candidate)
        if item in second:
            _write_item(out / "second", item, candidate)
    with (out / "drawn.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, ["item", *COLUMNS], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    for sheet in [out / "second", *out.glob("sheet-*")]:
        _finish(sheet)


def _write_item(sheet: Path, item: str, candidate: Candidate) -> None:
    sheet.mkdir(parents=True, exist_ok=True)
    page = f"# Item {item}\n\n{candidate.page}"
    (sheet / f"item-{item}.md").write_text(page, encoding="utf-8")


def _finish(sheet: Path) -> None:
    """Put the definitions, the instruction and an empty table beside the items."""
    shutil.copy(HERE / "DEFINITIONS.md", sheet)
    shutil.copy(HERE / "SHEET.md", sheet / "README.md")
    lines = [",".join(("item", *ANSWERS, "note"))]
    for item in sorted(sheet.glob("item-*.md")):
        number = item.stem.removeprefix("item-")
        lines.append(number + "," * (len(ANSWERS) + 1))
    (sheet / "labels.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def join(out: Path, labels: Path) -> None:
    """Write the filled sheets as labels, and print how often the second reader agrees."""
    answers: dict[str, dict[str, str]] = {}
    for sheet in sorted(out.glob("sheet-*")):
        answers |= _answers(sheet)
    with labels.open("w", encoding="utf-8", newline="") as file:
        columns = [*COLUMNS, *ANSWERS]
        table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for row in _table(out / "drawn.csv"):
            if row["item"] in answers:
                table.writerow(row | answers[row["item"]])
    for line in _agreement(answers, _answers(out / "second")):
        sys.stdout.write(f"{line}\n")


def _answers(sheet: Path) -> dict[str, dict[str, str]]:
    """By item what a reader filled in; items without a need are left out."""
    filled: dict[str, dict[str, str]] = {}
    for row in _table(sheet / "labels.csv"):
        if row["need"]:
            filled[row["item"].zfill(3)] = row
    return filled


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _agreement(
    first: dict[str, dict[str, str]],
    second: dict[str, dict[str, str]],
) -> Iterator[str]:
    both = first.keys() & second.keys()
    counts: dict[str, int] = defaultdict(int)
    for item in both:
        for answer in ANSWERS:
            counts[answer] += first[item][answer] == second[item][answer]
    for answer in ANSWERS:
        yield f"{answer}: two readers agree in {counts[answer]} of {len(both)}"


def main() -> None:
    """Draw, or join."""
    if sys.argv[1] == "join":
        join(Path(sys.argv[2]), Path(sys.argv[3]))
        return
    recordings, files, out = map(Path, sys.argv[2:5])
    wanted = LOSSES
    if len(sys.argv) > 5:
        wanted = int(sys.argv[5])
    write_sheets(recordings, files, out, wanted)


if __name__ == "__main__":
    main()
