"""What a run says that its bill comes to in a month, and when it says nothing of it."""

import pytest
from evaluation.findings.faces import contradictions, of_json, of_page, of_terminal
from planted_run import PlantedRun
from report.page.made import findings_of, made
from report.page.test_decision import decided, priced

from workbench import Findings, Report
from workbench.cli.headline import outcome, show

DAY_SECONDS = 86_400
SAVES = {"summarize": 0.1, "pipeline": 0.3, "truncate": 0.4}


def recorded_in(days: float, sessions: int = 9) -> PlantedRun:
    """Sessions of $10 each without compaction, recorded evenly over so many days."""
    run = priced(made(sessions), none=0.0, **SAVES)
    rows = run.rows["sessions"]
    for number, row in enumerate(rows):
        row["begun"] = 1_760_000_000 + number * days * DAY_SECONDS / len(rows)
        row["ended"] = row["begun"] + days * DAY_SECONDS / len(rows)
    return run


def test_the_bill_of_a_month_is_told_at_the_pace_of_the_recordings() -> None:
    decision = decided(recorded_in(days=15))
    assert (decision.use, decision.cheapest) == ("summarize", "truncate")
    assert (
        "At the pace of these recordings (9 sessions in 15 days) the bill is about $180.00 a month"
        " without compaction, $162.00 with summarize, $108.00 with truncate." in decision.dollars
    )
    assert decision.month is not None
    assert decision.month.usd["summarize"] == pytest.approx(162.0)


def test_all_faces_tell_the_same_month_and_the_same_tenth_of_the_bill(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = recorded_in(days=15)
    findings = Findings.of(run)
    show(findings, wide=True)
    page = Report(run, findings=findings).verdict.html
    readings = [
        *of_terminal(capsys.readouterr().out),
        *of_page("report", page),
        *of_json(outcome(run, findings, no_report=True)),
    ]
    assert contradictions(readings) == []
    for quantity in ("bill of a month", "a tenth of the bill"):
        faces = {reading.face for reading in readings if reading.quantity == (quantity,)}
        assert faces == {"terminal", "report", "json"}


def test_a_few_days_or_sessions_say_nothing_of_a_month() -> None:
    assert decided(recorded_in(days=6)).month is None
    assert decided(recorded_in(days=15, sessions=4)).month is None


@pytest.mark.parametrize(
    ("field", "value"), [("begun", None), ("ended", None), ("format", "recorded")]
)
def test_a_session_without_times_and_the_bundled_ones_say_nothing_of_a_month(
    field: str, value: str | None
) -> None:
    run = recorded_in(days=15)
    run.rows["sessions"][3][field] = value
    decision = decided(run)
    assert decision.month is None and "a month" not in decision.dollars


def test_a_session_without_a_price_leaves_the_month_unknown() -> None:
    run = recorded_in(days=15)
    first = run.rows["sessions"][0]["session"]
    run.rows["costs"] = [row for row in run.rows["costs"] if row["session"] != first]
    assert decided(run).month is None


def test_a_tenth_of_the_bill_is_over_the_sessions_of_the_column_of_costs() -> None:
    run = recorded_in(days=15)
    dear = run.rows["sessions"][0]["session"]
    for row in run.rows["costs"]:
        if row["session"] == dear:
            row.update(usd=100.0, usd_uncompacted=100.0, net_saving=0.0)
    run.rows["scores"] = [
        row
        for row in run.rows["scores"]
        if row["session"] != dear or row["metric"] != "exam_recall"
    ]
    assert "a tenth of the bill without compaction ($2.00 a session)" in decided(run).by_price


def test_the_verdict_says_what_is_saved_of_the_tokens_and_of_the_bill() -> None:
    findings = findings_of(9)
    assert " of an uncompacted agent's tokens, and keeps " in findings.verdict.price
    (strategy,) = (
        name for name in SAVES if findings.verdict.price.startswith(f"On its own trigger, {name} ")
    )
    priced_run = priced(made(9), **SAVES)
    words = f" of an uncompacted agent's tokens and {SAVES[strategy]:.0%} of the bill, and keeps "
    assert words.replace("%", " %") in str(Findings.of(priced_run).verdict)
