"""Whether a run's own scale holds, and what a real model answered about its contexts."""

import json
from dataclasses import asdict
from importlib.resources import files

import pandas as pd

from workbench.evaluation.analysis.equal_size import over_target_notes
from workbench.evaluation.experiment.store import Results
from workbench.lab.judge.exam.scores import agreement, agreement_note, scores
from workbench.lab.judge.exam.sitting import ExamResults
from workbench.lab.validation.checks import ceiling, floor
from workbench.report.page.html import Html, part


def trust_html(run: Results) -> Html:
    """Whether the run's own scale holds, then what real models answered."""
    return validation_html(run) + judges_html(run)


def validation_html(run: Results) -> Html:
    """The checks that the run's own replays allow: one row each with `check`, `outcome`,
    `found`, `claim`.
    """
    rows = pd.DataFrame([asdict(check) for check in (floor(run), ceiling(run))]).rename(
        columns={"name": "check"}
    )
    facts = json.loads(
        files("workbench.lab.validation").joinpath("facts.json").read_text(encoding="utf-8")
    )
    parts = {
        where: {row["metric"]: row for row in facts[where]["ranks"]}
        for where in ("agreement", "detours")
    }
    places = [
        (where, target) for where in parts for target in ("success", "look_ups", "blind", "saved")
    ]
    orders = [
        {"metric": metric}
        | {
            f"{where} {target}": parts[where].get(metric, {}).get(target)
            for where, target in places
        }
        for metric in parts["detours"] | parts["agreement"]
    ]
    checks = rows[["check", "outcome", "found", "claim"]]
    return part("validation", checks, rows=rows.to_dict("records"), orders=orders, **facts)


def judges_html(run: Results) -> Html:
    """What a real model answered about this run's contexts; a sentence where none was asked."""
    if not (run.path / ExamResults.file).is_file():
        return part("judges", None, rows=())
    results = ExamResults.open(run.path)
    rows = [asdict(score) for score in scores(results.table)]
    return part(
        "judges",
        results.table,
        rows=rows,
        base=next((row["baseline"] for row in rows if row["baseline"]), ""),
        known=[row["strategy"] for row in rows],
        reader=results.notes["reader"],
        admission=results.notes["admission"],
        agreement=agreement_note(agreement(results.table)),
        larger=over_target_notes(results.table),
    )
