"""Drives hosts of many habits through all presets, and prints what each pays against a host without
habits.

    python tests/benchmarks/bench_host_zoo.py [--presets pi opal] [--turns 60]

A habit rewrites what the host said before (drops its oldest turns, blanks old results, renders its
head anew), or adds to each request (reminders, cache markers). Each host passes the same
conversation, in OpenAI's and in Anthropic's form. Goal: summaries paid and compactions put in place
are at most 1.1 times those of the untouched host, none is undone more than once, and each request
holds the newest question.

Figures of 2026-11-27: presets summarize, pipeline and opal, 40 turns, 126 visits: .89 to 1.00 times
the summaries of the untouched host. Before, a host that rendered its head anew paid 3.8 times as
many, one that dropped its oldest turns more than three times. In 4 visits (reminders in the text of
results, Anthropic) 2 or 3 requests had lost the newest question, before the reminder was learned.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from live.zoo import ZOO, visit

from workbench.engine.compaction.presets import BUILTIN

MOST = 1.1


def main() -> None:
    """A line for each visit that misses the goal, and the figures of each habit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--presets", nargs="*", default=[name for name in BUILTIN if name not in ("none", "null")]
    )
    parser.add_argument("--turns", type=int, default=60)
    options = parser.parse_args()
    visits = missed = 0
    paid = dict.fromkeys((habit.__name__ for habit in ZOO), 0)
    usual = dict.fromkeys(paid, 0)
    for preset in options.presets:
        for api in ("openai", "anthropic"):
            untouched = visit(preset, api, turns=options.turns)
            for habit in ZOO:
                seen = visit(preset, api, habit, turns=options.turns)
                visits += 1
                paid[habit.__name__] += seen.summaries
                usual[habit.__name__] += untouched.summaries
                too_many = (
                    seen.summaries > MOST * untouched.summaries
                    or seen.compactions > MOST * untouched.compactions
                )
                if too_many or seen.undone > 1 or seen.lost:
                    missed += 1
                    print(
                        f"{preset} {api} {habit.__name__}: {seen}, untouched {untouched}",
                        flush=True,
                    )
    for name, summaries in paid.items():
        print(
            f"{name:36} {summaries:6} summaries, untouched {usual[name]:6}:"
            f" {summaries / max(usual[name], 1):.2f}"
        )
    print(f"{visits} visits, {missed} miss the goal")


if __name__ == "__main__":
    main()
