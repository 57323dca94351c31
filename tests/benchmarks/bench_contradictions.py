"""Whether the faces of finished runs contradict each other: each quantity in terminal, report,
notebook, view and JSON; and whether each difference is that of the means beside it.

Usage: python tests/benchmarks/bench_contradictions.py RUN... [--losses N]

Each RUN is the folder of a finished run, of `compare`, `lab sweep` or `advise`. Its report is
written anew. Prints a line a run and one a contradiction; exits with 1 where there is any.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from evaluation.findings.faces import contradictions, faces_of


def main() -> int:
    """Crawl the runs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument(
        "--losses", type=int, default=3, help="Losses of each run whose stage is looked up."
    )
    arguments = parser.parse_args()
    wrong = 0
    for run in arguments.runs:
        faces = faces_of(run.resolve(), arguments.losses)
        readings = faces.readings()
        lines = [
            *map(str, contradictions(readings)),
            *faces.impossible_counts(),
            *faces.wrong_differences(),
            *faces.refused,
        ]
        quantities = len({reading.quantity for reading in readings})
        print(
            f"{run}: {quantities} quantities, {len(readings)} readings, {len(lines)}"
            " contradictions",
            flush=True,
        )
        for line in lines:
            print(f"  {line}")
        wrong += len(lines)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
