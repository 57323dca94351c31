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
from typing import Any

import pandas as pd

from workbench.engine.transcript.message import said_text
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.metrics.bm25 import Bm25
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.view import View
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.question import WorkQuestion
from workbench.evaluation.metrics.work_exam.word_cover import Rarity
from workbench.lab.sides.side import SideTable
from workbench.recordings.datasets.bundled import bundled

VERBATIM, TERSE, OTHER_WORDS = "verbatim", "terse", "other words"
WORDINGS = (VERBATIM, TERSE, OTHER_WORDS)
Fact = Mapping[str, Any]
"""A fact in the file: which question or name it is of, and its wordings."""


def wordings() -> SideTable:
    """What the measures say of contexts that tell the same facts in three wordings.

    `reader` is the fitted reader's chance for the work, and the lexical reader's credit for names.
    Verbatim is the exam's own answer for the work, and the history's line for names. `real
    readers`: what a large language model knew of the work from the same texts; nobody was asked for
    names.
    """
    document = json.loads(files("workbench.lab.sides").joinpath("wordings.json").read_text("utf-8"))
    sessions = {session.id: prepared(session) for session in bundled()}
    values: list[dict[str, object]] = []
    for (session, boundary), facts in _by_boundary(document["work"]):
        values += _work_values(sessions[session], boundary, facts)
    for (session, boundary), facts in _by_boundary(document["names"]):
        values += _name_values(sessions[session], boundary, facts)
    groups = pd.DataFrame(values).groupby(["half", "wording"], sort=False)
    figures = {
        "facts": ("reader", "size"),
        "reader": ("reader", "mean"),
        "BM25": ("bm25", "mean"),
        "real readers": ("real", "mean"),
    }
    rows = groups.agg(**figures).reset_index()
    return SideTable(rows, _says(rows))


def _by_boundary(facts: Iterable[Fact]) -> Iterator[tuple[tuple[str, int], list[Fact]]]:
    groups: dict[tuple[str, int], list[Fact]] = defaultdict(list)
    for fact in facts:
        groups[fact["session"], fact["at"]].append(fact)
    yield from groups.items()


def _work_values(
    prepared_session: Prepared, boundary: int, facts: Sequence[Fact]
) -> Iterator[dict[str, object]]:
    """A row a fact and wording: the chance that a real model knows it from a context with all of
    the wording.
    """
    exams = exams_of(prepared_session.session)
    exam = None if exams is None else exams.at(boundary)
    by_text = {question.question: question for question in exam.questions} if exam else {}
    # an exam that is written anew asks otherwise
    asked_facts = [fact for fact in facts if fact["question"] in by_text]
    questions = [by_text[fact["question"]] for fact in asked_facts]
    history = [said_text(message) for message in prepared_session.session.messages[:boundary]]
    bm25, rarity = Bm25(history), Rarity(history)
    sought = [f"{question.question} {question.gold}" for question in questions]
    for wording in WORDINGS:
        text = "\n".join(
            _told(fact, question, wording)
            for fact, question in zip(asked_facts, questions, strict=True)
        )
        chances = shipped_reader().chances(questions, text, rarity).tolist()
        for fact, chance, share in zip(
            asked_facts, chances, bm25.shares(sought, text), strict=True
        ):
            real = fact["read"][_key(wording)]
            yield {
                "half": "the work",
                "wording": wording,
                "reader": chance,
                "bm25": share,
                "real": real,
            }


def _told(fact: Fact, question: WorkQuestion, wording: str) -> str:
    if wording == VERBATIM:
        return question.gold
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
    by_name = {
        item.answer: (number, item) for number, item in enumerate(exam.items) if item.kind == "fact"
    }
    asked_facts = [(fact, *by_name[fact["name"]]) for fact in facts if fact["name"] in by_name]
    bm25 = Bm25(said_text(message) for message in prepared_session.session.messages[:boundary])
    for wording in WORDINGS:
        text = "\n".join(_line(fact, item, wording) for fact, _, item in asked_facts)
        credit = exam.credit(View(frozenset(), (text,), (text,))).tolist()
        shares = bm25.shares([f"{item.use} {item.answer}" for _, _, item in asked_facts], text)
        for (_, number, _), share in zip(asked_facts, shares, strict=True):
            yield {"half": "names", "wording": wording, "reader": credit[number], "bm25": share}


def _line(fact: Fact, item: Item, wording: str) -> str:
    if wording == VERBATIM:
        return item.evidence
    return str(fact[_key(wording)])


def _says(rows: pd.DataFrame) -> str:
    parts = []
    for half, of_half in rows.groupby("half", sort=False):
        values = of_half.set_index("wording")["reader"]
        gap = values[VERBATIM] - values[OTHER_WORDS]
        parts.append(
            f"{gap:.2f} on {half} ({values[VERBATIM]:.2f} verbatim, {values[OTHER_WORDS]:.2f} in"
            " other words)"
        )
    lost = " and ".join(parts)
    real = rows.set_index(["half", "wording"])["real readers"]["the work", OTHER_WORDS]
    return (
        f"Told in other words, the same facts lose {lost}; a real reader knew {real:.2f} of the"
        " work from these words."
    )
