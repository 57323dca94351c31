"""How often the final figures of an advice lie within the interval of its first preliminary ones.

Usage: python tests/benchmarks/bench_preliminary_advice.py RECORDINGS... [--window N]
       [--strategies A,B] [--kept FOLDER] [--draws N]

Each of RECORDINGS is a file or folder. Every strategy is replayed and simulated on every session;
the first strategy is what the others are compared with. Then recordings are drawn again and again
as the folder of a user, of which one to a half has been measured, and the preliminary figures (the
lead in points, the share of the bill, the dollars a session) are compared with those of the whole
folder. Recordings are read in a random order in one half of the draws, smallest first in the other.
A glance at one recording of each draw, which sees two of its boundaries and simulates nothing, is
compared likewise.

Prints how many of each lie within their interval, and exits with 1 where fewer do than promised.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pandas as pd

from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.experiment.processes import lasting_workers
from workbench.evaluation.experiment.sources import SessionSource, sessions_in
from workbench.lab.advice import glance
from workbench.lab.advice.advice import UNCOMPACTED
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.advise import Search
from workbench.lab.advice.preliminary import AdviceSoFar

BAR = 0.95
"""The share of final figures that are to lie within their interval."""
FEWEST = 3
"""Recordings of a user, at least."""
FIGURES = ("points", "saved", "usd")


def main() -> int:
    """Measure, draw, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recordings", nargs="+", type=Path)
    parser.add_argument("--window", type=int, default=16_000, help="Tokens of the window.")
    parser.add_argument("--strategies", default="summarize,truncate,pipeline", help="With commas.")
    parser.add_argument("--draws", type=int, default=100, help="Folders that are drawn.")
    parser.add_argument(
        "--kept", type=Path, default=Path("preliminary"), help="Where runs are kept, to go on."
    )
    arguments = parser.parse_args()
    arguments.kept.mkdir(parents=True, exist_ok=True)
    strategies = arguments.strategies.split(",")
    grid = arguments.kept / "candidates.toml"
    grid.write_text(f"strategies = {strategies}\n", encoding="utf-8")
    spec = AdviceSpec(
        space=grid,
        default=strategies[0],
        window=arguments.window,
        model=("extractive",),
        out=arguments.kept / "run",
        quiet=True,
    )
    search = Search.of(list(map(str, arguments.recordings)), spec)
    with lasting_workers():
        rows = search.measured.of(search.candidates.points, search.order)
    sizes = {name: source.bytes for name, source in search.measured.sources.items()}
    counts = counted(rows, strategies[0], sizes, arguments.draws)
    glances = {name: glanced(source, spec) for name, source in search.measured.sources.items()}
    counts |= counted_at_a_glance(rows, glances, sizes, arguments.draws)
    for figure, held in counts.items():
        print(f"{figure}: {sum(held)} of {len(held)} lie within ({sum(held) / len(held):.1%})")
    return int(any(sum(held) < BAR * len(held) for held in counts.values()))


def counted(
    rows: pd.DataFrame, default: str, sizes: Mapping[str, int], draws: int
) -> dict[str, list[bool]]:
    """By figure whether the final one lies within the interval of the preliminary one, in each
    draw that has both.

    Args:
        rows: of every candidate on every recording, as of `Measurements.of`.
        default: the candidate that the others are compared with.
        sizes: by recording its bytes.
        draws: how many folders are drawn.
    """
    units = sorted(rows["unit"].unique())
    held: dict[str, list[bool]] = defaultdict(list)
    for seed in range(draws):
        random = Random(seed)
        drawn = random.sample(units, random.randint(min(FEWEST, len(units)), len(units)))
        if seed % 2:
            drawn.sort(key=lambda unit: sizes[unit])
        measured_count = random.randint(1, max(1, len(drawn) // 2))
        by_bill = known(rows, default, drawn, measured_count, sizes)
        if by_bill is None:
            continue
        pair = rows[rows["candidate"].isin([default, by_bill.rival])]
        last = known(pair, default, drawn, len(drawn), sizes)
        for figure, is_within in compared(by_bill, last):
            held[figure].append(is_within)
        by_size = known(rows, default, drawn, measured_count, sizes, by_size=True)
        for figure, is_within in compared(by_size, last):
            if figure == "saved":
                held["saved, by sizes of files"].append(is_within)
    return held


def glanced(source: SessionSource, spec: AdviceSpec) -> glance.Glance | None:
    """A glance at a recording."""
    return glance.glance(source, sessions_in(source), spec)


def counted_at_a_glance(
    rows: pd.DataFrame,
    glances: Mapping[str, glance.Glance | None],
    sizes: Mapping[str, int],
    draws: int,
) -> dict[str, list[bool]]:
    """The same for a glance at one recording of each draw; in one half of the draws, which have one
    recording alone, the whole of it is compared with the part that was seen.
    """
    units = sorted(rows["unit"].unique())
    held: dict[str, list[bool]] = defaultdict(list)
    for seed in range(draws):
        random = Random(seed)
        count = random.randint(min(FEWEST, len(units)), len(units)) if seed % 2 else 1
        drawn = random.sample(units, count)
        first_glance = glances[drawn[0]]
        if first_glance is None:
            continue
        of_draw = pd.Series({unit: float(sizes[unit]) for unit in drawn})
        first = first_glance.so_far(of_draw)
        if first is None:
            continue
        pair = rows[rows["candidate"].isin([first.default, first.rival])]
        last = known(pair, first.default, drawn, len(drawn), sizes)
        for figure, is_within in compared(first, last):
            held[f"{figure}, at a glance"].append(is_within)
    return held


def known(
    rows: pd.DataFrame,
    default: str,
    units: Sequence[str],
    count: int,
    sizes: Mapping[str, int],
    *,
    by_size: bool = False,
) -> AdviceSoFar | None:
    """What is known of some recordings, of which so many are measured; `by_size` as before the
    bills of the others are known.
    """
    of_units = rows[rows["unit"].isin(units)]
    is_measured = of_units["unit"].isin(units[:count])
    is_of_default = of_units["candidate"] == default
    rows_of_default = of_units[is_of_default]
    if by_size:
        rows_of_default = of_units[is_of_default & is_measured]
    return AdviceSoFar.of(
        of_units[is_measured],
        rows_of_default,
        pd.Series({unit: float(sizes[unit]) for unit in units}),
        default,
        Trade(AdviceSpec().worth),
        UNCOMPACTED,
    )


def compared(first: AdviceSoFar | None, last: AdviceSoFar | None) -> Iterator[tuple[str, bool]]:
    """Each figure, and whether the last one lies within the interval of the first."""
    if first is None or last is None:
        return
    for figure in FIGURES:
        before: Estimate | None = getattr(first, figure)
        after: Estimate | None = getattr(last, figure)
        if before is None or after is None or before.low is None or before.high is None:
            continue
        yield figure, before.low <= after.mean <= before.high


if __name__ == "__main__":
    sys.exit(main())
