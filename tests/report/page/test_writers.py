from __future__ import annotations

from typing import Any

from report.page.made import made

from workbench import Report


def wrote(strategy: str, writer: str, **more: Any) -> dict[str, Any]:
    row = {
        "session": "session-00",
        "strategy": strategy,
        "mode": "natural",
        "requests": 1,
        "writer": writer,
        "method": "",
        "findings": "",
        "fallbacks": 0,
        "usd": 0.25,
        "seconds": 2.0,
        "input_tokens": 1_000,
        "output_tokens": 100,
        "reason": "",
        "stages": "summarize",
        "outcome": "compacted",
        "why": "",
        "violations": 0,
    }
    return {**row, **more}


def run(*rows: dict[str, Any]) -> Report:
    results = made(1, ("none", "truncate", "summarize", "null"))
    results.rows["compactions"] = list(rows)
    for row in results.rows["replays"]:
        row["usd"] = 0.5
    return Report(results)


def test_each_strategy_that_asked_has_a_row_with_its_writers_and_costs() -> None:
    report = run(
        wrote("summarize", "local:X"),
        wrote("summarize", "local:X", method="repaired"),
        wrote(
            "summarize",
            "extractive",
            fallbacks=1,
            findings="useless",
            method="extractive stands in",
        ),
        wrote("truncate", "", requests=0),
    )
    rows = report.figures.writers.to_dict("records")
    assert [row["strategy"] for row in rows] == ["summarize"]
    only = rows[0]
    assert only["writer"] == "local:X (2), extractive (1)"
    assert (only["summaries"], only["repaired"], only["replaced"], only["faulty"]) == (3, 1, 1, 0)
    assert (only["usd"], only["price"]) == (
        0.5,
        0.75,
    ), "paid by the run, and what the answers cost when asked"
    assert (only["seconds"], only["read"], only["wrote"]) == (2.0, 3_000, 300)
    assert 0 < only["recall"] < 1 and 0 < only["recall_at_size"] < 1


def test_a_price_that_nobody_knows_is_unknown_and_not_zero() -> None:
    report = run(wrote("summarize", "m", usd=None), wrote("summarize", "m"))
    assert "unknown" in report.writers.html


def test_the_most_frequent_faults_are_told() -> None:
    loop = "it repeats itself: 'x' stands there 9 times"
    report = run(
        wrote("summarize", "m", findings=loop),
        wrote("summarize", "m", findings=loop.replace("9", "8")),
    )
    html = report.writers.html
    assert "it repeats itself: 2 times" in html and report.figures.writers["faulty"].tolist() == [2]


def test_where_the_rule_alone_wrote_the_report_says_nothing() -> None:
    assert run(wrote("summarize", "extractive")).writers.html == ""
    assert run().writers.html == ""


def test_messages_that_writers_were_not_shown_are_told() -> None:
    report = run(
        wrote("summarize", "m", left_out=12),
        wrote("summarize", "m", left_out=1_200),
        wrote("opal", "m"),
    )
    assert {row["strategy"]: row["unread"] for row in report.figures.writers.to_dict("records")}[
        "summarize"
    ] == 1_212
    html = report.writers.html
    assert "Messages not shown" in html and "1,212" in html


def test_a_writers_name_cannot_be_markup() -> None:
    assert "<script>" not in run(wrote("summarize", "<script>")).writers.html
