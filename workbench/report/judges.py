"""What a real model makes of the same contexts: its exams, once `workbench judge exam` has written them to the run."""

from __future__ import annotations

from dataclasses import asdict

from workbench.analysis.over_target import over_target_notes
from workbench.experiment.store import Results
from workbench.judge.exam.scores import agreement, agreement_note, scores
from workbench.judge.exam.sitting import ExamResults
from workbench.report.html import Html, part


def judges_html(run: Results) -> Html:
    """What a real model answered about this run's contexts; a sentence where none was asked."""
    if not (run.path / ExamResults.file).is_file():
        return part("judges", None, rows=())
    found = ExamResults.open(run.path)
    rows = [asdict(one) for one in scores(found.table)]
    return part(
        "judges", found.table, rows=rows, base=next((row["baseline"] for row in rows if row["baseline"]), ""),
        known=[row["strategy"] for row in rows], reader=found.notes["reader"],
        admission=found.notes["admission"], agreement=agreement_note(agreement(found.table)),
        larger=over_target_notes(found.table),
    )  # fmt: skip
