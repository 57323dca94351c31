"""What a report and the command line say of a strategy with recall."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from planted_run import PlantedRun, simulation
from report.page.made import findings_of, made, report_of

from workbench import Findings, Report
from workbench.cli.headline import outcome, show


def run() -> PlantedRun:
    """A run of two sessions in which `truncate` has an archive."""
    made_results = made(2)
    for n in range(2):
        place = {"session": f"session-0{n}", "strategy": "truncate"}
        bill = {
            "usd": 3.0,
            "usd_fetching": 0.0,
            "usd_uncompacted": 4.0,
            "net_saving": 1.0,
            "row": "some-model",
        }
        made_results.rows["costs"].append(place | bill)
        shares = {"visible": 0.5, "recoverable": 0.3, "lost": 0.2}
        counts = {
            "boundaries": 8,
            "items": 40,
            "asked": 10,
            "answered": 6,
            "tokens": 9_000,
            "requests": 50,
        }
        paid = {"calls": 5 + n, "usd_recall": 0.5, "usd_fetching": 0.0, "net_saving": 0.5}
        made_results.rows["paging"].append({**place, "mode": "natural", **shares, **counts, **paid})
        made_results.rows["paging"].append(
            {**place, "mode": "matched", "share": 0.1, **shares, **counts}
        )
    return made_results


@cache
def report_with_recall() -> Report:
    """The report of such a run, made once for all tests."""
    return Report(run())


def test_what_is_visible_recoverable_and_lost_and_what_it_saves() -> None:
    paging = report_with_recall().paging
    assert paging.data is not None
    (row,) = paging.data.to_dict("records")
    assert (row["visible"], row["recoverable"], row["lost"]) == pytest.approx((0.5, 0.3, 0.2))
    assert (row["fault_rate"], row["calls"], row["usd_recall"]) == (0.25, 11.0, 0.5)
    assert (row["saved"], row["saved_without"]) == (0.125, 0.25)
    assert "11" in paging.html and "30 %" in paging.html


def test_with_and_without_recall_are_estimates_of_one_kind(tmp_path: Path) -> None:
    """A simulation replaces the look-ups of the bill, and has none without recall."""
    rows = []
    for session in ("session-00", "session-01"):
        row: dict[str, Any] = {"session": session, "project": session, "strategy": "truncate"}
        row |= {"unrecorded": 0, "steps": 9, "look_ups": 0, "recalls": 0, "blind_steps": 0}
        row |= {"usd_uncompacted": 4.0, "saved_usd": 1.0, "saved_usd_net": -2.0}
        rows.append(row)
    alone = run()
    for name, table in alone.rows.items():
        alone.rows[name] = [row for row in table if row.get("strategy", "truncate") == "truncate"]
    alone.written(tmp_path)
    simulation(rows).to_parquet(tmp_path / "simulated.parquet")
    report = Report.open(tmp_path)
    assert report.costs.data is not None and report.paging.data is not None
    assert report.costs.data["net_saving"].tolist() == [-2.0]
    assert report.paging.data[["saved", "saved_without"]].to_numpy().tolist() == [[0.125, 0.25]]


def test_the_decision_says_what_recall_adds_and_costs_where_it_recommends_it() -> None:
    source = run()
    for row in source.rows["scores"]:
        if row["strategy"] == "truncate" and row["metric"] == "exam_recall":
            row["value"] = 0.99
    decision = Findings.of(source).decision
    assert decision is not None and decision.use == "truncate"
    assert "with them truncate has another 30 % within reach and saves 12 %" in decision.trade_off
    other = findings_of(9).decision
    assert other is not None and "recall" not in other.trade_off


def test_a_run_without_recall_says_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    part = report_of(2).paging
    assert not part.html and part.data is not None and part.data.empty
    show(findings_of(9))
    assert "recall gives back" not in capsys.readouterr().out
    assert outcome(made(2), findings_of(2), no_report=True)["within_reach"] == []


def test_the_command_line_has_a_table_of_it_in_eighty_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = report_with_recall()
    show(report.findings)
    text = capsys.readouterr().out
    assert "Within reach of recall" in text and max(map(len, text.splitlines())) <= 80
    within_reach = outcome(report.results, report.findings, no_report=True)["within_reach"]
    assert isinstance(within_reach, list)
    (row,) = within_reach
    assert row["strategy"] == "truncate" and row["lost"] == pytest.approx(0.2)
