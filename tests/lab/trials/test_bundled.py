from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from lab.trials.plans import played
from lab.trials.tried import families_of

import workbench as wb
from profiles import FULL
from workbench import SetupError, UnknownName
from workbench.lab.trials.bundled import bundled_task
from workbench.lab.trials.families import tasks
from workbench.lab.trials.spec import TrialSpec
from workbench.lab.trials.task import Hole, PlanStep

QUICK = ("concession-papers", "meterly-meeting", "parcel-claims")
"""Tasks whose plan takes about a second; one of the others waits for a line that fails by plan,
for minutes.
"""
BUNDLED = (
    "concession-papers", "kiln-uploads", "meterly-meeting", "meterly-refactor", "nightjar-incident",
    "parcel-claims", "poolside-requirements", "saltmarsh-levels", "stockroom-holds", "stockroom-transfers",
)  # fmt: skip
NAMES = BUNDLED if FULL else QUICK
ONE = "stockroom-transfers"
WRONG = (
    (
        "concession-papers",
        "the council",
        "77",
        ["council", "the paper has both readings and both years"],
    ),
    (
        ONE,
        "the ticket",
        "SR-5581",
        ["ticket", "it is committed with its ticket, and 2.9.0 has notes"],
    ),
)
"""A task, one of its values and a wrong one, and the checks that then fail; the first takes a second,
the other eight.
"""


def test_there_are_ten_by_name_and_each_has_one_seed(tmp_path: Path) -> None:
    assert TrialSpec(families=("bundled",)).families == BUNDLED
    families = families_of((QUICK[-1], "changed_values"), tmp_path, seeds=3)
    assert families == [QUICK[-1], *["changed_values"] * 3]
    with pytest.raises(UnknownName, match="known are bundled, changed_values, concession-papers"):
        wb.trial(families=("nope",))


@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_plan_with_the_right_values_passes_every_check(
    name: str, tmp_path: Path
) -> None:
    found = played(tasks(name, [0])[0], tmp_path)
    assert found.success, found


@pytest.mark.parametrize("name", BUNDLED)
def test_the_plan_says_nothing_that_the_user_told_but_in_holes(name: str) -> None:
    task = bundled_task(name)
    for hole in task.turns[-1].steps[0].holes:
        told = next(
            n for n, turn in enumerate(task.turns) if any(hole in step.holes for step in turn.steps)
        )
        assert any(hole.answer in turn.user for turn in task.turns[: told + 1]), hole
        left = [text for turn in task.turns[told:] for step in turn.steps for text in texts(step)]
        if hole.kind == "number":
            left = [word for text in left for word in text.split()]
            assert hole.answer not in left, hole
        else:
            assert not any(re.search(rf"\b{re.escape(hole.answer)}\b", text) for text in left), hole


def texts(step: PlanStep) -> list[str]:
    return [step.words, *(step.call.arguments.values() if step.call else ())]


@pytest.mark.parametrize(("name", "hole_name", "wrong", "broken"), WRONG if FULL else WRONG[:1])
def test_a_wrong_value_breaks_the_work_and_not_only_its_line(
    name: str, hole_name: str, wrong: str, broken: list[str], tmp_path: Path
) -> None:
    def value(hole: Hole) -> str:
        return wrong if hole.name == hole_name else hole.answer

    checks = played(bundled_task(name), tmp_path, value).checks
    assert [check.name for check in checks if not check.passed] == broken


def test_work_that_was_not_done_fails(tmp_path: Path) -> None:
    task = bundled_task(ONE)
    found = played(replace(task, turns=task.turns[-1:]), tmp_path)
    assert {check.name for check in found.checks if not check.passed} == {
        "it is committed with its ticket, and 2.9.0 has notes"
    }


def test_a_way_that_was_left_is_not_walked() -> None:
    users = [turn.user for turn in bundled_task(ONE).turns]
    assert not any(user.startswith("Try A") for user in users)
    assert any(user.startswith("I went back to this point. We tried A") for user in users)


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)
    bundled_task.cache_clear()
    with pytest.raises(SetupError, match="the task kiln-uploads needs git, which is not installed"):
        bundled_task("kiln-uploads")
