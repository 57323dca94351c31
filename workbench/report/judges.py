"""What real models make of the same contexts: their exams, and their next actions.

Each part appears once its command has written its table into the run's folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.analysis.over_target import over_target_notes
from workbench.experiment.store import Results
from workbench.judge.behaviour.effects import compliances, equivalences
from workbench.judge.behaviour.trials import BehaviourResults
from workbench.judge.exam.scores import agreement, agreement_note, scores
from workbench.judge.exam.sitting import ExamResults
from workbench.judge.measurement import Measurement
from workbench.report.html import Html, part


def _exam(found: ExamResults) -> dict[str, Any]:
    return {
        "rows": [asdict(one) for one in scores(found.table)], "reader": found.notes["reader"],
        "admission": found.notes["admission"], "agreement": agreement_note(agreement(found.table)),
    }  # fmt: skip


def _behaviour(found: BehaviourResults) -> dict[str, Any]:
    return {
        "rows": [asdict(one) for one in equivalences(found.table)], "reader": found.notes["reader"],
        "obeyed": [{**asdict(one), **one.obeyed} for one in compliances(found.table)],
    }  # fmt: skip


KINDS: tuple[tuple[str, type[Measurement], Callable[[Any], dict[str, Any]]], ...] = (
    ("exam", ExamResults, _exam), ("behaviour", BehaviourResults, _behaviour),
)  # fmt: skip
"""Template, measurement, and what the template shows of it."""


def measured_html(folder: Path) -> list[Html]:
    """A part for each measurement with a real model whose table is in the folder."""
    found = []
    for template, kind, shown in KINDS:
        if (folder / kind.file).is_file():
            one = kind.open(folder)
            values = shown(one)
            names = [row["strategy"] for row in values["rows"]]
            larger = over_target_notes(one.table)
            if names:
                found.append(part(template, one.table, **{"known": names, "larger": larger} | values))
    return found


def judges_html(run: Results) -> Html:
    """All that real models were asked about this run's contexts; a sentence where nothing was."""
    parts = measured_html(run.path)
    return part("judges", parts[0].data if parts else None, parts=[one.html for one in parts])
