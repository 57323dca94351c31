"""The hard tasks: what was said, decided and found at the start is needed at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from lab.trials.plans import played
from lab.trials.tried import families_of

from workbench.lab.trials.bundled import bundled_task
from workbench.lab.trials.task import Call, Hole, PlanStep, TrialTask

ORCHARD, LANTERN, SEEDBANK = "orchard-pay", "lantern-leases", "seedbank-labels"
HARD = (LANTERN, ORCHARD, SEEDBANK)


class Slip(NamedTuple):
    """What an agent writes that has lost one thing: `new` in the place of what the plan has."""

    what: str
    task: str
    old: str
    new: str


SLIPS = [
    Slip(
        "the limit of a crate as the agreement has it",
        ORCHARD,
        "round({the least} * 1000)",
        "5_000",
    ),
    Slip("the scale that nobody mended", ORCHARD, "350\n", "0\n"),
    Slip("the row of the neighbours", ORCHARD, '{"R15"}', "set()"),
    Slip("the badges that were mixed up", ORCHARD, '("2026-06-17", "219"): "214"', ""),
    Slip("the bonus on the day of the rain", ORCHARD, '{"2026-06-11"}', "set()"),
    Slip("the bonus that was not voted", ORCHARD, "37\n", "36\n"),
    Slip(
        "no rounding of a day",
        ORCHARD,
        "-(-hundred_thousandths // 500_000) * 5",
        "hundred_thousandths // 100_000",
    ),
    Slip("tries as the protocol has them", LANTERN, "MOST_TRIES = 4", "MOST_TRIES = 5"),
    Slip("a job more than the card takes", LANTERN, "MOST_JOBS = 6", "MOST_JOBS = 7"),
    Slip("lines that the shore drops", LANTERN, "LONGEST_LINE = 72", "LONGEST_LINE = 80"),
    Slip("an own lease that ran out", LANTERN, ' or job["until"] <= self.clock()', ""),
    Slip("a worker without a name", LANTERN, "    if not name:", "    if name is None:"),
    Slip(
        "something printed",
        LANTERN,
        "        taken = []\n",
        "        taken = []\n        print(name)\n",
    ),
    Slip("a lot that is held back", SEEDBANK, '    "SB-26-265": "ragwort among it",\n', ""),
    Slip(
        "a lot that is free again",
        SEEDBANK,
        "HELD_BACK = {\n",
        'HELD_BACK = {\n    "SB-26-169": "larvae",\n',
    ),
    Slip("the limit of the handbook", SEEDBANK, "LEAST_GRAMS = 6", "LEAST_GRAMS = 10"),
    Slip("labels that are too wide", SEEDBANK, "WIDTH = 33", "WIDTH = 40"),
    Slip(
        "the order of the handbook",
        SEEDBANK,
        '(lot["place"], lot["species"], lot["lot"])',
        'lot["lot"]',
    ),
    Slip("the line that the printer eats", SEEDBANK, '"--\\n".join', '"\\n".join'),
]


def with_text(task: TrialTask, old: str, new: str) -> TrialTask:
    """The task whose plan writes something else."""
    turns = [
        replace(turn, steps=tuple(changed(step, old, new) for step in turn.steps))
        for turn in task.turns
    ]
    assert turns != list(task.turns), old
    return replace(task, turns=tuple(turns))


def changed(step: PlanStep, old: str, new: str) -> PlanStep:
    if step.call is None:
        return step
    arguments = {name: text.replace(old, new) for name, text in step.call.arguments.items()}
    return replace(step, call=Call(step.call.tool, arguments))


def test_they_are_three_and_have_a_name_together(tmp_path: Path) -> None:
    assert families_of(("hard",), tmp_path, seeds=1) == list(HARD)


@pytest.mark.parametrize("name", HARD)
def test_the_plan_passes_every_check(name: str, tmp_path: Path) -> None:
    found = played(bundled_task(name), tmp_path)
    assert found.success, found


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.what)
def test_work_that_lacks_one_thing_fails(slip: Slip, tmp_path: Path) -> None:
    found = played(with_text(bundled_task(slip.task), slip.old, slip.new), tmp_path)
    assert any(check.kind == "test" and not check.passed for check in found.checks), found


@pytest.mark.parametrize("name", HARD)
def test_each_value_of_the_handover_is_needed_by_the_work_too(name: str, tmp_path: Path) -> None:
    task = bundled_task(name)
    for number, hole in enumerate(task.turns[-1].steps[0].holes):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = played(task, folder, wrong_at(hole))
        assert any(check.kind == "test" and not check.passed for check in found.checks), hole


def wrong_at(wrong: Hole) -> Callable[[Hole], str]:
    return lambda hole: hole.look_alikes[0] if hole == wrong else hole.answer


@pytest.mark.parametrize("name", HARD)
def test_work_that_was_not_done_fails(name: str, tmp_path: Path) -> None:
    task = bundled_task(name)
    found = played(replace(task, turns=task.turns[-1:]), tmp_path)
    assert not found.success
