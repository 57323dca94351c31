"""Real agents at work under compaction: the records of the study, and its tables.

`real_agents.py collect FOLDER FIRST` makes the records in reports/studies/real-agents from the
folders that `workbench lab trial --conversations` wrote, `FOLDER/FAMILY-ARM` each; FIRST has the
same trials as graded before four checks were mended. `table` writes the tables of its page anew,
and `sessions FOLDER` writes each conversation as a session that the workbench reads. No model is
asked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd

# its own folder: a Python in safe mode does not look there
sys.path.insert(0, str(Path(__file__).parent))

from agent_trials import (
    ARMS,
    BEGINNINGS,
    FAMILIES,
    MEASURES,
    STUDY,
    TRIALS,
    conversation,
    measured,
    trials,
    write_lines,
)
from collected_trials import beginnings, collect

from workbench.evaluation.analysis.compared import compare_table

PAGE = STUDY / "README.md"
BASELINE = "truncate"


def compared(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Each arm's difference from `BASELINE` in a measure, with its 95 % interval, paired by
    task.
    """
    scores = pd.DataFrame(
        {
            "session": table["task"],
            "project": table["task"],
            "strategy": table["arm"],
            "mode": "natural",
            "share": None,
            "metric": measure,
            "value": table[measure].astype("Float64"),
            "better": "higher",
        }
    )
    return compare_table(scores, measure, BASELINE).set_index("strategy")


MEANS = {
    "success": "success",
    "success_at_first": "by the first checks",
    "checks": "checks that hold",
    "broken": "rules broken",
    "answers": "answers",
    "calls": "calls",
    "again": "told again",
    "told": "values told",
    "work": "the work",
    "names": "names",
    "opening": "tokens at the start",
}
"""The measures, as the table of means calls them."""
COUNTS = ("answers", "calls", "again")


def means_lines(table: pd.DataFrame) -> Iterator[str]:
    """A row an arm and family of tasks: means."""
    heads = ("tasks", "context", *MEANS.values())
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for family in FAMILIES:
        rows = table[table["family"] == family]
        means = rows.groupby("arm")[list(MEASURES)].mean()
        tasks = f"{rows['task'].nunique()} {family}"
        for arm, words in ARMS.items():
            cells = [_mean(name, means.loc[arm, name]) for name in MEANS]
            yield f"| {tasks} | {words} | {' | '.join(cells)} |"


def _mean(measure: str, value: float) -> str:
    """A mean as the table shows it; empty where it is not known."""
    if pd.isna(value):
        return ""
    if measure == "opening":
        return f"{value:,.0f}"
    if measure in COUNTS:
        return f"{value:.1f}"
    return f"{value:.2f}"


def differences_lines(table: pd.DataFrame) -> Iterator[str]:
    """A row an arm: its differences from `BASELINE` over all tasks, paired."""
    shown = {
        "success": "success",
        "checks": "checks that hold",
        "answers": "answers",
        "again": "told again",
        "work": "the work",
        "names": "names",
    }
    yield f"| less {ARMS[BASELINE]} | {' | '.join(shown.values())} |"
    yield "|---" * (len(shown) + 1) + "|"
    by_measure = {name: compared(table, name) for name in shown}
    for arm, words in ARMS.items():
        if arm == BASELINE:
            continue
        cells = [_difference(by_measure[name].loc[arm]) for name in shown]
        yield f"| {words} | {' | '.join(cells)} |"


def agreement_lines(table: pd.DataFrame) -> Iterator[str]:
    """A row a reading of what agents knew at the start: does it order two arms of a task as
    their checks do?
    """
    yield "| known at the start | pairs | ordered alike | the other way | tied |"
    yield "|---" * 5 + "|"
    for name, words in {"work": "the work", "names": "names", "told": "values told"}.items():
        orders: list[int] = []
        for better, worse in _unlike_pairs(table.dropna(subset=[name])):
            orders.append(_order(better, worse, name))
        yield (
            f"| {words} | {len(orders)} | {orders.count(1)} | {orders.count(-1)} |"
            f" {orders.count(0)} |"
        )


def _unlike_pairs(table: pd.DataFrame) -> Iterator[tuple[pd.Series, pd.Series]]:
    """Two arms of a task of which more checks hold in the first."""
    for _, rows in table.groupby("task", sort=False):
        for _, better in rows.iterrows():
            for _, worse in rows[rows["checks"] < better["checks"]].iterrows():
                yield better, worse


def _order(better: pd.Series, worse: pd.Series, name: str) -> int:
    """1 where the better arm has more of a measure, -1 where it has less."""
    return int(better[name] > worse[name]) - int(better[name] < worse[name])


def success_lines(table: pd.DataFrame) -> Iterator[str]:
    """A row a task: the share of checks that hold in each arm, and a star for success."""
    yield f"| task | {' | '.join(ARMS.values())} |"
    yield "|---" * (len(ARMS) + 1) + "|"
    for task, rows in table.groupby("task", sort=False):
        by_arm = rows.set_index("arm")
        cells: list[str] = []
        for arm in ARMS:
            star = "*" if by_arm.loc[arm, "success"] else ""
            cells.append(f"{by_arm.loc[arm, 'checks']:.2f}{star}")
        yield f"| {task} | {' | '.join(cells)} |"


TABLES = {
    "means": means_lines,
    "differences": differences_lines,
    "success": success_lines,
    "agreement": agreement_lines,
}


def _difference(row: pd.Series) -> str:
    interval = ""
    if pd.notna(row["low"]):
        interval = f" ({row['low']:+.2f} to {row['high']:+.2f})"
    return f"{row['difference']:+.2f}{interval}; {row['ahead']} : {row['behind']}"


def with_tables(page: str, table: pd.DataFrame) -> str:
    """The page with its tables as the records have them."""
    for name, lines in TABLES.items():
        start_mark = f"<!-- {name} -->\n"
        end_mark = f"<!-- end of {name} -->"
        head, _, rest = page.partition(start_mark)
        _, _, tail = rest.partition(end_mark)
        text = "\n".join(lines(table)) + "\n"
        page = head + start_mark + text + end_mark + tail
    return page


def write_records(folder: Path, first: Path) -> None:
    """Write the records of these trials; see `collect`."""
    collected = list(collect(folder, first))
    lines: list[dict[str, object]] = []
    for task, messages in sorted(beginnings(folder).items()):
        lines.append({"task": task, "messages": messages})
    write_lines(BEGINNINGS, lines)
    write_lines(TRIALS, map(asdict, collected))


def write_sessions(folder: Path) -> None:
    """Write each conversation into this folder, as a session that the workbench reads."""
    folder.mkdir(parents=True, exist_ok=True)
    for trial in trials():
        session = {"messages": conversation(trial)}
        text = json.dumps(session, ensure_ascii=False, indent=1)
        (folder / f"{trial.arm}-{trial.task}.json").write_text(text, "utf-8")


def main(words: Sequence[str]) -> None:
    """See the top of this file."""
    match words:
        case ["collect", folder, first]:
            write_records(Path(folder), Path(first))
        case ["table"]:
            page = PAGE.read_text("utf-8")
            PAGE.write_text(with_tables(page, measured(trials())), "utf-8")
        case ["sessions", folder]:
            write_sessions(Path(folder))
        case _:
            sys.stdout.write(f"{__doc__}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
