"""Real agents at work under compaction: the records of the study, and its tables.

`real_agents.py collect FOLDER FIRST` makes the records in reports/studies/real-agents from the
folders that `workbench lab trial --conversations` wrote, `FOLDER/FAMILY-ARM` each; FIRST has the
same trials as graded before four checks were mended. `table` writes the tables of its page anew,
and `sessions FOLDER` writes each conversation as a session that the workbench reads. No model is
asked.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.engine.transcript.message import said_text
from workbench.evaluation.analysis.compared import compare_table
from workbench.evaluation.experiment.prepared import prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.name_recall import name_questions
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.lab.trials.agents import texts_of
from workbench.lab.trials.bundled import bundled_task
from workbench.lab.trials.loop import size
from workbench.lab.trials.repeats import repeats
from workbench.recordings.datasets.bundled import bundled

STUDY = Path(__file__).parent
TRIALS, BEGINNINGS = STUDY / "trials.jsonl.gz", STUDY / "beginnings.jsonl.gz"
PAGE = STUDY / "README.md"
ARMS = {
    "none": "no compaction",
    "model": "`summarize`, a real model",
    "rules": "`summarize`, a rule",
    "truncate": "`truncate`",
}
"""The arms, with what the table calls them."""
BASELINE = "truncate"
FAMILIES = ("bundled", "hard")
RULES = (
    "warehouses and signatures are as they were",
    "nothing is committed or changed",
    "the papers are as they were",
    "both pages are there and name nobody",
    "the list of stations stays",
    "nobody is named and the vendor's file stays",
    "it runs on the ship and prints nothing",
    "the report keeps the rules",
    "the settings, the list and the commits are as the rules say",
)
"""Checks of rules that the user or the system prompt set."""
MOST_NAMES = 8
"""Names that are asked for at a boundary."""
MEASURES = (
    "success",
    "success_at_first",
    "checks",
    "broken",
    "answers",
    "calls",
    "again",
    "told",
    "work",
    "names",
    "opening",
)
LAST_TURNS = 5
"""Turns of the bundled tasks that the agents worked."""
Message = dict[str, Any]


@dataclass(frozen=True)
class AgentTrial:
    """One trial.

    Attributes:
        success_at_first: success by the checks as they were when the agents worked, before four
            were mended.
        passed: how many of its checks hold; `failed` names those that do not.
        messages: what was said since the agent began.
        opening: what the agent knew when it began; empty without compaction, where it knew all.
        work: the chance that a real model knows how the work stands from the opening, by the fitted
            reader; None without an exam.
        names: the share of the names that the exam asks for which stand in the opening.
    """

    arm: str
    family: str
    task: str
    success: int
    success_at_first: int
    checks: int
    passed: int
    failed: tuple[str, ...]
    answers: int
    compactions: int
    tokens: int
    messages: list[Message]
    opening: list[Message]
    work: float | None
    names: float | None


def beginning_of(task: str) -> list[Message]:
    """What was said before the agent began, the same in each arm."""
    return _beginnings()[task]


@cache
def _beginnings() -> dict[str, list[Message]]:
    return {line["task"]: line["messages"] for line in _read(BEGINNINGS)}


def trials() -> list[AgentTrial]:
    """All trials of the study."""
    return [AgentTrial(**{**line, "failed": tuple(line["failed"])}) for line in _read(TRIALS)]


def conversation(trial: AgentTrial) -> list[Message]:
    """All that was said in a trial, as no compaction changed it."""
    return [*beginning_of(trial.task), *trial.messages]


def opening(trial: AgentTrial) -> list[Message]:
    """What the agent knew when it began."""
    return trial.opening or [*beginning_of(trial.task), trial.messages[0]]


def measures(trial: AgentTrial) -> Mapping[str, float | None]:
    """What is compared, by name; see `MEASURES`."""
    again = repeats(conversation(trial), len(beginning_of(trial.task)))
    text = "\n".join(texts_of(opening(trial)))
    handed_over = [
        check.text.partition(" = ")[2]
        for check in bundled_task(trial.task).checks
        if check.kind == "file"
    ]
    return {
        "success": trial.success,
        "success_at_first": trial.success_at_first,
        "checks": trial.passed / trial.checks,
        "broken": sum(name in RULES for name in trial.failed),
        "answers": trial.answers,
        "calls": again.calls,
        "again": again.again,
        "told": sum(value in text for value in handed_over) / len(handed_over),
        "work": trial.work,
        "names": trial.names,
        "opening": sum(map(size, opening(trial))),
    }


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


def measured(agent_trials: Iterable[AgentTrial]) -> pd.DataFrame:
    """A row a trial: its arm, family and task, and `MEASURES`."""
    return pd.DataFrame(
        [
            {"arm": trial.arm, "family": trial.family, "task": trial.task, **measures(trial)}
            for trial in agent_trials
        ]
    )


def means_lines(table: pd.DataFrame) -> Iterator[str]:
    """A row an arm and family of tasks: means."""
    heads = (
        *(
            "tasks",
            "context",
            "success",
            "by the first checks",
            "checks that hold",
            "rules broken",
            "answers",
        ),
        *("calls", "told again", "values told", "the work", "names", "tokens at the start"),
    )
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for family in FAMILIES:
        rows = table[table["family"] == family]
        means = rows.groupby("arm")[list(MEASURES)].mean()
        for arm, words in ARMS.items():
            row = means.loc[arm]
            cells = (
                f"{rows['task'].nunique()} {family}",
                words,
                *(
                    f"{row[name]:.2f}"
                    for name in ("success", "success_at_first", "checks", "broken")
                ),
                *(f"{row[name]:.1f}" for name in ("answers", "calls", "again")),
                *(_share(row[name]) for name in ("told", "work", "names")),
                f"{row['opening']:,.0f}",
            )
            yield f"| {' | '.join(cells)} |"


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
        if arm != BASELINE:
            yield (
                f"| {words} |"
                f" {' | '.join(_difference(by_measure[name].loc[arm]) for name in shown)} |"
            )


def agreement_lines(table: pd.DataFrame) -> Iterator[str]:
    """A row a reading of what agents knew at the start: does it order two arms of a task as
    their checks do?
    """
    yield "| known at the start | pairs | ordered alike | the other way | tied |"
    yield "|---" * 5 + "|"
    for name, words in {"work": "the work", "names": "names", "told": "values told"}.items():
        orders = [
            _order(better, worse, name)
            for better, worse in _unlike_pairs(table.dropna(subset=[name]))
        ]
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
        cells = (
            f"{by_arm.loc[arm, 'checks']:.2f}{'*' * int(by_arm.loc[arm, 'success'])}"
            for arm in ARMS
        )
        yield f"| {task} | {' | '.join(cells)} |"


TABLES = {
    "means": means_lines,
    "differences": differences_lines,
    "success": success_lines,
    "agreement": agreement_lines,
}


def _share(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.2f}"


def _difference(row: pd.Series) -> str:
    ends = "" if pd.isna(row["low"]) else f" ({row['low']:+.2f} to {row['high']:+.2f})"
    return f"{row['difference']:+.2f}{ends}; {row['ahead']} : {row['behind']}"


def with_tables(page: str, table: pd.DataFrame) -> str:
    """The page with its tables as the records have them."""
    for name, lines in TABLES.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        head, _, rest = page.partition(begin)
        page = (
            head
            + begin
            + "".join(f"{line}\n" for line in lines(table))
            + end
            + rest.partition(end)[2]
        )
    return page


def collect(folder: Path, first: Path) -> Iterator[AgentTrial]:
    """The trials in folders of `workbench lab trial --conversations`, and how they were graded
    at first.
    """
    for family in FAMILIES:
        for arm in ARMS:
            place = folder / f"{family}-{arm}"
            rows = pd.read_parquet(place / "trials.parquet")
            first_rows = pd.read_parquet(first / f"{family}-{arm}" / "trials.parquet").set_index(
                "family"
            )
            for row in rows[rows["status"] == "ok"].to_dict("records"):
                file = (
                    place
                    / "conversations"
                    / f"{row['strategy']}-{row['family']}-{row['seed']}.json"
                )
                success_at_first = int(first_rows.loc[row["family"], "success"])
                yield _collected(
                    arm, family, row, success_at_first, json.loads(file.read_text("utf-8"))
                )


def _collected(
    arm: str, family: str, row: Mapping[str, Any], success_at_first: int, kept: Mapping[str, Any]
) -> AgentTrial:
    known = [] if arm == "none" else kept["opening"]
    work, names = headline(row["family"], "\n".join(texts_of(kept["opening"])))
    return AgentTrial(
        arm=arm,
        family=family,
        task=row["family"],
        success=int(row["success"]),
        success_at_first=success_at_first,
        checks=int(row["checks"]),
        passed=int(row["passed"]),
        failed=failed_checks(row),
        answers=int(row["steps"]),
        compactions=int(row["compactions"]),
        tokens=int(row["tokens"]),
        messages=kept["messages"][kept["start"] :],
        opening=known,
        work=work,
        names=names,
    )


def failed_checks(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The checks that do not hold, from the reason of a row of the table `trials`."""
    names = [check.name for check in bundled_task(str(row["family"])).checks]
    return tuple(name for name in names if f"; {name}: " in f"; {row['reason']}")


