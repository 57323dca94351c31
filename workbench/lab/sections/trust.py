"""Whether a run's own scale holds, and what a real model answered about its contexts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any

import pandas as pd

from workbench.evaluation.analysis.equal_size import over_target_notes
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings import Findings
from workbench.lab.judge.exam.scores import agreement, agreement_note, scores
from workbench.lab.judge.exam.sitting import ExamResults
from workbench.lab.validation.run_checks import ceiling, floor
from workbench.report.page.html import Html, part

TARGETS = ("success", "look_ups", "blind", "saved")
"""What `lab agreement` holds the metrics' orders of strategies against."""


def trust_html(run: Results, findings: Findings) -> Html:
    """Whether the run's own scale holds, then what real models answered."""
    strategies = findings.tables.strategies
    return validation_html(run) + judges_html(run, strategies)


def validation_html(run: Results) -> Html:
    """The checks that the run's own replays allow: one row each with `check`, `outcome`,
    `found`, `claim`.
    """
    checks = pd.DataFrame(
        [
            asdict(floor(run)),
            asdict(ceiling(run)),
        ]
    )
    checks = checks.rename(columns={"name": "check"})
    folder = files("workbench.lab.validation")
    facts_file = folder.joinpath("facts.json")
    facts = json.loads(facts_file.read_text(encoding="utf-8"))
    return part(
        "validation",
        checks[["check", "outcome", "found", "claim"]],
        rows=checks.to_dict("records"),
        orders=_orders(facts),
        **facts,
    )


def _orders(facts: Mapping[str, Any]) -> list[dict[str, object]]:
    """How each metric orders strategies, on tasks (`agreement`) and on recordings (`detours`): a
    row a metric, with a rank by place and target.
    """
    on_tasks = _ranks_by_metric(facts["agreement"])
    on_recordings = _ranks_by_metric(facts["detours"])
    orders = []
    for metric in on_recordings | on_tasks:
        ranks_on_tasks = on_tasks.get(metric, {})
        ranks_on_recordings = on_recordings.get(metric, {})
        order: dict[str, object] = {"metric": metric}
        for target in TARGETS:
            order[f"agreement {target}"] = ranks_on_tasks.get(target)
        for target in TARGETS:
            order[f"detours {target}"] = ranks_on_recordings.get(target)
        orders.append(order)
    return orders


def _ranks_by_metric(facts: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    ranks = {}
    for row in facts["ranks"]:
        ranks[row["metric"]] = row
    return ranks


def judges_html(
    run: Results,
    strategies: Sequence[str] = (),
) -> Html:
    """What a real model answered about this run's contexts; a sentence where none was asked.

    Args:
        run: its folder may hold the answers.
        strategies: of the report, whose colours follow from their order.
    """
    file = run.path / ExamResults.file
    if not file.is_file():
        return part("judges", None, rows=())
    results = ExamResults.open(run.path)
    rows = []
    names = list(strategies)
    baseline = ""
    for score in scores(results.table):
        rows.append(asdict(score))
        names.append(score.strategy)
        baseline = baseline or score.baseline
    return part(
        "judges",
        results.table,
        rows=rows,
        base=baseline,
        known=names,
        reader=results.notes["reader"],
        admission=results.notes["admission"],
        agreement=agreement_note(agreement(results.table)),
        larger=over_target_notes(results.table),
    )
