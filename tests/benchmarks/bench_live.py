"""Prints what a compactor owes to the agents of other people, each figure with its goal; exits with 1
where one is missed.

    python tests/benchmarks/bench_live.py [--sample] [--folder /dev/shm]

The figures come from the benchmarks beside this file, which print more of each: `bench_stress.py`,
`bench_host_zoo.py`, `bench_refusals.py` and `bench_journal.py`. The whole drives all presets and
takes some twenty minutes; of these, four wait for summarisers that never answer. The sample drives a
few in some eighteen seconds of a quiet core. It waits for those summarisers 1 second and allows 5, and
counts the processor's time of a save, so that it says the same on a busy machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from benchmarks import bench_host_zoo, bench_journal, bench_refusals, bench_stress
from engine.compaction.documented import OPTIONS, ways_that_differ
from live.dead_summariser import worst_block
from live.two_conversations import mixture
from preset_names import BUILTIN_PRESETS

from workbench import SettingError, Settings

COMPACTING = tuple(name for name in BUILTIN_PRESETS if name not in ("none", "null"))
COUNTS = {
    "over window": "requests over the window",
    "broken pairs": "requests with a broken pair",
    "lost": "lost messages",
    "escaped": "escaped exceptions",
}
"""What `bench_stress` counts, and how the figure is called here."""
MESSAGES = 10_000


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is driven.

    Attributes:
        refusal_stride: of the cases of refusals each so-many-th is driven.
        model_seconds: for which a summariser is waited for.
        most_block: seconds that a request may wait for one that never answers.
        is_processor_time: whether a save is measured by the processor's time alone.
    """

    presets: Sequence[str]
    stress_turns: int
    zoo_presets: Sequence[str]
    zoo_turns: int
    refusal_presets: Sequence[str]
    refusal_stride: int
    journal_presets: Sequence[str]
    model_seconds: float
    most_block: float
    is_processor_time: bool


