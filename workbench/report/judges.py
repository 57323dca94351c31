"""What real models make of the same contexts: their surprise, their answers, and their next actions.

Each part appears once its command has written its table into the run's folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.analysis.over_target import over_target_notes
from workbench.judge.behaviour.effects import compliances, equivalences
from workbench.judge.behaviour.trials import BehaviourResults
from workbench.judge.measurement import Measurement
from workbench.judge.probes.accuracy import LABELS, accuracies, judged_note, labelled, rubric_means, splits
from workbench.judge.probes.answers import ProbeResults
from workbench.judge.probes.judge import DIMENSIONS, RUBRIC_NOTE
from workbench.judge.surprisal.measurement import SurprisalResults
from workbench.report.html import Html, part
from workbench.report.tables import StoredRun


def _surprise(found: SurprisalResults) -> dict[str, Any]:
    return {"rows": found.means(), "model": found.notes["likelihood"]}


def _probes(found: ProbeResults) -> dict[str, Any]:
    labels, table = labelled(found.path / LABELS, found.table), found.table
    rows = accuracies(table, labels)
    return {
        "rows": [asdict(one) for one in rows], "reader": found.notes["reader"], "note": judged_note(labels, rows),
        "scores": rubric_means(table, DIMENSIONS) if found.notes.get("scores_by") else [], "dimensions": DIMENSIONS,
        "scores_note": RUBRIC_NOTE,
        "variances": splits([found]) if (table["replicate"].fillna(0) > 0).any() else [],
    }  # fmt: skip


def _behaviour(found: BehaviourResults) -> dict[str, Any]:
    return {
        "rows": [asdict(one) for one in equivalences(found.table)], "reader": found.notes["reader"],
        "obeyed": [{**asdict(one), **one.obeyed} for one in compliances(found.table)],
    }  # fmt: skip


KINDS: tuple[tuple[str, type[Measurement], Callable[[Any], dict[str, Any]]], ...] = (
    ("surprise", SurprisalResults, _surprise), ("probes", ProbeResults, _probes),
    ("behaviour", BehaviourResults, _behaviour),
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


def judges_html(run: StoredRun) -> Html:
    """All that real models were asked about this run's contexts; a sentence where nothing was."""
    folder = getattr(run, "path", None)  # a run that is not on disk has no such tables
    parts = measured_html(folder) if isinstance(folder, Path) else []
    return part("judges", parts[0].data if parts else None, parts=[one.html for one in parts])
