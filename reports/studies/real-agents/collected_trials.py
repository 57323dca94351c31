"""Makes the records from what the command for trials wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from agent_trials import (
    ARMS,
    FAMILIES,
    AgentTrial,
    Message,
)

from workbench.engine.transcript.message import said_text
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.name_recall import name_questions
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.lab.trials.agents import texts_of
from workbench.lab.trials.bundled import bundled_task
from workbench.recordings.datasets.bundled import bundled

MOST_NAMES = 8
"""Names that are asked for at a boundary."""
LAST_TURNS = 5
"""Turns of the bundled tasks that the agents worked."""


def collect(folder: Path, first: Path) -> Iterator[AgentTrial]:
    """The trials in folders of `workbench lab trial --conversations`, and how they were graded
    at first.
    """
    for family in FAMILIES:
        for arm in ARMS:
            name = f"{family}-{arm}"
            rows = pd.read_parquet(folder / name / "trials.parquet")
            first_rows = pd.read_parquet(first / name / "trials.parquet").set_index("family")
            for row in rows[rows["status"] == "ok"].to_dict("records"):
                conversation_name = f"{row['strategy']}-{row['family']}-{row['seed']}.json"
                file = folder / name / "conversations" / conversation_name
                conversation = json.loads(file.read_text("utf-8"))
                success_at_first = int(first_rows.loc[row["family"], "success"])
                yield _collected(arm, family, row, success_at_first, conversation)


def _collected(
    arm: str,
    family: str,
    row: Mapping[str, Any],
    success_at_first: int,
    conversation: Mapping[str, Any],
) -> AgentTrial:
    opening_text = "\n".join(texts_of(conversation["opening"]))
    work, names = headline(row["family"], opening_text)
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
        messages=conversation["messages"][conversation["start"] :],
        opening=[] if arm == "none" else conversation["opening"],
        work=work,
        names=names,
    )


def beginnings(folder: Path) -> dict[str, list[Message]]:
    """By task what was said before the agent began, from the trials without compaction."""
    by_task: dict[str, list[Message]] = {}
    for file in folder.glob("*-none/conversations/*.json"):
        conversation = json.loads(file.read_text("utf-8"))
        task, _, _ = file.stem.removeprefix("none-").rpartition("-")
        by_task[task] = conversation["messages"][: conversation["start"]]
    return by_task


def failed_checks(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The checks that do not hold, from the reason of a row of the table `trials`."""
    names = [check.name for check in bundled_task(str(row["family"])).checks]
    return tuple(name for name in names if f"; {name}: " in f"; {row['reason']}")


def headline(task: str, text: str) -> tuple[float | None, float | None]:
    """Both halves of the headline for what an agent knew when it began: of the newest exam
    before that.
    """
    prepared_session = _prepared(task)
    if prepared_session is None:
        return None, None
    session = prepared_session.session
    exams = exams_of(session)
    if exams is None:
        return None, None
    begins_at = _begins_at(task, session)
    boundary = max([exam.at for exam in exams.exams if exam.at <= begins_at])
    exam = exams.at(boundary)
    assert exam is not None
    rarity = Rarity(said_text(message) for message in session.messages[:boundary])
    chances = shipped_reader().chances(exam.questions, text, rarity)
    items = Exams.of(prepared_session.index).at(boundary).items
    questions = name_questions(items, MOST_NAMES)
    names = None
    if questions:
        answered = [question for question in questions if question.answer in text]
        names = len(answered) / len(questions)
    return float(chances.mean()), names


@cache
def _prepared(task: str) -> Prepared | None:
    """The recorded session of a task; None without one."""
    for session in bundled():
        if session.id == task:
            return prepared(session)
    return None


def _begins_at(task: str, session: Session) -> int:
    """The message of the recorded session with which the agent's part begins."""
    user_text = bundled_task(task).turns[-LAST_TURNS].user
    for number, message in enumerate(session.messages):
        if message.role == "user" and user_text in said_text(message):
            return number
    raise ValueError(f"no message of {session.id} begins the agent's part")
