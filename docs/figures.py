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
    against = {row["strategy"]: row for row in differences(run).to_dict("records")}
    late, larger = run.unranked(SHARE), run.over_target(SHARE)
    yield (
        "| strategy | the work | 95 % interval | against `truncate`, points | names | 95 % interval"
        " | size used |"
    )
    yield "|---|---|---|---|---|---|---|"
    for name in run.strategies:
        work, names = (run.equal_size(name, SHARE, half) for half in (WORK, NAMES))
        shown = f"*`{name}`*" if name in REFERENCES else f"`{name}`"
        if name in late:
            inside, of = larger[name]
            shown += f", over target in {inside} of {of}"
        row = against.get(name, {}) if name not in REFERENCES else {}
        used = run.used(name, SHARE)
        size = "" if used is None else percent(used)
        figures = (
            _mean(work),
            _interval(work),
            _difference(row),
            _mean(names),
            _interval(names),
            size,
        )
        yield f"| {shown} | {' | '.join(figures)} |"
    yield ""
    left, every = run.too_small.get(SHARE, (0, 0))
    out = (
        f"; {left} of {every} boundaries are in no figure: what must stay is larger than the size"
        if left
        else ""
    )
    yield f"Means over {Counts.of(run)}{out}."


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


_FIGURE = re.compile(r"\**[-+\u2212~$]?(\d[\d,]*\.?\d*|\.\d+)( ?%)?\**(,? .*)?")
"""A cell that begins with a number."""
FEWEST = 3
"""Cells with figures from which a table has to say where they come from."""


def unmarked(page: Path, known: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """What of a page is wrong: tables with figures between no marks of the list, and marks that
    it does not have.
    """
    text = page.read_text(encoding="utf-8")
    title = page_name(page)
    for name, one in known.items():
        if one["page"] == title and not re.search(
            f"<!-- {name} -->\n.*<!-- end of {name} -->\n", text, re.DOTALL
        ):
            yield f"{title}: the list has {name!r}, the page has no such marks"
    inside, table = "", list[str]()
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.startswith("|"):
            table.append(line)
            continue
        if inside not in known and sum(map(_figures_in, table)) >= FEWEST:
            yield (
                f"{title}, line {number - len(table)}: no command is known for the table"
                f" {table[0][:60]!r}"
            )
        table = []
        if mark := re.fullmatch(r"<!-- (end of )?([a-z-]+) -->", line):
            inside = "" if mark[1] else mark[2]


def _figures_in(row: str) -> int:
    return sum(bool(_FIGURE.fullmatch(cell.strip())) for cell in row.strip("| ").split("|"))


def figures_table(known: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """The list as a table in Markdown."""
    yield "| page | figures | command | data | in CI |"
    yield "|---|---|---|---|---|"
    for one in known.values():
        yield (
            f"| {page_link(one['page'])} | {one['shows']} | {one['command']} | {one['data']} |"
            f" {one['ci']} |"
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


def printed_pages(known: Mapping[str, Mapping[str, str]]) -> list[Path]:
    """The pages that are checked: README, docs, and the studies that the list names."""
    listed_pages = {entry["page"] for entry in known.values()}
    studies = [
        page for page in sorted(STUDY_PAGES.glob("*/README.md")) if page_name(page) in listed_pages
    ]
    pages = [
        page
        for folder in (".", "reference", "decisions")
        for page in sorted((DOCS / folder).glob("*.md"))
    ]
    return [README, *pages, *studies]


def listed(check: bool) -> int:
    """Write or check the list; 1 where something is missing."""
    known = tomllib.loads(FIGURES.read_text(encoding="utf-8"))
    pages = printed_pages(known)
    wrong = [*(problem for page in pages for problem in unmarked(page, known)), *problems(pages)]
    sys.stdout.write("".join(f"{problem}\n" for problem in wrong))
    return int(between_marks(LIST_PAGE, "list", figures_table(known), check=check) or bool(wrong))


FROM_ROWS = "from rows"
"""What the list says of a table that is made in seconds from rows beside its page."""
_SCRIPT = re.compile(r"`python (\S+\.py) ")
"""How the command of such a table begins."""


def from_rows(known: Mapping[str, Mapping[str, str]], check: bool) -> int:
    """Write or check the tables that are made from rows; 1 where one differs from its rows."""
    wrong = False
    for name, entry in known.items():
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
            wrong = True
    return int(wrong)


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
