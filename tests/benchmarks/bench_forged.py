"""Forges one of four sessions in each way of `tests/evaluation/experiment/forged.py`; prints what
moves and is said.

    python tests/benchmarks/bench_forged.py

Silent is a forgery that moves a figure of a strategy by more than `NEAR` while no sentence names
its session. Exits with 1 where one is.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from evaluation.experiment.forged import FORGERIES
from evaluation.experiment.forging import NEAR, WINDOWS, figures_of, outcome_of


def main() -> int:
    tried = silent = 0
    with TemporaryDirectory() as folder:
        for window in WINDOWS:
            print(
                f"{f'in a window of {window:,} tokens' if window else 'in its own window':62}{'moved by':>10}"
                "  said"
            )
            honest = figures_of(Path(folder), window)
            for name in FORGERIES:
                outcome = outcome_of(name, Path(folder), window, honest)
                tried, silent = tried + 1, silent + outcome.is_silent
                words = "SILENT" if outcome.is_silent else next(iter(outcome.sentences), "-")
                print(f"{name:62}{100 * outcome.moved:8.1f} %  {words[:90]}")
    print(
        f"\n{tried} tried, {silent} silent (a figure moves by more than {NEAR:.0%} and nothing is"
        " said)"
    )
    return int(silent > 0)


if __name__ == "__main__":
    sys.exit(main())
