"""The table of results in the README, made from the run of the command above it.

`python docs/figures.py RUN` writes it into the README; with `--check` it says where README and run differ, and exits
with 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.analysis.paired import Estimate
from workbench.experiment.store import Results
from workbench.formats import gap, p_value, percent
from workbench.palette import REFERENCES
from workbench.report.comparison import differences
from workbench.report.tables import Tables
from workbench.report.verdict import over_sessions

README = Path(__file__).parent.parent / "README.md"
START, END = "<!-- results -->\n", "<!-- end of results -->\n"
SHARE = 0.2
"""Of the history: the size that all strategies are cut to."""


def lines(run: Tables) -> Iterator[str]:
    """The table of a run in Markdown, and below it what the means are over."""
    against = {row["strategy"]: row for row in differences(run).to_dict("records")}
    late, larger = run.unranked(SHARE), run.over_target(SHARE)
    yield "| strategy | still knows | 95 % interval | size used | against `truncate`, points | bound |"
    yield "|---|---|---|---|---|---|"
    for name in run.strategies:
        known, bound = run.equal_size(name, SHARE), run.at_sizes(name, "recall_bound")
        shown = f"*`{name}`*" if name in REFERENCES else f"`{name}`"
        if name in late:
            inside, of = larger[name]
            shown += f", over target in {inside} of {of}"
        row = against.get(name, {}) if name not in REFERENCES else {}
        used = run.used(name, SHARE)
        size = "" if used is None else percent(used)
        yield f"| {shown} | {_mean(known)} | {_interval(known)} | {size} | {_difference(row)} | {_mean(bound)} |"
    yield ""
    left, every = run.too_small.get(SHARE, (0, 0))
    out = f"; {left} of {every} boundaries are in no figure: what must stay is larger than the size" if left else ""
    yield f"Means over {over_sessions(run)}{out}."


def _mean(found: Estimate | None) -> str:
    return "" if found is None else percent(found.mean)


def _interval(found: Estimate | None) -> str:
    if found is None or found.low is None or found.high is None:
        return ""
    return f"{percent(found.low)} to {percent(found.high)}"


def _difference(row: dict[str, Any]) -> str:
    middle, low, high = (row.get(name) for name in ("difference", "low", "high"))
    if not isinstance(middle, float) or not isinstance(low, float) or not isinstance(high, float):
        return ""
    return f"{gap(middle)} ({gap(low)} to {gap(high)}), p = {p_value(row['p_holm'])}"


def main(run: str, check: bool) -> int:
    """Write or check the table; 1 where a check finds a difference."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    old, _, after = rest.partition(END)
    new = "\n".join(lines(Tables.of(Results.open(run), "truncate"))) + "\n"
    if check:
        for mine, theirs in zip(old.splitlines(), new.splitlines(), strict=False):
            if mine != theirs:
                sys.stdout.write(f"the README says: {mine}\nthe run says:    {theirs}\n")
        return int(old != new)
    README.write_text(before + START + new + END + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--check" in sys.argv))
