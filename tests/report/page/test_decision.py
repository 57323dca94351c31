"""The decision: one recommendation with what it trades, how sure it is, and what would change
it.
"""

import re

import numpy as np
import pytest
from planted_run import PlantedRun
from report.page.made import KEEPS, findings_of, made, report_of, with_recorded
from report.page.test_panel import with_phrases

from workbench import Findings, Report
from workbench.cli.headline import show
from workbench.evaluation.findings.decision import Decision
from workbench.report.page.html import Html


def decided(run: PlantedRun) -> Decision:
    decision = Findings.of(run).decision
    assert decision is not None
    return decision


def on_own_trigger(run: PlantedRun, **recall: float) -> PlantedRun:
    """The same, with this recall on the strategies' own triggers, a little different in each
    session.
    """
    for row in run.rows["scores"]:
        if (
            row["metric"] == "exam_recall"
            and row["mode"] == "natural"
            and row["strategy"] in recall
        ):
            row["value"] = recall[row["strategy"]] + 0.01 * (int(row["session"][-2:]) % 3)
    return run


def priced(run: PlantedRun, **saved: float) -> PlantedRun:
    """The same with a bill of $10 a session, of which each strategy saves this share."""
    run.rows["costs"] = [
        {
            "session": row["session"],
            "strategy": name,
            "row": "some-model",
            "usd": 10 - 10 * share,
            "usd_fetching": 0.0,
            "usd_uncompacted": 10.0,
            "net_saving": 10 * share,
        }
        for row in run.rows["sessions"]
        for name, share in saved.items()
    ]
    return run


def test_a_clear_lead_is_recommended_with_its_interval_and_what_the_others_would_do() -> None:
    decision = decided(priced(made(9), truncate=0.3, summarize=0.1, pipeline=0.2))
    assert decision.use == "summarize" and decision.recommendation == "Use summarize."
    assert re.search(
        r"summarize keeps \d+ % of the names and saves 10 % of the bill; pipeline keeps",
        decision.trade_off,
    )
    assert (
        decision.confidence.startswith("Confidence: high: summarize is almost surely the best")
        and "It leads pipeline by 1" in decision.confidence
        and "95 % interval" in decision.confidence
    )
    assert decision.points is not None
    assert decision.points == dict(
        sorted(decision.points.items(), key=lambda one: -one[1])
    ) and set(decision.points) == {"summarize", "pipeline", "truncate"}


def test_the_bill_is_that_of_all_sessions_as_in_the_table_below() -> None:
    run = priced(made(9), truncate=0.3, summarize=0.1, pipeline=0.2)
    unasked = run.rows["sessions"][0]["session"]
    run.rows["scores"] = [
        row
        for row in run.rows["scores"]
        if (row["session"], row["metric"], row["mode"]) != (unasked, "exam_recall", "natural")
    ]
    for row in run.rows["costs"]:
        if row["session"] == unasked:
            row.update(usd=90.0, usd_uncompacted=90.0, net_saving=0.0)
    assert re.search(
        r"summarize keeps .* and saves 5 % of the bill; pipeline", decided(run).trade_off
    )


def test_it_says_at_which_worth_of_the_bill_another_one_would_be_better() -> None:
    run = on_own_trigger(
        priced(made(9), truncate=0.5, summarize=0.1, pipeline=0.2), summarize=0.8, pipeline=0.7
    )
    decision = decided(on_own_trigger(run, truncate=0.6))
    assert decision.by_price.startswith(
        "If a tenth of the bill without compaction ($1.00 a session) is worth less than 5 points of names to you, take"
        " summarize; else truncate."
    )
    (switch,) = decision.switch_prices
    assert switch == pytest.approx(5.0, abs=0.05)
    assert not any("a tenth of the bill" in text for text in decision.changes)
    cheaper = decided(on_own_trigger(run, truncate=0.79))
    assert cheaper.use == "truncate"
    assert cheaper.by_price.startswith(
        "Take truncate whether a tenth of the bill without compaction ($1.00 a session) is worth nothing or 30 points"
        " of names to you."
    )


