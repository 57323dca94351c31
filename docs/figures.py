"""The table of results of the bundled sessions, made from a run; and the list of all printed
figures.

`python docs/figures.py RUN` writes the table into reports/studies/bundled; with `--check` it says
where page and run differ, and exits with 1. `python docs/figures.py list` writes docs/figures.toml
as a table into reports/studies/README.md. With `--check` it fails as well where a table with
figures stands between no marks that the list has, and where a sentence and a table differ
(prose.py). `python docs/figures.py rows --check` makes each table anew that the list calls *from
rows*, and fails where a page prints another.
"""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from prose import STUDIES, page_name, problems
from rows import between_marks, run

from workbench.base.formats import gap, p_value, percent
from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings.comparison import differences
from workbench.evaluation.findings.findings import Counts
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import NAMES, WORK

DOCS = Path(__file__).parent
README = DOCS.parent / "README.md"
FIGURES = DOCS / "figures.toml"
STUDY_PAGES = DOCS.parent / "reports" / STUDIES
RESULTS_PAGE = STUDY_PAGES / "bundled" / "README.md"
LIST_PAGE = STUDY_PAGES / "README.md"
"""Where the list of all printed figures stands."""
SHARE = 0.2
"""Of the history: the size that all strategies are cut to."""


def lines(run: Tables) -> Iterator[str]:
    """The table of a run in Markdown, and below it what the means are over."""
    differences_by_name = {row["strategy"]: row for row in differences(run).to_dict("records")}
    unranked = run.unranked(SHARE)
    over_target = run.over_target(SHARE)
    yield (
        "| strategy | the work | 95 % interval | against `truncate`, points | names | 95 % interval"
        " | size used |"
    )
    yield "|---|---|---|---|---|---|---|"
    for name in run.strategies:
        title = f"`{name}`"
        difference = differences_by_name.get(name, {})
        if name in REFERENCES:
            title = f"*`{name}`*"
            difference = {}
        if name in unranked:
            over_count, case_count = over_target[name]
            title += f", over target in {over_count} of {case_count}"
        work = run.equal_size(name, SHARE, WORK)
        names = run.equal_size(name, SHARE, NAMES)
        used = run.used(name, SHARE)
        cells = (
            title,
            _mean(work),
            _interval(work),
            _difference(difference),
            _mean(names),
            _interval(names),
            "" if used is None else percent(used),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    too_small, boundary_count = run.too_small.get(SHARE, (0, 0))
    note = ""
    if too_small:
        note = (
            f"; {too_small} of {boundary_count} boundaries are in no figure: what must stay is"
            " larger than the size"
        )
    yield f"Means over {Counts.of(run)}{note}."


def _mean(mean: Estimate | None) -> str:
    return "" if mean is None else percent(mean.mean)


def _interval(mean: Estimate | None) -> str:
    if mean is None or mean.low is None or mean.high is None:
        return ""
    return f"{percent(mean.low)} to {percent(mean.high)}"


def _difference(row: dict[str, Any]) -> str:
    difference = row.get("difference")
    low = row.get("low")
    high = row.get("high")
    if not isinstance(difference, float):
        return ""
    if not isinstance(low, float) or not isinstance(high, float):
        return ""
    return f"{gap(difference)} ({gap(low)} to {gap(high)}), p = {p_value(row['p_holm'])}"


_FIGURE = re.compile(r"\**[-+\u2212~$]?(\d[\d,]*\.?\d*|\.\d+)( ?%)?\**(,? .*)?")
"""A cell that begins with a number."""
FEWEST = 3
"""Cells with figures from which a table has to say where they come from."""


def unmarked(page: Path, entries: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """What of a page is wrong: tables with figures between no marks of the list, and marks that
    it does not have.
    """
    text = page.read_text(encoding="utf-8")
    title = page_name(page)
    for name, entry in entries.items():
        marks = f"<!-- {name} -->\n.*<!-- end of {name} -->\n"
        if entry["page"] == title and not re.search(marks, text, re.DOTALL):
            yield f"{title}: the list has {name!r}, the page has no such marks"
    part_name = ""
    table: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.startswith("|"):
            table.append(line)
            continue
        figure_count = sum(map(_figures_in, table))
        if part_name not in entries and figure_count >= FEWEST:
            yield (
                f"{title}, line {number - len(table)}: no command is known for the table"
                f" {table[0][:60]!r}"
            )
        table = []
        mark = re.fullmatch(r"<!-- (end of )?([a-z-]+) -->", line)
        if mark:
            part_name = "" if mark[1] else mark[2]


def _figures_in(row: str) -> int:
    """How many cells of a row begin with a number."""
    figures = [cell for cell in row.strip("| ").split("|") if _FIGURE.fullmatch(cell.strip())]
    return len(figures)


def figures_table(entries: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """The list as a table in Markdown."""
    yield "| page | figures | command | data | in CI |"
    yield "|---|---|---|---|---|"
    for entry in entries.values():
        yield (
            f"| {page_link(entry['page'])} | {entry['shows']} | {entry['command']} |"
            f" {entry['data']} | {entry['ci']} |"
        )


def page_link(title: str) -> str:
    """A link from the list to a page."""
    if title == README.name:
        return f"[README](../../{title})"
    if title.startswith(f"{STUDIES}/"):
        study = title.removeprefix(f"{STUDIES}/")
        return f"[{study}]({study}/README.md)"
    folder = "" if (DOCS / title).exists() else "reference/"
    return f"[{title.removesuffix('.md')}](../../docs/{folder}{title})"


def printed_pages(entries: Mapping[str, Mapping[str, str]]) -> list[Path]:
    """The pages that are checked: README, docs, and the studies that the list names."""
    listed_names = {entry["page"] for entry in entries.values()}
    pages = [README]
    for folder in (".", "reference", "decisions"):
        pages += sorted((DOCS / folder).glob("*.md"))
    for page in sorted(STUDY_PAGES.glob("*/README.md")):
        if page_name(page) in listed_names:
            pages.append(page)
    return pages


def listed(check: bool) -> int:
    """Write or check the list; 1 where something is missing."""
    entries = tomllib.loads(FIGURES.read_text(encoding="utf-8"))
    pages = printed_pages(entries)
    page_problems: list[str] = []
    for page in pages:
        page_problems += unmarked(page, entries)
    page_problems += problems(pages)
    for problem in page_problems:
        sys.stdout.write(f"{problem}\n")
    differs = between_marks(LIST_PAGE, "list", figures_table(entries), check=check)
    return int(differs or bool(page_problems))


FROM_ROWS = "from rows"
"""What the list says of a table that is made in seconds from rows beside its page."""
_SCRIPT = re.compile(r"`python (\S+\.py) ")
"""How the command of such a table begins."""


def from_rows(entries: Mapping[str, Mapping[str, str]], check: bool) -> int:
    """Write or check the tables that are made from rows; 1 where one differs from its rows."""
    differs = False
    for name, entry in entries.items():
        if entry["ci"] != FROM_ROWS:
            continue
        script = _SCRIPT.match(entry["command"])
        if script is None:
            raise ValueError(f"the list has no script for {name!r}, which is made from rows")
        path = DOCS.parent / script[1]
        sys.path.insert(0, str(path.parent))  # as for a script that is started
        study = runpy.run_path(str(path))
        words = [name, "--check"] if check else [name]
        if run(study["PARTS"], study["PAGE"], words):
            sys.stdout.write(f"{entry['page']}: {name!r} is not what its rows say\n")
            differs = True
    return int(differs)


def main(what: str, check: bool) -> int:
    """Write or check the list, the tables from rows, or the table of a run's results; 1 where a
    check finds a difference.
    """
    if what == "list":
        return listed(check)
    if what == "rows":
        return from_rows(tomllib.loads(FIGURES.read_text(encoding="utf-8")), check)
    table = lines(Tables.of(Results.open(what), "truncate"))
    return int(between_marks(RESULTS_PAGE, "results", table, check=check))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--check" in sys.argv))
