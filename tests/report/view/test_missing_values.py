"""Runs that lack what a run may lack: the terminal, the JSON, the page and the view show the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from planted_run import PlantedRun
from report.page.made import made
from report.view.made import get, served

from workbench import Findings, Report
from workbench.cli.headline import outcome, show
from workbench.evaluation.experiment.table_columns import COLUMNS

OF_STRATEGIES = ("steps", "compactions", "retention", "scores", "losses", "survival", "costs")
"""Tables whose rows are of one strategy."""
LATER_COLUMNS = {
    "losses": ("tokens_back", "way_back", "stage", "evidence_at", "said_at", "said_by"),
    "sessions": ("title", "project", "model", "window_source", "window_wanted", "window_used"),
    "compactions": ("usd", "seconds", "requests", "by_rule", "fallbacks", "left_out", "writer"),
    "reconciliation": ("usd", "usd_reported", "bill_error", "missed", "shrunk", "unseen_start"),
}
"""Columns without a value in a run of a time that did not have them."""


def without_values(run: PlantedRun, table: str, columns: tuple[str, ...]) -> None:
    for row in run.rows[table]:
        row.update(dict.fromkeys(columns))


def without_prices_and_usage() -> PlantedRun:
    run = made(2)
    for table, columns in COLUMNS.items():
        in_dollars = [name for name in columns if "usd" in name or name == "net_saving"]
        without_values(run, table, tuple(in_dollars))
    without_values(run, "sessions", ("model", "scale", "overhead", "calibration_error"))
    run.rows["reconciliation"] = []
    run.rows["scores"] = [row for row in run.rows["scores"] if row["metric"] != "cost_saved"]
    return run


def with_a_pending_model() -> PlantedRun:
    run = made(2)
    for row in run.rows["replays"]:
        if row["strategy"] == "summarize":
            row.update(status="pending", reason="no answer yet", usd=None)
    for table in OF_STRATEGIES:
        run.rows[table] = [row for row in run.rows[table] if row["strategy"] != "summarize"]
    return run


def with_one_session() -> PlantedRun:
    return made(1)


def without_a_compaction() -> PlantedRun:
    run = made(2)
    for table in ("compactions", "losses", "survival", "retention"):
        run.rows[table] = []
    without_values(run, "steps", ("compaction",))
    without_values(run, "costs", ("parted_at", "even_at"))
    scores = run.rows["scores"]
    run.rows["scores"] = [row for row in scores if row["metric"] in ("tokens_saved", "cost_saved")]
    return run


def without_later_columns() -> PlantedRun:
    run = made(2)
    for table, columns in LATER_COLUMNS.items():
        without_values(run, table, columns)
    return run


@pytest.mark.parametrize(
    "lacking",
    [
        without_prices_and_usage,
        with_a_pending_model,
        with_one_session,
        without_a_compaction,
        without_later_columns,
    ],
)
def test_what_a_run_lacks_stops_nothing_that_shows_it(
    lacking: Callable[[], PlantedRun], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = lacking()
    findings = Findings.of(run)
    show(findings, wide=True)
    show(findings)
    shown = [capsys.readouterr().out, json.dumps(outcome(run, findings, no_report=True))]
    report = Report(run, findings=findings)
    for name, part in vars(Report).items():
        if isinstance(part, property):
            shown.append(getattr(getattr(report, name), "html", ""))
    run.written(tmp_path / "run")
    with served(tmp_path) as server:
        for page in ("", "runs/run", "runs/run/queue", "runs/run/session?id=session-00"):
            status, text, _ = get(f"{server.address}{page}")
            assert status < 500
            shown.append(text)
    for text in shown:
        assert not re.search(r"<NA>|\bnan\b|message None", text)