def test_of_few_projects_it_says_only_at_which_worth_another_one_would_be_better() -> None:
    run = on_own_trigger(
        priced(made(3), truncate=0.5, summarize=0.1, pipeline=0.2), summarize=0.8, pipeline=0.7
    )
    decision = decided(on_own_trigger(run, truncate=0.6))
    assert decision.by_price == ""
    assert "truncate, if a tenth of the bill is worth more than 5 points" in decision.changes[0]


def test_a_number_that_puts_another_strategy_ahead_is_told_first() -> None:
    run = on_own_trigger(made(9), truncate=0.5, summarize=0.8)
    for row in list(run.rows["scores"]):
        if row["metric"] == "exam_recall" and row["mode"] == "natural":
            number = int(row["session"][-2:]) % 3
            lines = {"truncate": 0.7 + 0.01 * number, "summarize": 0.3}.get(row["strategy"], 0.1)
            run.rows["scores"].append(row | {"metric": "code", "value": lines})
    decision = decided(run)
    assert decision.use == "summarize"
    assert str(decision).startswith(
        "The numbers disagree: truncate keeps more code than summarize (41 points, 95 % interval"
    )


def test_that_worth_is_of_the_sessions_that_have_points() -> None:
    run = on_own_trigger(
        priced(made(9), truncate=0.5, summarize=0.1, pipeline=0.2), summarize=0.8, pipeline=0.7
    )
    run = on_own_trigger(run, truncate=0.6)
    for row in run.rows["scores"]:
        if row["session"] == "session-00" and row["metric"] == "exam_recall":
            row["value"] = None
    for row in run.rows["costs"]:
        if row["session"] == "session-00":
            row["net_saving"] = 0.0
    assert "is worth less than 5 points of names to you, take summarize" in decided(run).by_price


def test_nobody_pays_more_than_all_that_is_known_for_a_tenth_of_the_bill() -> None:
    run = on_own_trigger(
        priced(made(9), truncate=0.11, summarize=0.1, pipeline=0.1), summarize=0.9, truncate=0.7
    )
    assert not any(
        text.startswith("truncate, if a tenth of the bill") for text in decided(run).changes
    )


def test_a_difference_that_nobody_would_notice_is_called_so_and_the_cheaper_one_is_taken() -> None:
    run = priced(made(9), truncate=0.12, summarize=0.1, pipeline=0.11)
    decision = decided(on_own_trigger(run, summarize=0.8, pipeline=0.8, truncate=0.79))
    assert (
        decision.recommendation.startswith("No difference that you would notice between")
        and decision.use == "truncate"
    )
    few = priced(made(2), truncate=0.12, summarize=0.1, pipeline=0.11)
    of_few = decided(on_own_trigger(few, summarize=0.8, pipeline=0.8, truncate=0.79))
    assert ": in these sessions " in of_few.recommendation
    two = decided(on_own_trigger(run, truncate=0.5))
    assert (
        two.use == "pipeline"
        and "you would not notice the difference from summarize" in two.recommendation
    )


def test_a_strategy_that_the_panel_ranks_before_it_is_named_with_its_metrics() -> None:
    decision = decided(on_own_trigger(with_phrases(turned=False), pipeline=0.95))
    assert decision.use == "pipeline"
    said = "summarize, if you care more about phrases: there it is ahead at the same size"
    assert any(text.startswith(said) for text in decision.changes)
    assert not any("care more" in text for text in decided(with_phrases(turned=False)).changes)


def test_few_projects_are_no_confidence_and_more_of_them_might_change_it() -> None:
    decision = decided(made(3))
    assert decision.confidence.startswith(
        "Confidence: these sessions only, since 3 projects are too few for an interval"
    )
    assert any(
        text.startswith("More projects, perhaps: an interval needs 6, not 3")
        for text in decision.changes
    )


def test_a_lead_within_chance_is_of_no_high_confidence() -> None:
    run = made(9)
    for row in run.rows["scores"]:
        if (
            row["metric"] == "exam_recall"
            and row["mode"] == "natural"
            and row["strategy"] in ("summarize", "pipeline")
        ):
            turn = 0.3 * (-1) ** int(row["session"][-2:])
            row["value"] = 0.6 + (0.05 + turn) * (row["strategy"] == "summarize")
    confidence = decided(run).confidence
    assert "which may be chance" in confidence and confidence.startswith("Confidence: fair: ")


