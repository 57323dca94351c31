import re
from pathlib import Path

import pytest
from lab.judge.knowing import Knowing
from planted_run import written
from report.page.made import made

from builders import remembering
from workbench import Report, Session, judge_exam
from workbench.base.palette import looks


class HostileKnowing(Knowing):
    """A model that knows the exam, and whose name tries to get into the page."""

    name = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = made().written(tmp_path_factory.mktemp("run"))
    what = [Session.of(remembering(20), id="<i>one</i>")]
    same = {
        "strategies": ("observation_mask",),
        "shares": (0.3,),
        "boundaries": (0.6,),
        "out": path,
        "quiet": True,
    }
    judge_exam(what, model=HostileKnowing(what), **same)  # type: ignore[arg-type]
    return path


def test_the_table_in_the_folder_is_a_part_of_the_page(folder: Path) -> None:
    page = Report.open(folder).validation.html
    assert "<h3>Exam read by a model</h3>" in page


def test_a_strategy_has_the_colour_that_it_has_in_the_report(folder: Path) -> None:
    report = Report.open(folder)
    page = report.validation.html
    strategies = (*report.findings.tables.strategies, "observation_mask")
    colour = looks(strategies)["observation_mask"].colour
    assert set(re.findall(r"background:(#\w{6});[^>]*></i>observation_mask", page)) == {colour}


def test_no_word_of_a_model_or_a_recording_becomes_markup(folder: Path) -> None:
    page = Report.open(folder).validation.html
    assert "<script>" not in page and "<b>echo" not in page and "<i>one" not in page


def test_where_nothing_was_asked_the_page_says_how_to(tmp_path: Path) -> None:
    page = Report.open(written(tmp_path, {})).validation.html
    judges = page.partition("<h3>Exam read by a model</h3>")[2] or page.rpartition("</table>")[2]
    assert "workbench lab judge exam" in judges and "<table" not in judges


def test_an_exam_stands_beside_the_agreement_of_its_readers_and_the_admission_test(
    folder: Path,
) -> None:
    page = Report.open(folder).validation.html
    assert "Agreement with the lexical reader" in page and "is admitted (mean score" in page


def test_the_checks_of_the_scale_are_told() -> None:
    html = Report(made()).validation
    assert "workbench lab validate" in html.html
    assert html.data is not None
    assert list(html.data["check"]) == ["floor", "ceiling"]


def test_how_far_the_headline_was_validated_is_told_with_its_figures() -> None:
    text = " ".join(Report(made()).validation.html.split())
    assert "How far to trust the exam" in text
    assert (
        "graded answers of a real model" in text and "AUC 0.7" in text and "of presence 0.6" in text
    )


def test_how_metrics_and_judges_order_strategies_is_told_with_the_pairs_that_are_the_other_way_round() -> (
    None
):
    text = Report(made()).validation.html
    order, disagree = text.split("Where they disagree")
    assert all(
        words in order
        for words in ("Success", "Recordings: fewer look-ups", "lines to edit", "rare words")
    )
    assert order.index(">the exam<") < order.index(">presence<") < order.index(">compression<")
    assert (
        "On tasks, dollars saved, with look-ups" in disagree
        and "On recordings, fewer look-ups" in disagree
    )
    assert "before" in disagree and "against the exam" in disagree


def test_a_floor_that_is_too_high_is_told_with_its_place() -> None:
    run = made()
    for row in run.rows["scores"]:
        if row["strategy"] == "null" and row["metric"] == "exam_recall":
            row["value"] = 0.99
    html = Report(run).validation
    assert html.data is not None
    assert html.data["outcome"][0] == "failed"
    assert "session-00" in html.html
