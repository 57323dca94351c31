"""A reader is fitted to answers and held against those of projects that were left out."""

import gzip
import json
import random
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.errors import FormatError, SettingError
from workbench.judge.work_exam.fit import auc, chances, fit, fit_report, left_out_chances, read_answers
from workbench.judge.work_exam.sitting import SITTINGS
from workbench.metrics.work_exam.fitted_reader import FEATURES, WorkReader, text_kind


def answered(folder: Path, projects: int = 4, *, by_chance: bool = False) -> Path:
    """Sittings whose answers are right where the points stand near; or by chance."""
    chance, lines = random.Random(7), []
    for session in range(projects * 2):
        for strategy, tells in (("truncate", 0.3), ("summarize", 0.7), ("claude_code", 0.9)):
            answers = []
            for _ in range(12):
                near = chance.random() < tells
                is_right = chance.random() < 0.5 if by_chance else near
                features = [float(near) if "points_" in name else chance.random() for name in FEATURES]
                answers.append({"half": "work", "score": float(is_right), "features": features})
            lines.append(
                json.dumps(
                    {
                        "session": f"s{session}", "at": 40, "project": f"p{session % projects}", "strategy": strategy,
                        "writer": "", "share": 0.1, "answers": answers,
                    }
                )
            )  # fmt: skip
    folder.mkdir()
    (folder / SITTINGS).write_text("\n".join(lines))
    return folder


def test_answers_that_follow_the_points_are_foretold_on_other_projects(tmp_path: Path) -> None:
    table = read_answers([answered(tmp_path / "run")])
    report = fit_report(table, left_out_chances(table))
    assert (report.sessions, report.projects, report.contexts, report.answers) == (8, 4, 24, 288)
    assert report.auc == pytest.approx(1.0)
    assert report.order > 0.9
    assert report.largest_error < 0.2


def test_a_reader_keeps_how_it_does_on_answers_of_other_projects(tmp_path: Path) -> None:
    table = read_answers([answered(tmp_path / "run")])
    report = fit_report(table.assign(writer="a-model"), left_out_chances(table))
    (tmp_path / "reader.json").write_text(fit(table, {}, report.left_out).text())
    left_out = WorkReader.read(tmp_path / "reader.json").left_out
    assert left_out is not None
    assert left_out.auc == pytest.approx(report.auc, abs=1e-4)
    assert left_out.kinds["model"].answers == 288
    assert left_out.kinds["model"].bias == pytest.approx(0, abs=0.1)
    assert set(left_out.kinds) == {"model"}


@pytest.mark.parametrize(
    ("writer", "kind"),
    [
        ("", "cut"), ("extractive", "rule"), ("extractive + the strategy's stand-in", "rule"),
        ("litellm:gpt-4o-mini", "model"), ("extractive + a-model", "model"),
    ],
)  # fmt: skip
def test_a_context_is_of_the_kind_that_its_writer_makes(writer: str, kind: str) -> None:
    assert text_kind(writer) == kind


def test_packed_answers_are_read_as_well(tmp_path: Path) -> None:
    folder = answered(tmp_path / "run")
    once = read_answers([folder])
    (folder / f"{SITTINGS}.gz").write_bytes(gzip.compress((folder / SITTINGS).read_bytes()))
    (folder / SITTINGS).unlink()
    assert read_answers([folder]).equals(once)


def test_answers_by_chance_are_not(tmp_path: Path) -> None:
    table = read_answers([answered(tmp_path / "run", by_chance=True)])
    report = fit_report(table, left_out_chances(table))
    assert 0.35 < report.auc < 0.65


def test_readings_of_one_context_count_together(tmp_path: Path) -> None:
    folder = answered(tmp_path / "run")
    once = read_answers([folder])
    text = (folder / SITTINGS).read_text()
    (folder / SITTINGS).write_text(f"{text}\n{text}")
    assert len(read_answers([folder])) == len(once)


def test_a_left_out_answer_has_no_part_in_its_own_promise(tmp_path: Path) -> None:
    table = read_answers([answered(tmp_path / "run")])
    turned = table.assign(score=table["score"].where(table["project"] != "p0", 1 - table["score"]))
    is_turned = table["project"] == "p0"
    assert (left_out_chances(table)[is_turned] == left_out_chances(turned)[is_turned]).all()


def test_the_chance_of_a_right_answer_is_its_share(tmp_path: Path) -> None:
    table = read_answers([answered(tmp_path / "run", by_chance=True)])
    assert chances(fit(table, {}), table).mean() == pytest.approx(table["score"].mean(), abs=0.01)


def test_equal_chances_are_no_order() -> None:
    import numpy as np

    assert auc(np.array([0.5, 0.5]), np.array([1.0, 0.0])) == 0.5


def test_too_few_projects_and_wrong_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="3 and more are needed"):
        left_out_chances(read_answers([answered(tmp_path / "run", projects=2)]))
    with pytest.raises(SettingError, match="holds no answers"):
        read_answers([tmp_path])
    (tmp_path / SITTINGS).write_text('{"session": 1}')
    with pytest.raises(FormatError, match="line 1"):
        read_answers([tmp_path])


def test_the_command_writes_the_reader_and_says_how_good_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = answered(tmp_path / "run"), tmp_path / "reader.json"
    assert main(["judge", "fit", str(folder), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "Fitted to 288 answers, 24 contexts, 8 sessions, 4 projects." in shown
    assert "On projects left out of the fit: AUC 1.00" in shown
    assert WorkReader.read(out).fitted_on["answers"] == 288
