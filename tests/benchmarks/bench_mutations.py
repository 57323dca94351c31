"""What one odd value in a recording costs, and whether a word is said about it.

    python tests/benchmarks/bench_mutations.py [--count N] [--seed TEXT] [--show]

Changes one value of one record of a recording at a time, reads leniently, and compares the words,
roles and pairings of all other records with those of the recording as it was. Tried are recordings
of every format: small made-up ones, the starts of the bundled ones, and of other people's, where
../shared is. Prints how many were tried and how many failed; exits with 1 where any did.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from recordings.importers.mutations import (
    FAILURES,
    made_up,
    mutations,
    of_others,
    of_the_package,
    outcome,
)

from workbench.recordings.importers.importer import read


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--count", type=int, default=50, help="mutations of each recording")
    options.add_argument("--seed", default="mutations")
    options.add_argument("--show", action="store_true", help="print each failure")
    chosen = options.parse_args()
    outcomes: Counter[str] = Counter()
    recordings = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutated"
        for recording in (*made_up(), *of_the_package(Path(folder)), *of_others()):
            path.write_bytes(recording.raw())
            original = list(read(path, lenient=True))
            recordings += 1
            for mutation in mutations(
                recording, chosen.count, random.Random(f"{chosen.seed} {recording.name}")
            ):
                way, what = outcome(mutation, original, path)
                outcomes[way] += 1
                if chosen.show and way in FAILURES:
                    line = f"{recording.name}, {mutation.place}: {way}: {what[:300]}"
                    print("".join(char if char.isprintable() else " " for char in line))
    tried = outcomes.total()
    print(
        f"{tried:,} mutations of {recordings} recordings: {outcomes['same']:,} cost nothing else,"
        f" {outcomes['told']:,} cost something that a note tells, {outcomes['refused']:,} refused"
        " in a sentence"
    )
    for way in FAILURES:
        print(f"{way}: {outcomes[way]:,} of {tried:,}")
    return int(any(outcomes[way] for way in FAILURES))


if __name__ == "__main__":
    sys.exit(main())
