"""Labelled names and lines: what the exam of each boundary asked, and which lines answer it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from workbench.base.ragged import Flags, Floats
from workbench.engine.models.extractive.reading import LineReader
from workbench.engine.models.learned.features import PARTS, LineTable, Part
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.replays.boundaries import at_boundaries

AT = (0.35, 0.5, 0.65, 0.8)
"""Shares of the messages at which a session is looked at."""
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


def samples_of(prepared_session: Prepared, at: Sequence[float] = AT) -> list[tuple[Part, Sample]]:
    """The rows of one session."""
    session, reader = prepared_session.session, LineReader(prepared_session.index.extractor)
    project = session.project or session.id
    samples: list[tuple[Part, Sample]] = []
    for boundary in at_boundaries(
        session, prepared_session.sizing, prepared_session.window, tuple(at)
    ):
        exam = Exams.of(prepared_session.index).at(boundary)
        if not exam.items:
            continue
        table = LineTable(session.messages[:boundary], reader)
        places = table.names_by_text()
        questions_by_name: dict[int, list[int]] = {}
        for number, item in enumerate(exam.items):
            for place in (
                places.get(item.answer.lower(), ()) if item.kind not in ("rule", "todo") else ()
            ):
                questions_by_name.setdefault(int(table.known[place]), []).append(number)
        samples.append(
            (
                "needed",
                _thinned(
                    table.needed, np.asarray(np.isin(table.known, list(questions_by_name))), project
                ),
            )
        )
        pairs = np.flatnonzero(np.isin(table.pair_name, list(questions_by_name)))
        lines, row = np.unique(table.pair_line[pairs], return_inverse=True)
        is_answered = exam.answered_by([table.lines[i].text for i in lines.tolist()])
        tells = [
            bool(is_answered[at, questions_by_name[name]].any())
            for at, name in zip(row.tolist(), table.pair_name[pairs].tolist(), strict=True)
        ]
        weights = np.ones(len(pairs))
        samples.append(
            ("tells", Sample(table.tells[pairs], np.array(tells, dtype=bool), weights, project))
        )
        sentences = [n for n, item in enumerate(exam.items) if item.kind in ("rule", "todo")]
        stated: Flags = exam.answered_by([table.lines[i].text for i in table.stating.tolist()])[
            :, sentences
        ]
        samples.append(
            (
                "states",
                _thinned(table.states, np.asarray(stated.max(axis=1, initial=False)), project),
            )
        )
    return samples


def _thinned(features: Floats, labels: Flags, project: str) -> Sample:
    """All rows that were needed, and some of the others, which count for all of them."""
    is_kept = labels | (np.arange(len(labels)) % KEPT_NEGATIVES == 0)
    weights = np.where(labels[is_kept], 1.0, float(KEPT_NEGATIVES))
    return Sample(features[is_kept], labels[is_kept], weights, project)


def by_part(samples: Iterable[tuple[Part, Sample]]) -> dict[Part, list[Sample]]:
    """The samples of each model."""
    parts: dict[Part, list[Sample]] = {part: [] for part in PARTS}
    for part, sample in samples:
        parts[part].append(sample)
    return parts
