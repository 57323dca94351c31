"""What figures stand on, before and after: sizes, projects, windows, costs, outages, bills and text
that was read.

    nice -n 5 python tests/benchmarks/bench_accounting.py [PATH ...] [--share 0.2] [--strategies
    summarize,ex_athena]

Without paths it takes ../shared/corpora and ../shared/more-projects. *Sizes*: the tables of
reports/studies/sizes: for each strategy how much of the size asked for it used, the difference from
truncate at the size asked for (as it was counted before) and from truncate cut to the very size
that the strategy used, with 95 % intervals over projects; and the boundaries at which what must
stay is larger than the size, which were scored before, also those of recorded compactions, with
what a tenth of the history came to. *Projects*: coverage and false alarms with sessions as the unit
(before) and projects, by simulation. *Windows*: from the price table first (before) and from
evidence first, with the compactions of truncate in both. *Cost*: a mean of ratios beside mean
dollars (before), and the ratio of sums. Then come `bench_outages.py`, `bench_reconciliation.py`
(bills) and `bench_text_read.py`, which can be run alone; `--only` names some of the seven.

Exits with 1 where one of the last three does. All of it takes some seven minutes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "reports" / "studies" / "sizes"))

from sizes import BASELINE, SHARE, STRATEGIES, compactions, lines, measured, sessions, table_window

from workbench import Prepared, compare, metric_input, replay
from workbench.evaluation.analysis.paired import interval, project_means, sign_flip

SHARED = Path(__file__).parents[3] / "shared"
PATHS = [str(SHARED / "corpora"), str(SHARED / "more-projects")]
PARTS = ("sizes", "projects", "windows", "costs", "outages", "reconciliation", "text_read")


def main() -> int:
    """Print the rows; 1 where a part fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", default=PATHS)
    parser.add_argument("--share", type=float, default=SHARE)
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument(
        "--only", nargs="*", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    given = parser.parse_args()
    wanted = [part for part in PARTS if part in given.only]
    every = list(sessions(given.paths)) if {"sizes", "windows", "costs"} & set(wanted) else []
    failed = 0
    for part in wanted:
        if part == "sizes":
            frames = measured(every, given.strategies.split(","), given.share)
            write("\n".join(lines(frames["scores"], frames["windows"])))
            too_small(every)
        elif part == "projects":
            for correlation in (0.1, 0.2, 0.3):
                of_projects(correlation)
        elif part in ("windows", "costs"):
            (windows if part == "windows" else costs)(every)
        else:
            for paths in [[]] if part == "outages" else [[path] for path in given.paths]:
                write(f"\n{part} {' '.join(paths)}")
                sys.stdout.flush()
                command = [
                    sys.executable,
                    str(Path(__file__).with_name(f"bench_{part}.py")),
                    *paths,
                ]
                failed |= subprocess.run(command, check=False).returncode != 0
    return int(failed)


def write(text: str) -> None:
    """A line."""
    sys.stdout.write(text + "\n")


def too_small(every: Sequence[Prepared], share: float = 0.1) -> None:
    """What a small size comes to, and recorded compactions to less than what must stay, with and
    without these.
    """
    before, now, recorded = list[float](), list[float](), list[bool]()
    sessions = [ready.session for ready in every]
    with TemporaryDirectory() as out:
        rows = compare(
            sessions, strategies=("truncate",), shares=(share,), out=Path(out) / "run", quiet=True
        ).boundaries
    for _, places in rows[rows["mode"] == "matched"].groupby("session"):
        sizes = places["target"] / places["history"].clip(lower=1)
        fits = places["left_out"] == 0
        before.append(float(sizes.mean()))
        if fits.any():
            now.append(float(sizes[fits].mean()))
    recorded += (rows.loc[rows["mode"] == "recorded", "left_out"] == 0).tolist()
    told = [
        f"{mean(sizes):.1%} on average, {sum(size > 0.3 for size in sizes)} of {len(sizes)} sessions above 30 %"
        for sizes in (before, now)
        if sizes
    ]
    write(
        f"asked for {share:.0%} of the history: before {told[0]}; now {told[-1]}"
        if told
        else "no boundary"
    )
    write(
        f"recorded compactions: before {len(recorded)} were scored, now {sum(recorded)}: the other "
        f"{recorded.count(False)} are to less than what must stay"
    )


def of_projects(correlation: float, projects: int = 14, samples: int = 1_500) -> None:
    """Coverage and false alarms of 37 sessions of 14 projects, as in the review, by unit."""
    dice = np.random.default_rng(15)
    names = np.sort(
        np.concatenate([np.arange(projects), dice.integers(0, projects, 37 - projects)])
    )
    alike = np.sqrt(correlation) * dice.normal(size=(samples, projects))[:, names]
    sessions = alike + np.sqrt(1 - correlation) * dice.normal(size=(samples, len(names)))
    means = np.array([project_means(sample, [str(name) for name in names]) for sample in sessions])
    found = []
    for values in (sessions, means):
        low, high = interval(values)
        alarms = (sign_flip(values, draws=999) <= 0.05).mean()
        found.append(
            f"intervals cover {((low <= 0) & (high >= 0)).mean():.0%}, tests err in {alarms:.0%}"
        )
    write(
        f"correlation {correlation} in projects: before, by sessions, {found[0]}; by projects,"
        f" {found[1]}"
    )


def windows(every: Sequence[Prepared]) -> None:
    """The window of each session by both orders, and how often truncate compacts in it."""
    for ready in every:
        if (old := table_window(ready)) != ready.window:
            times = compactions(ready)
            write(
                f"{ready.session.id[:38]:<38} window before {old:>9,} with {times[0]} compactions, "
                f"now {ready.window:>9,} ({ready.wanted.source}) with {times[1]}"
            )


def costs(every: Sequence[Prepared]) -> None:
    """What truncate costs on its own trigger, by both definitions."""
    bills = []
    for ready in every:
        bill = metric_input(ready, replay(ready, BASELINE)).bill
        if bill is not None and bill.usd_plain:
            bills.append((bill.usd_plain, bill.net_saving))
    if bills:
        plain, saved = (sum(part) for part in zip(*bills, strict=True))
        write(
            f"cost: before ${(plain - saved) / len(bills):.2f} a session beside"
            f" {mean(s / p for p, s in bills):+.0%} saved, a mean of ratios; now"
            f" {saved / plain:+.0%}, the ratio of sums, {len(bills)} sessions"
        )


if __name__ == "__main__":
    sys.exit(main())
