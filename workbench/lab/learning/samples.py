"""Labelled names and lines: what the exam of each boundary asked, and which lines answer it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints
from workbench.engine.models.extractive.reading import LineReader
from workbench.engine.models.learned.features import PARTS, LineTable, Part
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.exam.exams import BoundaryExam, Exams
from workbench.evaluation.replays.boundaries import at_boundaries

AT = (0.35, 0.5, 0.65, 0.8)
"""Shares of the messages at which a session is looked at."""
SENTENCES = ("rule", "todo")
"""Kinds of items that ask for a sentence, not for a name."""
KEPT_NEGATIVES = 8
"""One of so many names and lines that nobody needed is learned from, and counts so often."""


class Sample(NamedTuple):
    """Rows of one model: their features, whether each was needed, how often each counts, and
    their project.
    """

    features: Floats
    labels: Flags
    weights: Floats
    project: str


LabelledSample: TypeAlias = tuple[Part, Sample]
"""The name of a model, and rows of it."""


def samples_of(
    prepared_session: Prepared,
    shares: Sequence[float] = AT,
) -> list[LabelledSample]:
    """The rows of one session."""
    session = prepared_session.session
    reader = LineReader(prepared_session.index.extractor)
    project = session.project or session.id
    boundaries = at_boundaries(
        session,
        prepared_session.sizing,
        prepared_session.window,
        tuple(shares),
    )
    samples: list[LabelledSample] = []
    for boundary in boundaries:
        exam = Exams.of(prepared_session.index).at(boundary)
        if exam.items:
            history = session.messages[:boundary]
            table = LineTable(history, reader)
            samples += _samples_at(exam, table, project)
    return samples


def _samples_at(exam: BoundaryExam, table: LineTable, project: str) -> list[LabelledSample]:
    """The rows of one boundary: which names are needed, which lines tell them, and which lines
    state what a rule or an open task asks for.
    """
    questions_by_name = _questions_by_name(exam, table)
    needed_names = list(questions_by_name)
    is_needed = np.asarray(np.isin(table.history_names, needed_names))
    is_stated = _stating(exam, table)
    needed = _thinned(table.needed, is_needed, project)
    telling = _telling(exam, table, questions_by_name, project)
    stating = _thinned(table.states, is_stated, project)
    return [
        ("needed", needed),
        ("tells", telling),
        ("states", stating),
    ]


def _telling(
    exam: BoundaryExam,
    table: LineTable,
    questions_by_name: dict[int, list[int]],
    project: str,
) -> Sample:
    """Rows of the pairs of a needed name and a line that holds it: does the line tell it?"""
    is_needed = np.isin(table.pair_name, list(questions_by_name))
    pairs = np.flatnonzero(is_needed)
    lines, row_of_pair = np.unique(table.pair_line[pairs], return_inverse=True)
    is_answered = exam.answered_by(_texts(table, lines))
    names = table.pair_name[pairs].tolist()
    labels = []
    for row, name in zip(row_of_pair.tolist(), names, strict=True):
        questions = questions_by_name[name]
        is_told = is_answered[row, questions].any()
        labels.append(bool(is_told))
    return Sample(
        features=table.tells[pairs],
        labels=np.array(labels, dtype=bool),
        weights=np.ones(len(pairs)),
        project=project,
    )


def _stating(exam: BoundaryExam, table: LineTable) -> Flags:
    """Whether each line that may state something states what a rule or an open task asks for."""
    sentences = []
    for number, item in enumerate(exam.items):
        if item.kind in SENTENCES:
            sentences.append(number)
    texts = _texts(table, table.stating)
    is_answered = exam.answered_by(texts)
    is_stated: Flags = is_answered[:, sentences]
    states_any = is_stated.max(axis=1, initial=False)
    return np.asarray(states_any)


def _texts(table: LineTable, lines: Ints) -> list[str]:
    """The texts of the lines with these numbers."""
    return [table.lines[line].text for line in lines.tolist()]


def _questions_by_name(exam: BoundaryExam, table: LineTable) -> dict[int, list[int]]:
    """By name that an answer holds, the numbers of the items that ask for it."""
    places_by_text = table.names_by_text()
    questions: dict[int, list[int]] = defaultdict(list)
    for number, item in enumerate(exam.items):
        if item.kind in SENTENCES:
            continue
        for place in places_by_text.get(item.answer.lower(), ()):
            name = int(table.history_names[place])
            questions[name].append(number)
    return questions


def _thinned(features: Floats, labels: Flags, project: str) -> Sample:
    """All rows that were needed, and some of the others, which count for all of them."""
    row_numbers = np.arange(len(labels))
    is_kept = labels | (row_numbers % KEPT_NEGATIVES == 0)
    kept_labels = labels[is_kept]
    weights = np.where(kept_labels, 1.0, float(KEPT_NEGATIVES))
    return Sample(
        features=features[is_kept],
        labels=kept_labels,
        weights=weights,
        project=project,
    )


def by_part(samples: Iterable[LabelledSample]) -> dict[Part, list[Sample]]:
    """The samples of each model."""
    parts: dict[Part, list[Sample]] = {}
    for part in PARTS:
        parts[part] = []
    for part, sample in samples:
        parts[part].append(sample)
    return parts
