from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from planted_run import PlantedRun

from workbench import Findings, Report
from workbench.base.palette import looks


def run_of(rows: dict[str, list[dict[str, Any]]]) -> PlantedRun:
    return PlantedRun({"packages": {"litellm": "1.101.6"}}, rows)


def bill(session: str, strategy: str, usd: float, **more: Any) -> dict[str, Any]:
    return {
        "session": session,
        "strategy": strategy,
        "model": "m",
        "row": "some-model",
        "cache": "Anthropic, 5 minutes",
        "why": "",
        "requests": 3,
        "tokens_input": 0,
        "tokens_read": 900,
        "tokens_written": 100,
        "tokens_output": 5,
        "usd": usd,
        "usd_input": 0.0,
        "usd_read": usd / 2,
        "usd_write": usd / 2,
        "usd_output": 0.0,
        "usd_summaries": 0.0,
        "usd_uncompacted": 4.0,
        "usd_fetching": 0.0,
        "net_saving": 4.0 - usd,
        "breaks": 1,
        "parted_at": None if strategy == "none" else 1,
        "even_at": None,
        "assumed_summaries": 0,
    } | more


def matched(session: str, **more: Any) -> dict[str, Any]:
    return {
        "session": session,
        "model": "m",
        "row": "some-model",
        "cache": "",
        "why": "",
        "requests": 50,
        "left_out": 0,
        "prompt_error": 0.004,
        "read_error": 0.003,
        "usd_error": 0.01,
        "usd": 3.9,
        "usd_reported": 4.0,
        "missed": 0,
        "bill_error": -0.025,
        "usd_missed": 0.2,
        "usd_found": 0.1,
        "compactions": 0,
        "clearings": 0,
        "shrunk": 0,
        "grown": 0,
        "unseen_start": 0,
    } | more


def run(sessions: int = 3) -> PlantedRun:
    rows: dict[str, list[dict[str, Any]]] = {
        "costs": [],
        "replays": [],
        "steps": [],
        "reconciliation": [],
    }
    for n in range(sessions):
        name = f"s{n}"
        for strategy, usd in (("none", 4.0), ("truncate", 3.0), ("summarize", 5.0)):
            even = {"even_at": 2} if strategy == "truncate" else {}
            rows["costs"].append(
                bill(name, strategy, usd, usd_uncompacted=4.0 + n, net_saving=4.0 + n - usd, **even)
            )
            rows["replays"].append({"session": name, "strategy": strategy, "status": "ok"})
            rows["steps"] += [
                {"session": name, "strategy": strategy, "request": i, "index": i, "usd": usd / 3}
                for i in range(3)
            ]
        rows["reconciliation"].append(matched(name))
    return run_of(rows)


def test_a_bill_a_strategy_cheapest_first_and_the_arms_last() -> None:
    rows = Findings.of(run()).figures.bills
    assert rows["strategy"].tolist() == ["truncate", "summarize", "none"]
    first = rows.iloc[0]
    assert (first["usd"], first["net_saving"], first["cache_read"]) == (3.0, 2.0, 0.9)
    assert first["saved"] == pytest.approx((1 + 2 + 3) / (4 + 5 + 6))
    assert (first["compacted"], first["paid"], first["even_after"]) == (3, 3, 1.0)


def test_the_table_says_what_pays_and_whose_prices_they_are() -> None:
    html = Report(run()).costs.html
    assert "1 request" in html
    assert "never <small>in 3 sessions</small>" in html
    assert "some-model (Anthropic, 5 minutes), from litellm 1.101.6" in html
    assert "in USD, lower is cheaper" in html


def test_what_comes_from_the_cache_stands_with_how_often_it_broke() -> None:
    source = run(1)
    for row in source.rows["costs"]:
        row["breaks"] = {"none": 0, "truncate": 1, "summarize": 14}[row["strategy"]]
    html = Report(source).costs.html
    for told in ("90 % <small>0 breaks<", "90 % <small>1 break<", "90 % <small>14 breaks<"):
        assert told in html


def test_an_assumed_price_and_assumed_summaries_are_told() -> None:
    made_results = run(1)
    made_results.rows["costs"] = [
        row | {"why": "no price is known for the model 'x'", "assumed_summaries": 2}
        for row in made_results.rows["costs"]
    ]
    html = Report(made_results).costs.html
    assert "In 1 session, since no price is known for the model" in html
    assert "as if the priced model had written them" in html


