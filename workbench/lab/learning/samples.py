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


def samples_of(ready: Prepared, at: Sequence[float] = AT) -> list[tuple[Part, Sample]]:
    """The rows of one session."""
    session, reader = ready.session, LineReader(ready.index.extractor)
    project = session.project or session.id
    found: list[tuple[Part, Sample]] = []
    for boundary in at_boundaries(session, ready.sizing, ready.window, tuple(at)):
        exam = Exams.of(ready.index).at(boundary)
        if not exam.items:
            continue
        table = LineTable(session.messages[:boundary], reader)
        places = table.names_by_text()
        asked: dict[int, list[int]] = {}
        for number, item in enumerate(exam.items):
            for place in (
                places.get(item.answer.lower(), ()) if item.kind not in ("rule", "todo") else ()
            ):
                asked.setdefault(int(table.known[place]), []).append(number)
        found.append(
            (
                "needed",
                _thinned(table.needed, np.asarray(np.isin(table.known, list(asked))), project),
            )
        )
        pairs = np.flatnonzero(np.isin(table.pair_name, list(asked)))
        lines, row = np.unique(table.pair_line[pairs], return_inverse=True)
        answered = exam.answered_by([table.lines[i].text for i in lines.tolist()])
        tells = [
            bool(answered[at, asked[name]].any())
            for at, name in zip(row.tolist(), table.pair_name[pairs].tolist(), strict=True)
        ]
        weights = np.ones(len(pairs))
        found.append(
            ("tells", Sample(table.tells[pairs], np.array(tells, dtype=bool), weights, project))
        )
        sentences = [n for n, item in enumerate(exam.items) if item.kind in ("rule", "todo")]
        stated: Flags = exam.answered_by([table.lines[i].text for i in table.stating.tolist()])[
            :, sentences
        ]
        found.append(
            (
                "states",
                _thinned(table.states, np.asarray(stated.max(axis=1, initial=False)), project),
            )
        )
    return found


def _thinned(features: Floats, labels: Flags, project: str) -> Sample:
    """All rows that were needed, and some of the others, which count for all of them."""
    kept = labels | (np.arange(len(labels)) % KEPT_NEGATIVES == 0)
    weights = np.where(labels[kept], 1.0, float(KEPT_NEGATIVES))
    return Sample(features[kept], labels[kept], weights, project)


def by_part(found: Iterable[tuple[Part, Sample]]) -> dict[Part, list[Sample]]:
    """The samples of each model."""
    parts: dict[Part, list[Sample]] = {part: [] for part in PARTS}
    for part, sample in found:
        parts[part].append(sample)
    return parts