def headline(task: str, text: str) -> tuple[float | None, float | None]:
    """Both halves of the headline for what an agent knew when it began: of the newest exam
    before that.
    """
    ready = _prepared(task)
    exams = None if ready is None else exams_of(ready.session)
    if ready is None or exams is None:
        return None, None
    begins_at = _begins_at(task)
    at = max(exam.at for exam in exams.exams if exam.at <= begins_at)
    exam = exams.at(at)
    assert exam is not None
    rarity = Rarity(said_text(message) for message in ready.session.messages[:at])
    chances = shipped_reader().chances(exam.questions, text, rarity)
    asked = name_questions(Exams.of(ready.index).at(at).items, MOST_NAMES)
    names = sum(question.answer in text for question in asked) / len(asked) if asked else None
    return float(chances.mean()), names


@cache
def _prepared(task: str) -> Any:  # noqa: ANN401 - a prepared session, or None
    return next((prepared(session) for session in bundled() if session.id == task), None)


def _begins_at(task: str) -> int:
    """The message of the recorded session with which the agent's part begins."""
    user = bundled_task(task).turns[-LAST_TURNS].user
    messages = _prepared(task).session.messages
    places = (number for number, message in enumerate(messages) if message.role == "user")
    return next(number for number in places if user in said_text(messages[number]))


def _read(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _write(file: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    file.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def main(words: Sequence[str]) -> None:
    """See the top of this file."""
    match words:
        case ["collect", folder, first]:
            collected = list(collect(Path(folder), Path(first)))
            starts = {}
            for file in Path(folder).glob("*-none/conversations/*.json"):
                kept = json.loads(file.read_text("utf-8"))
                starts[file.stem.removeprefix("none-").rpartition("-")[0]] = kept["messages"][
                    : kept["start"]
                ]
            _write(
                BEGINNINGS,
                ({"task": task, "messages": messages} for task, messages in sorted(starts.items())),
            )
            _write(TRIALS, map(asdict, collected))
        case ["table"]:
            PAGE.write_text(with_tables(PAGE.read_text("utf-8"), measured(trials())), "utf-8")
        case ["sessions", folder]:
            Path(folder).mkdir(parents=True, exist_ok=True)
            for trial in trials():
                file = Path(folder) / f"{trial.arm}-{trial.task}.json"
                file.write_text(
                    json.dumps({"messages": conversation(trial)}, ensure_ascii=False, indent=1),
                    "utf-8",
                )
        case _:
            sys.stdout.write(f"{__doc__}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
