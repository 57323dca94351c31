"""The headline is two numbers; the page says who read, and names no winner where the reader's
error may be larger.
"""

from __future__ import annotations

import re
from functools import cache
from html import unescape

import pytest
from planted_run import PlantedRun
from report.page.made import KEEPS, findings_of, made, report_of, tables_of

from workbench import Findings, Report
from workbench.cli.headline import outcome, show
from workbench.evaluation.findings.readers import (
    bias_between,
    without_bias,
)
from workbench.evaluation.findings.tables import Tables

LIKELY = 0.8

POSSIBLE = 0.1

WORK = "work"

NAMES = "exam_recall"

BIAS = "the fitted reader's own error may be larger"

WITHOUT_A_MODEL = (
    "Without a model a comparison of presets compares triggers, cuts and cost, not summaries. "
    "Name one with --model: litellm:NAME, command:LINE or folder:PATH."
)

TELLS = {"none": 0.86, "null": 0.2, "truncate": 0.5, "summarize": 0.62, "pipeline": 0.7}


def examined(sessions: int = 9, having: int = 9, **tells: float) -> PlantedRun:
    """A run in which so many sessions have an exam of the work; `tells` changes what strategies
    tell of it.
    """
    run = made(sessions)
    means = TELLS | tells
    for row in [row for row in run.rows["scores"] if row["metric"] == NAMES]:
        number = int(row["session"][-2:])
        value = None if number >= having else means[row["strategy"]] + 0.01 * (number % 3)
        if (
            row["share"] is not None
            and value is not None
            and row["strategy"] not in ("none", "null")
        ):
            value += 0.2 * row["share"]
        text = "" if number < having else "no exam of the work was written for this session"
        run.rows["scores"].append(row | {"metric": WORK, "value": value, "why": text, "n": 1})
    return run


@cache
def report_of_examined() -> Report:
    """The report of a run in which every session has an exam, made once for all tests."""
    return Report(examined())


def written_by(run: PlantedRun, **writers: str) -> PlantedRun:
    """The same where these wrote the strategies' summaries."""
    for row in run.rows["compactions"]:
        row["writer"] = writers.get(row["strategy"], "")
    return run


def printed(findings: Findings, capsys: pytest.CaptureFixture[str]) -> str:
    show(findings)
    return " ".join(capsys.readouterr().out.split())


def page(report: Report) -> str:
    return " ".join(re.sub(r"&nbsp;|\xa0", " ", report.verdict.html + report.headline.html).split())


def test_the_headline_is_the_work_and_names_each_with_an_interval() -> None:
    headline = report_of_examined().headline.data
    assert headline is not None
    row = headline.set_index("strategy").loc["pipeline"]
    for half in ("work", "names"):
        assert row[f"{half}_low"] < row[half] < row[f"{half}_high"]


def test_strategies_are_ranked_by_the_work_where_it_is_known() -> None:
    assert KEEPS["summarize"] > KEEPS["pipeline"]
    assert tables_of(9).contenders[0] == "summarize"
    assert report_of_examined().findings.tables.contenders[0] == "pipeline"
    assert Tables.of(examined(having=4)).contenders[0] == "summarize"


def words_of(html: str) -> str:
    """What a reader sees of a page, folded or not."""
    lines = re.sub("</?(?:p|summary|details)[^>]*>", " ", html)
    words = unescape(re.sub("<[^>]*>", "", lines)).split()
    return " ".join(words)


def test_terminal_page_and_json_say_who_read_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = report_of_examined()
    findings = report.findings
    line = findings.read_by
    assert "AUC" not in line and "predicts what a model would answer" in line
    assert "In a single new project its level may be off by 20 points" in line
    assert line in printed(findings, capsys)
    assert line in words_of(page(report))
    assert outcome(report.results, findings, no_report=True)["read_by"] == line


