"""The tables about real agents say what the records that ship say."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

import workbench as wb
from workbench.lab.trials.bundled import bundled_task

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def study() -> SimpleNamespace:
    folder = ROOT / "reports" / "studies" / "real-agents"
    tables = runpy.run_path(str(folder / "real_agents.py"))
    collecting = runpy.run_path(str(folder / "collected_trials.py"))
    return SimpleNamespace(**collecting | tables)


def test_the_page_has_the_tables_of_the_records(study: SimpleNamespace) -> None:
    page = study.PAGE.read_text("utf-8")
    assert study.with_tables(page, study.measured(study.trials())) == page


def test_each_task_was_worked_under_each_arm(study: SimpleNamespace) -> None:
    found = study.trials()
    assert len(found) >= 40
    tasks = {trial.task for trial in found}
    assert sorted((trial.arm, trial.task) for trial in found) == sorted(
        (arm, task) for arm in study.ARMS for task in tasks
    )


def test_all_agents_of_a_task_began_with_the_same_history(study: SimpleNamespace) -> None:
    for trial in study.trials():
        users = [
            message["content"] for message in study.conversation(trial) if message["role"] == "user"
        ]
        assert users == [turn.user for turn in bundled_task(trial.task).turns][: len(users)]


def test_success_is_that_no_check_failed(study: SimpleNamespace) -> None:
    for trial in study.trials():
        assert trial.success == (trial.passed == trial.checks)
        assert not trial.failed or len(trial.failed) == trial.checks - trial.passed


def test_what_was_known_of_the_work_is_read_anew_alike(study: SimpleNamespace) -> None:
    trial = next(
        trial for trial in study.trials() if trial.arm == "rules" and trial.work is not None
    )
    text = "\n".join(study.texts_of(trial.opening))
    assert study.headline(trial.task, text) == (pytest.approx(trial.work, abs=1e-6), trial.names)


def test_the_records_are_sessions(study: SimpleNamespace, tmp_path: Path) -> None:
    study.main(["sessions", str(tmp_path)])
    (session,) = wb.load(next(tmp_path.glob("truncate-*.json")))
    assert len(session.messages) > 20