def test_what_no_provider_takes_or_is_not_whole_is_not_recommended() -> None:
    run = made(9)
    for row in run.rows["scores"]:
        if row["metric"] == "over_window" and row["strategy"] == "summarize":
            row["value"] = 0.2
    assert decided(run).use == "pipeline"
    run.rows["replays"][list(KEEPS).index("pipeline")].update(
        status="pending", reason="asked later"
    )
    only = decided(run)
    assert only.use == "truncate"
    assert only.recommendation.startswith("truncate is the only strategy with figures that count")


def test_the_agents_own_compaction_stands_beside_the_recommended_one() -> None:
    run = with_recorded(9)
    assert "their own compaction keeps 66 % (95 % interval 64 to 68 %)" in decided(run).agent
    without = findings_of(9).decision
    assert without is not None and without.agent == ""


def test_where_nothing_is_compacted_or_scored_nothing_is_recommended() -> None:
    run = made(9)
    run.rows["compactions"] = []
    for row in run.rows["scores"]:
        if row["metric"] == "exam_recall" and row["mode"] == "natural":
            row["value"] = 1.0
    assert decided(run).recommendation.startswith(
        "No difference that you would notice: at these windows"
    )
    for row in run.rows["scores"]:
        row["value"] = None
    report = Report(run)
    assert report.findings.decision is None
    assert "No strategy could be scored" in report.verdict.html


def test_the_page_begins_with_it_and_the_answer_at_equal_size_follows_the_table() -> None:
    report = report_of(9)
    assert (
        "<strong>Use summarize.</strong>" in report.verdict.html
        and "What would change it" in report.verdict.html
    )
    own, same_size, below, *_ = report.headline.html.split("</table>")
    assert "on its own trigger</caption>" in own and "same size" not in own
    assert "cut to the same size</caption>" in same_size
    assert "Names at the same size: summarize keeps most." in below
    evidence = below.partition('class="evidence">')[2].partition("</p>")[0]
    assert "summarize leads pipeline" in evidence and "keeps 5" not in evidence
    assert str(report.verdict.plain).startswith("Use summarize. On its own trigger")


def test_a_chart_shows_what_is_likely_best_at_each_price_where_there_are_enough_projects() -> None:
    run = priced(made(9), truncate=0.5, summarize=0.1, pipeline=0.2)
    run = on_own_trigger(run, summarize=0.8, pipeline=0.7, truncate=0.6)
    report = Report(run)
    chart = report.likely_best
    assert not isinstance(chart, Html)
    assert "summarize 100 % at 0 points" in chart.alt and "truncate 100 % at 30 points" in chart.alt
    (axes,) = chart.figure.axes
    switch = np.asarray(axes.lines[-1].get_xdata(), dtype=float)
    decision = report.findings.decision
    assert decision is not None
    assert switch.tolist() == pytest.approx(list(decision.switch_prices * 2))
    of_few_projects = Report(priced(made(3), truncate=0.5)).likely_best
    assert isinstance(of_few_projects, Html) and of_few_projects.html == ""


def with_number(run: PlantedRun, metric: str, **values: float) -> PlantedRun:
    """The same with another number of the headline on the strategies' own triggers."""
    for row in list(run.rows["scores"]):
        is_names = row["metric"] == "exam_recall" and row["mode"] == "natural"
        if is_names and row["strategy"] in values:
            value = values[row["strategy"]] + 0.01 * (int(row["session"][-2:]) % 3)
            run.rows["scores"].append({**row, "metric": metric, "value": value})
    return run


def test_the_other_numbers_of_the_headline_are_told_with_their_sign() -> None:
    run = on_own_trigger(made(9), summarize=0.8, pipeline=0.7, truncate=0.6)
    run = with_number(run, "work", summarize=0.9, pipeline=0.6, truncate=0.5)
    run = with_number(run, "code", summarize=0.5, pipeline=0.515, truncate=0.4)
    assert decided(run).other_numbers == (
        "In names summarize leads pipeline by 10 points, in code it is behind by 2."
    )


