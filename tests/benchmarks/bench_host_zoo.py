"""Drives hosts of many habits through all presets, and prints what each pays against a host without
habits.

    python tests/benchmarks/bench_host_zoo.py [--presets pi opal] [--turns 60]

A habit rewrites what the host said before (drops its oldest turns, blanks old results, renders its
head anew), or adds to each request (reminders, cache markers). Each host passes the same
conversation, in OpenAI's and in Anthropic's form. Goal: summaries paid and compactions put in place
are at most 1.1 times those of the untouched host, none is undone more than once, and each request
holds the newest question. A reminder makes a request longer; the untouched host beside it has the
same text in its system prompt.

Figures of 2026-11-27: all presets, 20 turns, 756 visits: .94 to 1.00 times the summaries of the
untouched host, no newest question lost, no visit misses the goal. Earlier, six visits lost the
question behind a reminder that stands as a part of its own behind Anthropic's results. Beside a
host without the reminder's 31 tokens, langchain_20 pays 15 summaries for 13: a request is 7 tokens
above its trigger. With as long a system prompt the untouched host pays the same 15.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from live.habits import reminder
from live.zoo import ZOO, no_text, same_reminder, text_added_by, visit

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
            untouched_by_prompt = {}
            for prompt in (no_text, reminder, same_reminder):
                untouched_by_prompt[prompt] = visit(preset, api, turns=options.turns, prompt=prompt)
            for habit in ZOO:
                untouched = untouched_by_prompt[text_added_by(habit)]
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
