"""What real models make of the same contexts: their surprise, their answers, and their next actions.

Each part appears once its command has written its table into the run's folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from workbench.analysis.estimate import Estimate
from workbench.analysis.over_target import over_target_notes
from workbench.errors import SettingError
from workbench.formats import decimal, percent
from workbench.judge.behaviour.effects import compliances, equivalences
from workbench.judge.behaviour.trials import BehaviourResults
from workbench.judge.probes.accuracy import LABELS, Accuracy, accuracies, judged_note, labelled, rubric_means, splits
from workbench.judge.probes.answers import ProbeResults
from workbench.judge.probes.judge import DIMENSIONS, RUBRIC_NOTE
from workbench.judge.surprisal.measurement import SurprisalResults
from workbench.report.html import Html, empty, part
from workbench.report.tables import Source

MEASURED: Mapping[str, object] = {
    "model": "Gemma 3 270M base", "mean": 0.85, "low": 0.71, "high": 0.97, "median": 0.87, "positive": 7,
    "boundaries": 7, "sessions": 7,
}  # fmt: skip
"""Rank correlation of recall with a real model's surprise, with a 95 % interval; docs/method.md says how."""


def judges_html(run: Source) -> Html:
    """All that real models were asked about this run's contexts; a sentence where nothing was."""
    folder = getattr(run, "path", None)  # a run that is not on disk has no such tables
    every = [surprise_html(folder), probes_html(folder), behaviour_html(folder)] if isinstance(folder, Path) else []
    parts = [one for one in every if one.html]
    return part("judges", data=parts[0].data if parts else None, measured=MEASURED, parts=[one.html for one in parts])


def surprise_html(folder: Path) -> Html:
    """How surprising a small model finds what was needed later: a row a strategy; empty where it was not measured."""
    try:
        found = SurprisalResults.open(folder)
    except SettingError:
        return empty()
    rows = found.means()
    if not rows:
        return empty()
    return part(
        "surprise", data=pd.DataFrame(rows), rows=rows, model=str(found.notes["likelihood"]),
        larger=over_target_notes(found.table), known=[one["strategy"] for one in rows],
    )  # fmt: skip


def probes_html(folder: Path) -> Html:
    """The share of questions that a model answers correctly from each context; empty where none were asked."""
    try:
        found = ProbeResults.open(folder)
    except SettingError:
        return empty()
    labels = labelled(folder / LABELS, found.table)
    rows = accuracies(found.table, labels)
    repeated = bool((found.table["replicate"].fillna(0) > 0).any())
    return part(
        "probes", data=found.table, rows=[_accuracy(one) for one in rows], reader=str(found.notes["reader"]),
        note=judged_note(labels, rows), larger=over_target_notes(found.table), known=[one.strategy for one in rows],
        scores=rubric_means(found.table, DIMENSIONS) if found.notes.get("scores_by") else [], dimensions=DIMENSIONS,
        scores_note=RUBRIC_NOTE, variances=splits([found]) if repeated else [],
    )  # fmt: skip


def _accuracy(one: Accuracy) -> dict[str, object]:
    share = one.share
    judged = "–" if share is None else f"{percent(share.value)} ({percent(share.low)} to {percent(share.high)})"
    names = ("strategy", "right", "open", "abstained", "stale", "present", "asked", "unusable")
    return {"judged": judged, **{name: getattr(one, name) for name in names}}


def behaviour_html(folder: Path) -> Html:
    """Whether a model takes the same next action, and complies; empty where this was not measured."""
    try:
        found = BehaviourResults.open(folder)
    except SettingError:
        return empty()
    same, obeyed = equivalences(found.table), compliances(found.table)
    return part(
        "behaviour", data=found.table, reader=str(found.notes["reader"]), larger=over_target_notes(found.table),
        same=[{**asdict(one), "beyond_chance": _estimate(one.difference)} for one in same],
        obeyed=[{**asdict(one), **one.obeyed, "effect_kept": _estimate(one.effect)} for one in obeyed],
        known=[one.strategy for one in same],
    )  # fmt: skip


def _estimate(one: Estimate | None) -> str:
    if one is None:
        return "–"
    return decimal(one.mean) if one.low is None else f"{decimal(one.mean)} ({decimal(one.low)} to {decimal(one.high)})"