def test_a_number_that_disagrees_is_told_once() -> None:
    run = on_own_trigger(made(9), summarize=0.8, pipeline=0.7, truncate=0.6)
    run = with_number(run, "work", summarize=0.9, pipeline=0.6, truncate=0.5)
    run = with_number(run, "code", summarize=0.5, pipeline=0.6, truncate=0.4)
    decision = decided(run)
    assert "pipeline keeps more code than summarize (10 points" in decision.disagreement
    assert decision.other_numbers == "In names summarize leads pipeline by 10 points."


def test_the_bill_of_the_sessions_that_count_is_told_where_it_is_another() -> None:
    run = on_own_trigger(priced(made(9), summarize=0.3, pipeline=0.2, truncate=0.1), summarize=0.8)
    assert "The points count the bill" not in decided(run).trade_off
    uncounted = run.rows["sessions"][0]["session"]
    for row in run.rows["scores"]:
        if row["session"] == uncounted:
            row["value"] = None
    for row in run.rows["costs"]:
        if row["session"] == uncounted:
            row["net_saving"] = -10.0
    assert (
        "The points count the bill of the 8 sessions with names: there summarize saves 30 %,"
        in decided(run).trade_off
    )


def test_where_none_compacts_and_all_are_cut_to_a_size_the_first_line_says_so() -> None:
    run = made(9)
    run.rows["compactions"] = []
    for row in run.rows["scores"]:
        if row["mode"] == "natural":
            row["value"] = None
    findings = Findings.of(run)
    assert findings.decision is not None and findings.recommended == ""
    assert findings.decision.recommendation.startswith("No difference that you would notice: at")
    assert "At the same size" in str(findings.verdict)


def test_both_tables_of_page_and_terminal_have_the_order_of_the_recommendation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = on_own_trigger(made(9), truncate=0.9)
    findings = Findings.of(run)
    order = findings.likeliest_first
    assert findings.recommended == "truncate" and findings.tables.contenders[0] == "summarize"
    own_page, same_size_page, *_ = Report(run, findings=findings).headline.html.split("</table>")
    show(findings)
    own, _, same_size = capsys.readouterr().out.partition(" at the same size:")
    for table in (own_page.partition("<tbody>")[2], same_size_page.partition("<tbody>")[2]):
        assert sorted(order, key=table.index) == order
    for table in (own.partition("────")[2], same_size.partition("────")[2]):
        assert sorted(order, key=table.index) == order


def test_each_reason_stands_under_the_question_that_it_answers() -> None:
    report = Report(priced(made(9), summarize=0.4, pipeline=0.3, truncate=0.2))
    assert report.findings.decision is not None
    reasons = report.findings.decision.reasons
    assert list(reasons) == ["What it keeps and saves", "At your price", "The bill", "How sure"]
    page = report.verdict.html
    places = [page.index(f"<dt>{question}</dt>") for question in reasons]
    assert places == sorted(places)
    assert page.index("<dt>How sure</dt>") < page.index("<dt>What would change it</dt>")


def test_the_first_sentence_of_a_reason_is_seen_and_the_others_unfold() -> None:
    report = Report(priced(made(9), summarize=0.4, pipeline=0.3, truncate=0.2))
    assert report.findings.decision is not None
    confidence = report.findings.decision.confidence
    seen, _, folded = report.verdict.html.partition("<dt>How sure</dt>")[2].partition("</summary>")
    assert confidence.startswith("Confidence: high: summarize is almost surely the best")
    assert "<details><summary>Confidence: high: summarize is almost surely" in seen
    assert "It leads pipeline by" not in seen
    assert "It leads pipeline by" in folded.partition("</details>")[0]


def test_a_window_that_was_widened_is_told_in_the_head_of_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = made(9)
    for row, window in zip(run.rows["sessions"], (90_000, 70_000), strict=False):
        row["window_used"] = window
    show(Findings.of(run))
    in_words = "in 2 of 9 sessions in a wider window, of up to 90,000 tokens"
    head = f"Names on its own trigger ({in_words}):"
    assert head in " ".join(capsys.readouterr().out.split())
    assert f"each strategy on its own trigger ({in_words})</caption>" in Report(run).headline.html
    as_wanted = made(9)
    show(Findings.of(as_wanted))
    assert "wider window" not in capsys.readouterr().out
    assert "wider window" not in Report(as_wanted).headline.html