def test_terminal_page_and_json_agree_on_both_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of_examined()
    findings = report.findings
    tables = findings.tables
    text, html = printed(findings, capsys), page(report)
    strategies = outcome(report.results, findings, no_report=True)["strategies"]
    assert isinstance(strategies, list)
    rows = {row["strategy"]: row for row in strategies}
    for name in tables.contenders:
        for half, metric in (("work", WORK), ("names", NAMES)):
            estimate = tables.best_recall(name, metric)
            assert estimate is not None
            assert estimate.low is not None and estimate.high is not None
            assert rows[name][half] == estimate.mean
            assert (
                f"{100 * estimate.mean:.0f} % ({100 * estimate.low:.0f} to"
                f" {100 * estimate.high:.0f})" in text
            )
            assert f"{100 * estimate.mean:.0f} % <small>{100 * estimate.low:.0f} to" in html


def test_the_recordings_own_statements_stand_in_where_nobody_wrote_an_exam() -> None:
    run = made(9)
    told = {"truncate": 0.4, "summarize": 0.7, "pipeline": 0.75}
    for row in [row for row in run.rows["scores"] if row["metric"] == NAMES]:
        run.rows["scores"].append(
            row | {"metric": "statements", "value": told.get(row["strategy"]), "why": ""}
        )
    unknown_work = Findings.of(run).unknown_work
    assert "themselves) stand in: " in unknown_work
    assert "truncate 40 %" in unknown_work
    assert "a model's own words too little" in unknown_work
    assert "stand in" not in findings_of(9).unknown_work


