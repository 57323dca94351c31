from pathlib import Path

import pytest
from lab.judge.knowing import Knowing
from report.page.made import made

from builders import remembering
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.store import Results
from workbench.lab.judge.exam.sitting import judge_exam
from workbench.report.page.provenance import judges_html


class HostileKnowing(Knowing):
    """A model that knows the exam, and whose name tries to get into the page."""

    name = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run")
    what = [Session.of(remembering(20), id="<i>one</i>")]
    same = {"strategies": ("truncate",), "shares": (0.3,), "boundaries": (0.6,), "out": path, "quiet": True}
    judge_exam(what, model=HostileKnowing(what), **same)  # type: ignore[arg-type]
    return path


def test_the_table_in_the_folder_is_a_part_of_the_page(folder: Path) -> None:
    page = judges_html(Results(folder)).html
    assert "<h3>Exam read by a model</h3>" in page


def test_no_word_of_a_model_or_a_recording_becomes_markup(folder: Path) -> None:
    page = judges_html(Results(folder)).html
    assert "<script>" not in page and "<b>echo" not in page and "<i>one" not in page


def test_where_nothing_was_asked_the_page_says_how_to(tmp_path: Path) -> None:
    for run in (Results(tmp_path), made()):
        page = judges_html(run).html
        assert "workbench judge exam" in page and "<table" not in page


def test_an_exam_stands_beside_the_agreement_of_its_readers_and_the_admission_test(folder: Path) -> None:
    page = judges_html(Results(folder)).html
    assert "Agreement with the lexical reader" in page and "is admitted (mean score" in page
