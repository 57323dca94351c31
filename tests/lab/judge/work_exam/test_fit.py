"""A reader is fitted to answers and held against those of projects that were left out."""

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest

from workbench import FormatError, SettingError
from workbench.cli import main
from workbench.evaluation.metrics.work_exam.fitted_reader import WorkReader
from workbench.evaluation.metrics.work_exam.question_sheet import FEATURES
from workbench.lab.judge.work_exam.fit import (
    asker_errors,
    chances,
    fit,
    fit_report,
    left_out_chances,
    logistic,
)
from workbench.lab.judge.work_exam.graded_answers import read_answers

SITTINGS = "sittings.jsonl"

TOLD = ("answer_close", "answer_in_sentences", "points_close", "points_stated", "pairs_least")


def answered(
    folder: Path, projects: int = 4, *, by_chance: bool = False, easy: bool = False
) -> Path:
    """Sittings whose answers are right where the points stand near; or by chance; or all of
    them.
    """
    chance, lines = random.Random(7), []
    for session in range(projects * 2):
        for strategy, tells in (("truncate", 0.3), ("summarize", 0.7), ("claude_code", 0.9)):
            answers = []
            for _ in range(12):
                near = chance.random() < tells
                is_right = easy or (chance.random() < 0.5 if by_chance else near)
                features = [float(near) if name in TOLD else chance.random() for name in FEATURES]
                answers.append({"half": "work", "score": float(is_right), "features": features})
            lines.append(
                json.dumps(
                    {
                        "session": f"s{session}",
                        "at": 40,
                        "project": f"p{session % projects}",
                        "strategy": strategy,
                        "writer": "",
                        "share": 0.1,
                        "answers": answers,
                    }
                )
            )
    folder.mkdir()
    (folder / SITTINGS).write_text("\n".join(lines))
    return folder


def test_answers_that_follow_the_points_are_predicted_on_other_projects(tmp_path: Path) -> None:
    table = read_answers([answered(tmp_path / "run")])
    report = fit_report(table, left_out_chances(table))
    assert (report.sessions, report.projects, report.contexts, report.answers) == (8, 4, 24, 288)
    assert report.auc == pytest.approx(1.0)
    assert report.order > 0.9
    assert report.largest_error < 0.2


def test_weights_and_bias_come_back_from_answers_that_follow_them() -> None:
    values = np.random.default_rng(7).uniform(size=(4_000, 2)) * [1, 100]
    scores = 1 / (1 + np.exp(-(values @ [4.0, -0.03] - 1)))
    weights, bias = logistic(values, scores)
    assert weights == pytest.approx([4.0, -0.03], rel=0.15), (
        "a penalty draws them a little nearer to 0"
    )
    assert bias == pytest.approx(-1, abs=0.2)


def test_what_the_questions_of_somebody_else_show_is_kept_with_the_readers_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted_to = answered(tmp_path / "run", projects=8)
    easier = answered(tmp_path / "easier", projects=5, easy=True)
    reader = tmp_path / "reader.json"
    arguments = ["lab", "judge", "fit", str(fitted_to), "--out", str(reader)]
    assert main(arguments) == 0
    alone = WorkReader.read(reader)
    assert main([*arguments, "--other-asker", str(easier)]) == 0
    assert "promised less real: -0.3" in capsys.readouterr().out
    beside = WorkReader.read(reader)
    assert beside.weights == alone.weights, "nothing is fitted to these answers"
    assert alone.left_out is not None
    assert beside.left_out is not None
    assert alone.left_out.errors.by_asker == ()
    (errors,) = beside.left_out.errors.by_asker
    assert len(errors) == 5
    assert all(error["cut"] < -0.2 for error in errors), (
        "the reader promises too little of easier questions"
    )


def test_an_asker_whose_projects_are_all_fitted_to_is_refused(tmp_path: Path) -> None:
    table = read_answers([answered(tmp_path / "run", projects=4)])
    with pytest.raises(SettingError, match="0 projects remain to fit to; 3 and more are needed"):
        asker_errors(table, table)


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


def test_equal_chances_are_no_order(tmp_path: Path) -> None:
    table = read_answers([answered(tmp_path / "run")])
    assert fit_report(table, np.full(len(table), 0.5)).auc == 0.5


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
    assert main(["lab", "judge", "fit", str(folder), "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "Fitted to 288 answers, 24 contexts, 8 sessions, 4 projects." in text
    assert "On projects left out of the fit: AUC 1.00" in text
    assert "messages, cut" in text
    assert WorkReader.read(out).fitted_on["answers"] == 288


def test_the_command_says_which_lead_of_a_model_over_a_rule_may_be_its_own_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = answered(tmp_path / "run", by_chance=True), tmp_path / "reader.json"
    sittings = [json.loads(line) for line in (folder / SITTINGS).read_text().splitlines()]
    for sitting in sittings:
        sitting["writer"] = {"summarize": "extractive", "claude_code": "a-model"}.get(
            sitting["strategy"], ""
        )
    (folder / SITTINGS).write_text("\n".join(map(json.dumps, sittings)))
    assert main(["lab", "judge", "fit", str(folder), "--out", str(out)]) == 0
    assert (
        "A smaller lead of a model's text over a rule's may be the reader's own error: "
        in capsys.readouterr().out
    )
    assert main(["lab", "judge", "fit", str(folder), "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["kind"] for row in document["kinds"]] == [
        "messages, cut",
        "summaries by a model",
        "summaries by a rule",
    ]
    bounds = document["model_rule_bounds"]
    assert bounds["20"] < bounds["1"]