@pytest.mark.parametrize(
    ("having", "words"), [(0, "for these sessions"), (5, "for 4 of 9 sessions")]
)
def test_what_nobody_asked_is_said_to_be_unknown_with_the_command(
    having: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = Report(examined(having=having))
    assert words in report.findings.unknown_work
    for text in (printed(report.findings, capsys), page(report)):
        assert f"How the work stands is unknown {words}" in text
        assert "workbench lab exam write" in text


def test_a_run_of_which_all_is_known_says_nothing_of_that() -> None:
    assert report_of_examined().findings.unknown_work == ""


def test_an_unknown_half_is_missing_and_never_zero() -> None:
    report = report_of(9)
    headline = report.headline.data
    assert headline is not None
    row = headline.set_index("strategy").loc["pipeline"]
    assert row["work"] is None or row["work"] != row["work"]
    assert "0 %" not in re.findall(r"The work", page(report))


def test_where_rules_wrote_all_summaries_the_first_line_says_what_is_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = written_by(
        examined(), summarize="extractive", pipeline="extractive + the strategy's stand-in"
    )
    report = Report(run)
    assert printed(report.findings, capsys).startswith(WITHOUT_A_MODEL)
    first_paragraph = page(report).partition('<p class="opening">')[2].partition("</p>")[0]
    assert words_of(first_paragraph) == WITHOUT_A_MODEL
    with_model = written_by(examined(), summarize="a-model", pipeline="extractive")
    assert WITHOUT_A_MODEL not in printed(Findings.of(with_model), capsys)
    assert WITHOUT_A_MODEL not in printed(report_of_examined().findings, capsys)


def test_a_strategy_is_of_the_kind_of_its_writers() -> None:
    run = written_by(examined(), summarize="litellm:some", pipeline="extractive")
    assert Findings.of(run).figures.kinds == {
        "summarize": "model",
        "pipeline": "rule",
        "truncate": "cut",
    }
    run = written_by(examined(), summarize="litellm:some + the strategy's stand-in")
    assert Findings.of(run).figures.kinds["summarize"] == "mixed"


def test_a_difference_that_may_be_bias_says_so_where_no_other_row_has_a_reason() -> None:
    run = Tables.of(written_by(examined(), summarize="a-model", pipeline="extractive"))
    rows = Findings.of_tables(run).figures.against_baseline.assign(
        verdict="better", difference=0.01, why=float("nan")
    )
    told = without_bias(run, rows, WORK, "truncate", "matched").set_index("strategy")
    assert told.loc["summarize", ["verdict", "why"]].tolist() == ["undecided", BIAS]


def test_where_both_wrote_the_mode_says_who_made_the_contexts() -> None:
    run = written_by(examined(), summarize="bundled (a model)", pipeline="bundled (a model)")
    for row in run.rows["compactions"]:
        if row["strategy"] == "summarize":
            row |= {"requests": 1, "by_rule": 0}
    natural = [row for row in run.rows["compactions"] if row["strategy"] == "summarize"]
    run.rows["compactions"] += [
        row | {"mode": "matched", "writer": "extractive", "by_rule": 1} for row in natural
    ]
    tables = Tables.of(run)
    assert Findings.of_tables(tables).figures.kinds["summarize"] == "mixed"
    assert [tables.text_kind("summarize", mode) for mode in ("natural", "matched")] == [
        "model",
        "rule",
    ]
    assert tables.rule_share("summarize") == 0.5
    assert bias_between(tables, "summarize", "pipeline", WORK, "natural") == 0.0
    assert bias_between(tables, "summarize", "pipeline", WORK, "matched") > 0.05
    assert bias_between(tables, "summarize", "pipeline", NAMES) == 0.5


def test_a_lead_smaller_than_the_bias_between_the_kinds_has_no_winner(
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_a_model = written_by(examined(), summarize="a-model", pipeline="extractive")
    error = bias_between(Tables.of(by_a_model), "summarize", "pipeline", WORK)
    assert error > 0.05
    run = written_by(
        examined(summarize=0.70 - error / 4), summarize="a-model", pipeline="extractive"
    )
    report = Report(run)
    findings = report.findings
    assert findings.decision is not None
    assert findings.decision.use == ""
    assert findings.decision.recommendation.startswith(
        "No winner between pipeline and summarize on their own triggers: the fitted reader's own"
        " error between a "
    )
    assert findings.verdict.answer.startswith("No winner between")
    text = page(report)
    assert "The fitted reader predicted" in text
    calibration = outcome(run, findings, no_report=True)["calibration"]
    assert isinstance(calibration, dict)
    for kind in ("model", "rule"):
        assert f"{calibration[kind]['real']:.2f}".removeprefix("0") in text
    assert "No winner between" in printed(findings, capsys)


def test_who_is_hardly_ever_the_best_is_not_among_those_without_a_winner() -> None:
    run = written_by(
        examined(summarize=0.70 - 0.02, truncate=0.55), summarize="a-model", pipeline="extractive"
    )
    findings = Findings.of(run)
    decision = findings.decision
    assert decision is not None
    assert decision.level["truncate"] < POSSIBLE < LIKELY
    assert abs(0.70 - 0.55) < bias_between(findings.tables, "summarize", "truncate", WORK)
    assert "truncate" not in decision.recommendation
    assert "summarize" in decision.recommendation and "pipeline" in decision.recommendation


def test_who_is_level_with_the_leader_is_among_those_without_a_winner() -> None:
    writers = {"summarize": "a-model", "truncate": "a-model", "pipeline": "extractive"}
    run = written_by(examined(summarize=0.72, truncate=0.719, pipeline=0.70), **writers)
    decision = Findings.of(run).decision
    assert decision is not None
    assert decision.recommendation.startswith(
        "No winner between summarize, truncate and pipeline on their own triggers"
    )


def test_a_lead_larger_than_the_bias_has_one() -> None:
    run = written_by(examined(summarize=0.9), summarize="a-model", pipeline="extractive")
    decision = Findings.of(run).decision
    assert decision is not None
    assert decision.use == "summarize"


def test_two_strategies_of_one_kind_share_their_bias() -> None:
    run = written_by(examined(summarize=0.75), summarize="a-model", pipeline="a-model")
    decision = Findings.of(run).decision
    assert decision is not None
    assert decision.use == "summarize"


def test_names_alone_decide_nothing_between_a_models_summary_and_a_rules() -> None:
    decision = Findings.of(written_by(made(9), summarize="a-model", pipeline="extractive")).decision
    assert decision is not None
    assert decision.use == ""
    assert "exact names do not tell what a model's summary is worth" in decision.recommendation


def test_a_difference_that_may_be_bias_is_neither_better_nor_worse() -> None:
    run = written_by(examined(summarize=0.56), summarize="a-model")
    rows = Findings.of(run).figures.against_baseline.set_index("strategy")
    assert rows.loc["summarize", "verdict"] == "undecided"
    assert rows.loc["summarize", "why"] == BIAS
    assert (
        Findings.of(examined(summarize=0.56))
        .figures.against_baseline.set_index("strategy")
        .loc["summarize", "verdict"]
        == "better"
    )
