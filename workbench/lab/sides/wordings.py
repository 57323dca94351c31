"""Wordings: the same facts told in the exam's own words, in notes, and in other words. Does a
measure still see them?

A measure that looks at words may take another wording for a loss. The facts are of bundled
sessions; nothing was fitted to their wordings.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, TypeAlias

import pandas as pd

from workbench.engine.transcript.message import said_text
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.metrics.bm25 import Bm25
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.view import View
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.question import WorkQuestion
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.lab.sides.side import SideTable
from workbench.recordings.datasets.bundled import bundled

VERBATIM, TERSE, OTHER_WORDS = "verbatim", "terse", "other words"
WORDINGS = (VERBATIM, TERSE, OTHER_WORDS)
Fact = Mapping[str, Any]
"""A fact in the file: which question or name it is of, and its wordings."""
Place: TypeAlias = tuple[str, int]
"""The id of a session, and a boundary of it."""


def wordings() -> SideTable:
    """What the measures say of contexts that tell the same facts in three wordings.

    `reader` is the fitted reader's chance for the work, and the lexical reader's credit for names.
    Verbatim is the exam's own answer for the work, and the history's line for names. `real
    readers`: what a large language model knew of the work from the same texts; nobody was asked for
    names.
    """
    file = files("workbench.lab.sides").joinpath("wordings.json")
    document = json.loads(file.read_text("utf-8"))
    sessions = {session.id: prepared(session) for session in bundled()}
    values: list[dict[str, object]] = []
    for place, facts in _by_boundary(document["work"]).items():
        session, boundary = place
        values += _work_values(sessions[session], boundary, facts)
    for place, facts in _by_boundary(document["names"]).items():
        session, boundary = place
        values += _name_values(sessions[session], boundary, facts)
    table = pd.DataFrame(values)
    groups = table.groupby(["half", "wording"], sort=False)
    figures = {
        "facts": ("reader", "size"),
        "reader": ("reader", "mean"),
        "BM25": ("bm25", "mean"),
        "real readers": ("real", "mean"),
    }
    rows = groups.agg(**figures).reset_index()
    return SideTable(rows, _says(rows))


def _by_boundary(facts: Iterable[Fact]) -> Mapping[Place, Sequence[Fact]]:
    groups: dict[Place, list[Fact]] = defaultdict(list)
    for fact in facts:
        place = fact["session"], fact["at"]
        groups[place].append(fact)
    return groups


def _work_values(
    prepared_session: Prepared, boundary: int, facts: Sequence[Fact]
) -> Iterator[dict[str, object]]:
    """A row a fact and wording: the chance that a real model knows it from a context with all of
    the wording.
    """
    by_text = _questions_by_text(prepared_session, boundary)
    # an exam that is written anew asks otherwise
    asked_facts = []
    questions = []
    queries = []
    for fact in facts:
        question = by_text.get(fact["question"])
        if question is not None:
            asked_facts.append(fact)
            questions.append(question)
            queries.append(f"{question.question} {question.gold}")
    messages = prepared_session.session.messages[:boundary]
    history = [said_text(message) for message in messages]
    bm25 = Bm25(history)
    rarity = Rarity(history)
    for wording in WORDINGS:
        lines = []
        for fact, question in zip(asked_facts, questions, strict=True):
            lines.append(_worded(fact, wording, verbatim=question.gold))
        text = "\n".join(lines)
        chances = shipped_reader().chances(questions, text, rarity).tolist()
        shares = bm25.shares(queries, text)
        for fact, chance, share in zip(asked_facts, chances, shares, strict=True):
            yield {
                "half": "the work",
                "wording": wording,
                "reader": chance,
                "bm25": share,
                "real": fact["read"][_key(wording)],
            }


def _questions_by_text(prepared_session: Prepared, boundary: int) -> dict[str, WorkQuestion]:
    """The questions about the work at a boundary; none where it has no exam."""
    exams = exams_of(prepared_session.session)
    if exams is None:
        return {}
    exam = exams.at(boundary)
    if exam is None:
        return {}
    return {question.question: question for question in exam.questions}


def _worded(fact: Fact, wording: str, verbatim: str) -> str:
    """A fact in one of the wordings; `verbatim` is the one that is not in the file."""
    if wording == VERBATIM:
        return verbatim
    return str(fact[_key(wording)])


def _key(wording: str) -> str:
    return wording.replace(" ", "_")


def _name_values(
    prepared_session: Prepared, boundary: int, facts: Sequence[Fact]
) -> Iterator[dict[str, object]]:
    """A row a name and wording: what the lexical reader credits to a context with all of the
    wording.
    """
    exam = Exams.of(prepared_session.index).at(boundary)
    number_by_name = {}
    for number, item in enumerate(exam.items):
        if item.kind == "fact":
            number_by_name[item.answer] = number
    asked_facts = []
    numbers = []
    queries = []
    for fact in facts:
        if fact["name"] in number_by_name:
            number = number_by_name[fact["name"]]
            item = exam.items[number]
            asked_facts.append(fact)
            numbers.append(number)
            queries.append(f"{item.use} {item.answer}")
    history = prepared_session.session.messages[:boundary]
    bm25 = Bm25(map(said_text, history))
    for wording in WORDINGS:
        lines = []
        for fact, number in zip(asked_facts, numbers, strict=True):
            item = exam.items[number]
            lines.append(_worded(fact, wording, verbatim=item.evidence))
        text = "\n".join(lines)
        context_view = View(frozenset(), (text,), (text,))
        credits = exam.credit(context_view).tolist()
        shares = bm25.shares(queries, text)
        for number, share in zip(numbers, shares, strict=True):
            yield {
                "half": "names",
                "wording": wording,
                "reader": credits[number],
                "bm25": share,
            }


def _says(rows: pd.DataFrame) -> str:
    parts = []
    for half, of_half in rows.groupby("half", sort=False):
        values = of_half.set_index("wording")["reader"]
        verbatim = values[VERBATIM]
        in_other_words = values[OTHER_WORDS]
        parts.append(
            f"{verbatim - in_other_words:.2f} on {half} ({verbatim:.2f} verbatim,"
            f" {in_other_words:.2f} in other words)"
        )
    lost = " and ".join(parts)
    by_wording = rows.set_index(["half", "wording"])["real readers"]
    real = by_wording["the work", OTHER_WORDS]
    return (
        f"Told in other words, the same facts lose {lost}; a real reader knew {real:.2f} of the"
        " work from these words."
    )
