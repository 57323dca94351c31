"""What plain measures say of answers, beside the sittings."""

import gzip
from pathlib import Path

import pytest
from lab.judge.work_exam.test_judge_work import exams, judged, kept

from workbench import FormatError
from workbench.lab.judge.work_exam.baselines import read_baselines

__all__ = ["exams"]


def test_the_answers_of_a_judge_have_baselines(exams: Path) -> None:
    answers = judged(exams, names=6)
    rows = read_baselines(kept(exams))
    assert list(rows) == [
        "session",
        "at",
        "share",
        "strategy",
        "writer",
        "chain",
        "question",
        "bm25",
        "exam",
        "presence",
    ]
    assert len(rows) == len(answers)
    means = rows.groupby("strategy")["bm25"].mean()
    assert means["none"] > means["null"]


def test_names_have_the_exam_s_credit_and_questions_about_the_work_have_none(exams: Path) -> None:
    answers = judged(exams, names=6)
    rows = read_baselines(kept(exams)).set_index(["strategy", "question"])
    halves = answers.set_index(["strategy", "question"])["half"]
    assert rows.loc[halves == "work", "exam"].isna().all()
    assert rows.loc[halves == "names", "presence"].notna().all()


def test_a_folder_without_baselines_has_no_rows(tmp_path: Path) -> None:
    assert read_baselines(tmp_path).empty


def test_another_table_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "baselines.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    with pytest.raises(FormatError, match="no table of baselines"):
        read_baselines(tmp_path)
