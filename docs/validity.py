"""The measured parts of docs/validity.md, each between two marks.

`python docs/validity.py behaviour RECORDINGS...` writes one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from workbench.analysis.fetched_again import by_way, figures, lead_note, ranks, with_intervals
from workbench.formats import decimal, some
from workbench.validation.used_things import CONTROL, compacted, used_things

PAGE = Path(__file__).parent / "validity.md"
SHOWN = ("if_lost", "if_kept", "auc", "alike", "lead")
STRATA = ("kind", "source", "recoverable", "when")


def behaviour(paths: Sequence[str]) -> Iterator[str]:
    """What `workbench validate behaviour` says of some recordings."""
    rows = used_things(compacted(paths))
    own = rows[rows["context"] == "recorded"]
    projects = own.groupby("project")["session"].nunique().sort_values(ascending=False, kind="stable")
    names = ", ".join(f"{name} ({n})" for name, n in projects.items())
    compactions = some(own.groupby(["session", "compaction"]).ngroups, "compaction")
    yield f"{compactions} in {some(int(projects.sum()), 'session')} of {some(len(projects), 'project')}: {names}."
    yield ""
    yield from _table(by_way(rows).rename(columns={"how": "how the agent came by it"}))
    yield ""
    yield "| context | metric | lost, of | fetched again if lost | if kept | AUC | pairs alike | less presence's AUC |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, title in (("recorded", "the agent's own"), (CONTROL, f"*{CONTROL}*, which it never had")):
        for row in with_intervals(figures(rows[rows["context"] == name])).to_dict("records"):
            numbers = " | ".join(row[one] for one in SHOWN)
            yield f"| {title} | {row['metric']} | {row['lost']}, {row['things']} | {numbers} |"
    yield ""
    yield f"{lead_note(figures(own))} Over projects: {_interval(figures(own, unit='project'))}."
    yield ""
    yield "| | things | fetched again | presence: if lost, if kept, AUC | exam: if lost, if kept, AUC |"
    yield "|---|---|---|---|---|"
    for stratum in STRATA:
        for key, one in figures(own, [stratum]).groupby(stratum, sort=False):
            by = one.set_index("metric")
            cells = [", ".join(decimal(by.loc[name, part]) for part in SHOWN[:3]) for name in ("presence", "exam")]
            shown = f"{stratum}: {key}" if stratum != "when" else f"first used {key} messages later"
            yield f"| {shown} | {by['things'].iloc[0]} | {decimal(by['fetched'].iloc[0])} | {' | '.join(cells)} |"
    yield ""
    yield "Rank correlation over sessions of the mean verdict with the share fetched again (only of what the metric"
    each = [
        f"{row['metric']} {decimal(row['used'])} ({decimal(row['asked'])})" for row in ranks(rows).to_dict("records")
    ]
    yield f"demands or asks): {', '.join(each)}."


def _interval(found: pd.DataFrame) -> str:
    return str(with_intervals(found).set_index("metric").loc["exam", "lead"])


def _table(found: pd.DataFrame) -> Iterator[str]:
    yield f"| {' | '.join(found)} |"
    yield "|---" * len(found.columns) + "|"
    for row in found.itertuples(index=False):
        yield f"| {' | '.join(decimal(one) if isinstance(one, float) else str(one) for one in row)} |"


PARTS: Mapping[str, Callable[[Sequence[str]], Iterator[str]]] = {"behaviour": behaviour}


def main(part: str, paths: Sequence[str]) -> None:
    """Write a part of the page."""
    start, end = f"<!-- {part} -->\n", f"<!-- end of {part} -->\n"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
    after = rest.partition(end)[2]
    PAGE.write_text(before + start + "\n".join(PARTS[part](paths)) + "\n" + end + after, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
