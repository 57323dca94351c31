"""What a decision says of the bill: how sure a saving is, and what the agents' own compactions
saved of the same bill.
"""

from planted_run import PlantedRun
from report.page.made import made
from report.page.test_decision import decided, priced

SAVES = {"summarize": 0.1, "pipeline": 0.3, "truncate": 0.4}


def with_recorded_bills(run: PlantedRun, prompts: float, **fields: object) -> PlantedRun:
    """The same, where without compaction each session costs $10, of which answers cost $2, and as
    recorded its prompts cost so many dollars.
    """
    for session in run.rows["sessions"]:
        bill = {"usd": 10.0, "usd_output": 2.0, "usd_uncompacted": 10.0, "net_saving": 0.0}
        run.rows["costs"].append(
            {
                "session": session["session"],
                "strategy": "none",
                "row": "some-model",
                "usd_fetching": 0.0,
                **bill,
            }
        )
        run.rows["reconciliation"].append(
            {
                "session": session["session"],
                "requests": 5,
                "left_out": 0,
                "usd": prompts,
                "compactions": 1,
                "clearings": 0,
                "shrunk": 0,
                **fields,
            }
        )
    return run


def test_a_saving_is_told_with_its_interval() -> None:
    run = priced(made(9), **SAVES)
    for number, bill in enumerate(run.rows["costs"]):
        bill["net_saving"] += 1.0 if number % 2 else -1.0
    dollars = decided(run).dollars
    assert "What is saved of the bill, with its 95 % interval: summarize " in dollars


def test_no_interval_is_told_over_few_projects() -> None:
    assert "interval" not in decided(priced(made(3), **SAVES)).dollars


def test_a_strategy_that_saves_less_than_the_agents_do_today_is_told_so() -> None:
    dollars = decided(with_recorded_bills(priced(made(9), **SAVES), prompts=5.5)).dollars
    assert (
        "Savings are of the bill without compaction. In the 9 sessions that report every request"
        " the agents' own compactions saved 25 % of it, not counting what their summaries cost;"
        " there summarize saves 10 %, pipeline saves 30 %, truncate saves 40 %." in dollars
    )
    assert dollars.startswith(
        "If only dollars count, take truncate, which saves 40 %; summarize saves less than these"
        " agents' own compactions do today."
    )


def test_a_strategy_that_saves_more_is_not_told_to_save_less() -> None:
    dollars = decided(with_recorded_bills(priced(made(9), **SAVES), prompts=7.5)).dollars
    assert "saved 5 % of it" in dollars
    assert "saves less than" not in dollars


def test_compactions_that_cost_more_than_they_save_are_no_saving() -> None:
    dollars = decided(with_recorded_bills(priced(made(9), **SAVES), prompts=8.5)).dollars
    assert "the agents' own compactions made it 5 % higher" in dollars


def test_agents_that_never_compacted_have_no_bill_of_their_own() -> None:
    run = with_recorded_bills(priced(made(9), **SAVES), prompts=5.5, compactions=0)
    assert "own compactions" not in decided(run).dollars


def test_a_session_that_does_not_report_each_request_is_left_out() -> None:
    run = with_recorded_bills(priced(made(9), **SAVES), prompts=5.5)
    for row in run.rows["reconciliation"][1:]:
        row["left_out"] = 1
    dollars = decided(run).dollars
    assert "In the session that reports every request" in dollars
    for row in run.rows["reconciliation"]:
        row["left_out"] = 1
    assert "own compactions" not in decided(run).dollars