def test_hostile_names_are_escaped() -> None:
    made_results = run(1)
    made_results.rows["costs"] = [row | {"row": "<script>x"} for row in made_results.rows["costs"]]
    made_results.rows["reconciliation"] = [matched("<script>y")]
    assert "<script>" not in Report(made_results).costs.html + Report(made_results).reconciled.html


def test_the_chart_marks_where_a_strategy_has_paid_off() -> None:
    source = run()
    told_by_session = {name: Report(source).spending(name).alt for name in ("s0", "s1", "s2")}
    assert Report(source).spending().alt == told_by_session["s1"]
    assert len(set(told_by_session.values())) == 3, "the session in the middle is told apart"
    (axes,) = Report(source).spending().figure.axes
    assert axes.get_xlabel() == "request" and "USD" in axes.get_ylabel()
    dots = [line for line in axes.get_lines() if line.get_marker() == "o"]
    assert [np.asarray(dot.get_xydata()).tolist() for dot in dots] == [[[2.0, 3.0]]]
    assert "n = 3 requests" in next(
        text.get_text() for text in axes.texts if text.get_gid() == "note"
    )
    assert (
        "truncate $3.00, no dearer than without compaction from request 2"
        in Report(source).spending().alt
    )


def test_a_strategy_has_the_colour_of_the_other_charts_in_the_bill_and_in_its_chart() -> None:
    source = run()
    names = {"truncate": "zeta", "summarize": "alpha", "none": "none"}
    for name in ("costs", "replays", "steps"):
        for row in source.rows[name]:
            row["strategy"] = names[row["strategy"]]
    report = Report(source)
    assert report.costs.data is not None
    assert list(report.costs.data["strategy"]) == ["zeta", "alpha", "none"]
    colours = {}
    for name, style in looks(report.findings.tables.strategies).items():
        colours[name] = style.colour
    in_table = re.findall(r"background:(#\w{6});[^>]*></i>(\w+)", report.costs.html)
    assert {name: colour for colour, name in in_table} == colours
    (axes,) = report.spending().figure.axes
    drawn = [line.get_color() for line in axes.get_lines() if line.get_marker() != "o"]
    assert drawn == [colours["zeta"], colours["alpha"], colours["none"]]


def test_reported_usage_is_compared_session_by_session() -> None:
    made_results = run()
    made_results.rows["reconciliation"] = [
        matched("good"),
        matched(
            "bad",
            bill_error=-0.025,
            reasons="missed after a pause -2 %",
            prompt_error=0.05,
            shrunk=2,
            compactions=1,
            left_out=3,
            unseen_start=1,
        ),
        matched("silent", requests=0, prompt_error=None, read_error=None, usd_error=None, usd=None),
    ]
    html = Report(made_results).reconciled
    assert "within 2 % in 1 of 2 sessions" in html.plain
    assert "1 session could not be checked" in html.plain
    assert (
        "median bill of a whole session is off by 2.5 %, all dollars together by -2.5 %"
        in html.plain
    )
    assert "5.0 % were paid since the provider's cache missed" in html.plain
    assert "what is left is off by 0.0 % in the median" in html.plain
    assert (
        "1 compaction, 2 unrecorded cuts, a start in another file and 3 answers left out"
        in html.html
    )
    assert html.html.index("bad") < html.html.index("good")
    made_results.rows["sessions"] = [{"session": "bad", "title": "Mend the tests", "status": "ok"}]
    assert "Mend the tests" in Report(made_results).reconciled.html
    assert "-2.5 %" in html.html
    assert (
        "missed after a pause -2 %; 3 answers without a report or by another model in neither bill"
        in html.html
    )


def test_no_bill_that_is_far_off_is_left_out_of_the_report() -> None:
    made_results = run()
    made_results.rows["reconciliation"] = [
        matched(f"s{n}", bill_error=-0.5, reasons=f"because {n}.") for n in range(60)
    ]
    html = Report(made_results).reconciled.html
    assert all(f"because {n}." in html for n in range(60))


def test_a_run_without_tables_says_so() -> None:
    source = run_of({})
    report = Report(source)
    assert "No session has a bill" in report.costs.html
    assert "so the bill is not checked" in report.reconciled.html
    assert "no data" in report.spending().alt
    assert report.spending().figure.axes[0].get_lines() == []
