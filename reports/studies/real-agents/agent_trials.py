"""The records of the trials, and what is measured of each."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.lab.trials.agents import texts_of
from workbench.lab.trials.bundled import bundled_task
from workbench.lab.trials.loop import size
from workbench.lab.trials.repeats import repeats

STUDY = Path(__file__).parent
TRIALS = STUDY / "trials.jsonl.gz"
BEGINNINGS = STUDY / "beginnings.jsonl.gz"
ARMS = {
    "none": "no compaction",
    "model": "`summarize`, a real model",
    "rules": "`summarize`, a rule",
    "truncate": "`truncate`",
}
"""The arms, with what the table calls them."""
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
    return {line["task"]: line["messages"] for line in read_lines(BEGINNINGS)}


def trials() -> list[AgentTrial]:
    """All trials of the study."""
    agent_trials: list[AgentTrial] = []
    for line in read_lines(TRIALS):
        failed = tuple(line.pop("failed"))
        agent_trials.append(AgentTrial(failed=failed, **line))
    return agent_trials


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
    values: list[str] = []
    for check in bundled_task(trial.task).checks:
        if check.kind == "file":
            _, _, value = check.text.partition(" = ")
            values.append(value)
    told_values = [value for value in values if value in text]
    broken_rules = [name for name in trial.failed if name in RULES]
    return {
        "success": trial.success,
        "success_at_first": trial.success_at_first,
        "checks": trial.passed / trial.checks,
        "broken": len(broken_rules),
        "answers": trial.answers,
        "calls": again.calls,
        "again": again.again,
        "told": len(told_values) / len(values),
        "work": trial.work,
        "names": trial.names,
        "opening": sum(map(size, opening(trial))),
    }


def measured(agent_trials: Iterable[AgentTrial]) -> pd.DataFrame:
    """A row a trial: its arm, family and task, and `MEASURES`."""
    rows: list[dict[str, object]] = []
    for trial in agent_trials:
        row = {"arm": trial.arm, "family": trial.family, "task": trial.task}
        rows.append(row | measures(trial))
    return pd.DataFrame(rows)


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """The records of a file."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def write_lines(file: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of records."""
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    file.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