WHOLE = Extent(
    presets=COMPACTING,
    stress_turns=200,
    zoo_presets=COMPACTING,
    zoo_turns=60,
    refusal_presets=tuple(BUILTIN_PRESETS),
    refusal_stride=1,
    journal_presets=tuple(sorted(BUILTIN_PRESETS)),
    model_seconds=60.0,
    most_block=60.0,
    is_processor_time=False,
)
SAMPLE = Extent(
    presets=("summarize", "opal", "pi"),
    stress_turns=20,
    zoo_presets=("summarize",),
    zoo_turns=12,
    refusal_presets=("pi",),
    refusal_stride=2,
    journal_presets=("clear_tool_uses", "pi"),
    model_seconds=1.0,
    most_block=5.0,
    is_processor_time=True,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and its goal.

    Attributes:
        goal: the most that it may be, or the least.
        is_least: whether it is the least.
        basis: of how many it was counted, in words.
    """

    name: str
    value: float
    goal: float
    is_least: bool = False
    basis: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the goal is met."""
        return self.value >= self.goal if self.is_least else self.value <= self.goal

    def __str__(self) -> str:
        sign = ">=" if self.is_least else "<="
        verdict = "" if self.is_met else "MISSED"
        return (
            f"{self.name:52}{self.value:10.4g}   {sign} {self.goal:<6g}{verdict:8}{self.basis}"
        ).rstrip()


def figures(extent: Extent, folder: Path) -> Iterator[Figure]:
    """All figures, one after another."""
    yield from stress_figures(extent)
    yield thread_figure(extent)
    yield zoo_figure(extent)
    yield refusal_figure(extent)
    yield block_figure(extent)
    yield journal_figure(extent, folder)
    yield settings_figure()


def stress_figures(extent: Extent) -> Iterator[Figure]:
    """What must be 0, under formats, habits of hosts and faults."""
    counts: Counter[str] = Counter()
    for combination in bench_stress.combinations(extent.presets, every=False):
        counts += bench_stress.driven(*combination, extent.stress_turns, window=16_000)
    for head, name in COUNTS.items():
        yield Figure(name, counts[head], 0, basis=f"of {counts['requests']:,} requests")


def thread_figure(extent: Extent) -> Figure:
    """Requests with the text of another conversation, where two threads share a compactor."""
    mixtures = [mixture(preset) for preset in extent.presets]
    requests = sum(handed_out.requests for handed_out in mixtures)
    wrong = sum(handed_out.wrong for handed_out in mixtures)
    return Figure("requests with another conversation's text", wrong, 0, basis=f"of {requests:,}")


def zoo_figure(extent: Extent) -> Figure:
    """Summaries paid by the host whose habit costs most."""
    pairs: list[bench_host_zoo.Pair] = []
    for preset in extent.zoo_presets:
        pairs += bench_host_zoo.pairs_of(preset, extent.zoo_turns)
    ratios = bench_host_zoo.ratios(pairs)
    habit = max(ratios, key=lambda name: ratios[name])
    return Figure(
        "summaries paid for each of an untouched host",
        ratios[habit],
        bench_host_zoo.MOST,
        basis=f"{len(pairs)} visits, most by {habit}",
    )


def refusal_figure(extent: Extent) -> Figure:
    """Refused requests after which the next one keeps enough, in percent."""
    cases = bench_refusals.cases(extent.refusal_presets)
    outcomes: list[bench_refusals.Outcome] = []
    for case in islice(cases, 0, None, extent.refusal_stride):
        outcomes += bench_refusals.driven(case)
    enough = sum(outcome.share >= bench_refusals.GOAL for outcome in outcomes)
    return Figure(
        "refusals that keep at least 40 % of the target, %",
        100 * enough / max(len(outcomes), 1),
        99,
        is_least=True,
        basis=f"of {len(outcomes)} refusals",
    )


def block_figure(extent: Extent) -> Figure:
    """How long a request waits for a summariser that never answers."""
    settings = Settings(model_seconds=extent.model_seconds)
    if extent.model_seconds == WHOLE.model_seconds:
        settings = Settings()  # what a host has that says nothing
    seconds = worst_block(extent.presets, settings)
    return Figure(
        "worst block by a dead summariser, s",
        seconds,
        extent.most_block,
        basis=f"{len(extent.presets)} presets",
    )


def journal_figure(extent: Extent, folder: Path) -> Figure:
    """What a request and a durable save take behind 10,000 messages, by the slowest preset."""
    medians: dict[str, float] = {}
    for preset in extent.journal_presets:
        times = bench_journal.times_of(preset, MESSAGES, 128_000, folder)
        medians[preset] = median(times.processor if extent.is_processor_time else times.both)
    slowest = max(medians, key=lambda name: medians[name])
    line_milliseconds = 1e3 * bench_journal.fsync_seconds(folder)
    return Figure(
        f"request and durable save at {MESSAGES:,} messages, ms",
        1e3 * medians[slowest],
        1e3 * bench_journal.GOAL,
        basis=f"{slowest}; the disk takes {line_milliseconds:.2f} ms for a line",
    )


def settings_figure() -> Figure:
    """Documented options that work by their name in Python, text, file and `Compactor`."""
    reachable = 0
    for name, option, value in OPTIONS:
        try:
            reachable += not ways_that_differ(name, option, value)
        except (SettingError, TypeError) as error:
            print(f"{name} {option}: {error}")
    return Figure(
        "documented settings reached by their public name",
        reachable,
        len(OPTIONS),
        is_least=True,
        basis=f"of {len(OPTIONS)}",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", action="store_true", help="a few presets, in a short time")
    parser.add_argument("--folder", help="for the files; the system's own if left out")
    options = parser.parse_args(arguments)
    missed = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for figure in figures(SAMPLE if options.sample else WHOLE, Path(folder)):
            print(figure, flush=True)
            missed += not figure.is_met
    print(f"{missed or 'no'} goal(s) missed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
