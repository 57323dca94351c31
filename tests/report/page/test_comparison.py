import re
from pathlib import Path

import pytest
from report.page.made import findings_of, made, report_of

from workbench import Report
from workbench.base.markup import environment

DOCS = Path(__file__).parents[3] / "docs" / "reference" / "tables.md"


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_every_strategy_is_compared_with_the_baseline_at_equal_size_where_there_is_one() -> None:
    findings = findings_of(9)
    run = findings.tables
    found = findings.figures.against_baseline.set_index("strategy")
    assert set(found.index) == {"summarize", "pipeline", "none", "null"}
    at_size = run.scores[
        (run.scores["metric"] == "exam_recall") & (run.scores["mode"] == "matched")
    ]
    means = at_size.groupby(["strategy", "session"])["value"].mean().groupby("strategy").mean()
    assert found.loc["summarize", "difference"] == pytest.approx(
        means["summarize"] - means["truncate"]
    )
    own = findings_of(9, shares=()).figures.against_baseline.set_index("strategy")
    assert own.loc["summarize", "difference"] == pytest.approx(0.74 - 0.5, abs=0.06)


def test_the_table_says_better_too_few_and_what_would_have_shown() -> None:
    enough = words(report_of(9).differences.html)
    assert "keeps more than truncate" in enough and "saves less than truncate" in enough
    few = words(report_of(4).differences.html)
    assert "too few projects: 4, at least 7 would do for 2 comparisons" in few
    assert "keeps more" not in few.replace("null", "")


def test_the_headline_names_the_baseline_and_says_when_sessions_are_too_few() -> None:
    assert "Against pipeline" in Report(made(9), "pipeline").headline.html
    assert "too few" in report_of(4).headline.html
    assert "Against" not in report_of(4, ("none", "null", "truncate")).headline.html


def test_one_strategy_has_nothing_to_be_compared_with() -> None:
    report = report_of(9, ("none", "null", "truncate"))
    findings = report.findings
    assert "no two strategies" in report.differences.html
    assert findings.figures.lead is not None and findings.figures.lead.empty
    assert findings.figures.standings.empty and report.frontier.html == ""


def test_the_frontier_holds_those_that_nobody_beats_on_both_counts_with_how_sure_that_is() -> None:
    found = findings_of(9).figures.standings.set_index("strategy").to_dict("index")
    assert {name for name, one in found.items() if one["on_frontier"]} == {"summarize"}
    assert found["summarize"]["probability"] == 1 and 0.2 < found["truncate"]["probability"] < 0.6
    told = report_of(9).frontier.plain
    assert "as much as summarize (100 %). Another does better on both counts than pipeline" in told
    assert "may be chance" in report_of(3).frontier.plain


def test_a_strategy_alone_is_compared_with_the_references() -> None:
    html = Report(made(3, ("none", "null", "truncate")), "truncate").differences.html
    assert "none" in html and "null" in html and "Up to" not in html


def test_an_empty_run_has_no_differences() -> None:
    figures = findings_of(0).figures
    assert figures.against_baseline.empty and figures.standings.empty


def test_every_table_of_a_report_is_a_data_frame_with_the_documented_columns() -> None:
    report = report_of(9)
    documented = dict(
        re.findall(r"^\| `(\w+)` \| [^|]+\| `([a-z_ ]+)`", DOCS.read_text(encoding="utf-8"), re.M)
    )
    for part in ("headline", "differences", "integrity"):
        data = getattr(report, part).data
        assert sorted(data.columns) == sorted(documented[part].split()), part
    losses = report.losses.data
    assert losses is not None
    assert {"lost_by", "times", "entity", "needed_at"} <= set(losses.columns)
    assert "summarize" in repr(report.headline)


def test_control_characters_do_not_reach_a_terminal_through_a_table() -> None:
    assert "\x1b" not in repr(Report(made(2, entity="\x1b[31mred")).losses)


def test_a_test_that_the_interval_does_not_bear_out_is_said_to_be_so() -> None:
    row = {
        "verdict": "undecided",
        "reference": False,
        "p": 0.02,
        "p_holm": 0.049,
        "detectable": 0.03,
        "would_do": 9,
        "sessions": 10,
        "projects": 10,
        "why": "",
    }
    words = environment().get_template("report/words.txt").module

    def finding(one: dict[str, object]) -> str:
        sentence = words.finding(one, "better", "worse", "truncate", 0.05, 0.05)  # type: ignore[attr-defined]  # a macro
        return str(sentence)

    assert finding(row).endswith(
        "from truncate; the test is significant, but the interval includes 0"
    )
    assert "80 % power for 3 points" in finding(row | {"p_holm": 0.06})
