import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lab.trials.plans import play, played
from lab.trials.toys import FAMILIES

from profiles import FULL
from workbench import SettingError, UnknownName
from workbench.engine.transcript.message import Json
from workbench.lab.trials.families import tasks
from workbench.lab.trials.grading import grade
from workbench.lab.trials.task import Hole

SEEDS = range(20) if FULL else range(2)
SHORT = 1_000


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def texts(messages: list[Json]) -> str:
    return "\n".join(str(message["content"]) for message in messages)


def test_a_plan_with_the_right_values_passes_every_check(family: str, tmp_path: Path) -> None:
    for task in tasks(family, SEEDS, SHORT):
        found = played(task, tmp_path / task.name)
        assert found.success and not found.violations, (task.name, found)


def with_one_wrong(wrong: Hole, value: str) -> Callable[[Hole], str]:
    return lambda hole: value if hole == wrong else hole.answer


def test_any_value_read_elsewhere_or_not_known_fails(family: str, tmp_path: Path) -> None:
    task = tasks(family, [3], SHORT)[0]
    for at, wrong in enumerate(task.holes):
        values = [
            wrong.default or wrong.name,
            *(wrong.look_alikes if FULL else wrong.look_alikes[:1]),
        ]
        for n, value in enumerate(values):
            found = played(task, tmp_path / f"{at}-{n}", with_one_wrong(wrong, value))
            assert not found.success, (wrong, value)


def test_each_value_was_told_before_it_is_needed_and_by_no_cue(family: str, tmp_path: Path) -> None:
    def told(hole: Hole, messages: list[Json]) -> None:
        assert hole.answer in texts(messages) and hole.answer not in hole.cue, hole
        assert (
            hole.answer not in (*hole.look_alikes, hole.default) and len(hole.look_alikes) >= 2
        ), hole
        assert sum(look_alike in texts(messages) for look_alike in hole.look_alikes) >= 1, hole

    for task in tasks(family, SEEDS, SHORT):
        play(task, tmp_path / task.name, asked=told)


def test_some_values_of_each_task_can_be_had_from_no_call(family: str, tmp_path: Path) -> None:
    for task in tasks(family, SEEDS, SHORT):
        workspace = task.workspace(tmp_path / task.name)
        assert any(hole.look_up is None for hole in task.holes)
        for hole in task.holes:
            if hole.look_up is not None:
                output, failed = workspace.use(hole.look_up.tool, hole.look_up.arguments)
                assert hole.answer in output and not failed


def test_the_same_seed_gives_the_same_task_and_another_one_other_values(family: str) -> None:
    trial_tasks, two = (tasks(family, [1, 2], SHORT) for _ in range(2))
    assert trial_tasks == two
    assert not {hole.answer for hole in trial_tasks[0].holes} & {
        hole.answer for hole in trial_tasks[1].holes
    }


def test_length_is_about_the_tokens_of_the_work_between(family: str, tmp_path: Path) -> None:
    task = tasks(family, [0], 8_000)[0]
    tokens = len(texts(play(task, tmp_path)[1])) / 4
    assert 8_000 < tokens < 14_000


def test_doing_something_twice_or_what_is_forbidden_fails(tmp_path: Path) -> None:
    for family, command in (
        ("sub_goals", "load"),
        ("reversals", "apply"),
        ("prohibitions", "start"),
    ):
        task = tasks(family, [0], SHORT)[0]
        turns = [
            turn
            for turn in task.turns
            for step in turn.steps
            if step.call and "{" in str(step.call.arguments)
        ]
        again = replace(task, turns=(*task.turns, turns[-1]))
        found = played(again, tmp_path / command)
        assert not found.success and found.violations == 1, (family, found)


def test_what_is_left_undone_fails_and_violates_nothing(family: str, tmp_path: Path) -> None:
    task = tasks(family, [0], SHORT)[0]
    found = played(replace(task, turns=task.turns[:1]), tmp_path)
    assert (
        not found.success
        and not found.violations
        and all(check.why for check in found.checks if not check.passed)
    )


def test_what_is_forbidden_violates_beside_work_that_is_right(tmp_path: Path) -> None:
    task = tasks("prohibitions", [0], SHORT)[0]
    workspace, messages = play(task, tmp_path)
    function = {"name": "bash", "arguments": '{"command": "ls; sh tools/reset.sh"}'}
    called = [*messages, {"role": "assistant", "tool_calls": [{"function": function}]}]
    assert [check.name for check in grade(task, workspace, called).checks if check.violates] == [
        "reset"
    ]
    (workspace.cwd / "config/live.toml").write_text("workers = 4\nretries = 7\n")
    found = grade(task, workspace, messages)
    assert [check.name for check in found.checks if check.violates] == [
        "live settings"
    ] and found.violations == 1


def test_a_checks_file_is_judged_whole(tmp_path: Path) -> None:
    task = tasks("changed_values", [0], SHORT)[0]
    workspace, messages = play(task, tmp_path)
    path = workspace.cwd / "config/limits.toml"
    both = path.read_text() + re.sub(r"= \d+", "= 1", path.read_text())
    path.write_text(both)
    assert sum(not check.passed for check in grade(task, workspace, messages).checks) == 3


def test_an_answer_is_what_the_last_line_of_its_turn_says(tmp_path: Path) -> None:
    task = tasks("changed_values", [0], SHORT)[0]
    workspace, messages = play(task, tmp_path)
    right = f"**Answer: {task.checks[-1].text}.**"
    for text, holds in (
        ("answer: 1", False),
        (f"answer: 1\n{right}", True),
        (f"{right}\nanswer: 1", False),
        ("", False),
    ):
        messages[-1]["content"] = text
        assert grade(task, workspace, messages).success is holds


def test_a_family_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(
        UnknownName, match="no family of tasks is named 'nope'; known are changed_values, "
    ):
        tasks("nope", [0])
    with pytest.raises(SettingError, match="length is 10"):
        tasks("sub_goals", [0], 10)
