"""Labelled names and lines: what the exam of each boundary asked, and which lines answer it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from workbench.base.ragged import Flags, Floats
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


def samples_of(prepared_session: Prepared, shares: Sequence[float] = AT) -> list[LabelledSample]:
    """The rows of one session."""
    session = prepared_session.session
    reader = LineReader(prepared_session.index.extractor)
    project = session.project or session.id
    samples: list[LabelledSample] = []
    for boundary in at_boundaries(
        session, prepared_session.sizing, prepared_session.window, tuple(shares)
    ):
        exam = Exams.of(prepared_session.index).at(boundary)
        if exam.items:
            table = LineTable(session.messages[:boundary], reader)
            samples += _samples_at(exam, table, project)
    return samples


def _samples_at(exam: BoundaryExam, table: LineTable, project: str) -> list[LabelledSample]:
    """The rows of one boundary: which names are needed, which lines tell them, and which lines
    state what a rule or an open task asks for.
    """
    questions_by_name = _questions_by_name(exam, table)
    names = list(questions_by_name)
    is_needed = np.asarray(np.isin(table.known, names))
    pairs = np.flatnonzero(np.isin(table.pair_name, names))
    lines, row_of_pair = np.unique(table.pair_line[pairs], return_inverse=True)
    is_answered = exam.answered_by([table.lines[line].text for line in lines.tolist()])
    tells = []
    for row, name in zip(row_of_pair.tolist(), table.pair_name[pairs].tolist(), strict=True):
        tells.append(bool(is_answered[row, questions_by_name[name]].any()))
    telling = Sample(table.tells[pairs], np.array(tells, dtype=bool), np.ones(len(pairs)), project)
    sentences = [number for number, item in enumerate(exam.items) if item.kind in SENTENCES]
    stating_texts = [table.lines[line].text for line in table.stating.tolist()]
    is_stated: Flags = exam.answered_by(stating_texts)[:, sentences]
    states = np.asarray(is_stated.max(axis=1, initial=False))
    return [
        ("needed", _thinned(table.needed, is_needed, project)),
        ("tells", telling),
        ("states", _thinned(table.states, states, project)),
    ]


def _questions_by_name(exam: BoundaryExam, table: LineTable) -> dict[int, list[int]]:
    """By name that an answer holds, the numbers of the items that ask for it."""
    places_by_text = table.names_by_text()
    questions: dict[int, list[int]] = defaultdict(list)
    for number, item in enumerate(exam.items):
        if item.kind not in SENTENCES:
            for place in places_by_text.get(item.answer.lower(), ()):
                questions[int(table.known[place])].append(number)
    return questions


def _thinned(features: Floats, labels: Flags, project: str) -> Sample:
    """All rows that were needed, and some of the others, which count for all of them."""
    is_kept = labels | (np.arange(len(labels)) % KEPT_NEGATIVES == 0)
    weights = np.where(labels[is_kept], 1.0, float(KEPT_NEGATIVES))
    return Sample(features[is_kept], labels[is_kept], weights, project)


def by_part(samples: Iterable[LabelledSample]) -> dict[Part, list[Sample]]:
    """The samples of each model."""
    parts: dict[Part, list[Sample]] = {part: [] for part in PARTS}
    for part, sample in samples:
        parts[part].append(sample)
    return parts
