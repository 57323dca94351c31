from __future__ import annotations

from pathlib import Path

import pytest

from workbench import ToolCall
from workbench import FormatError
from workbench.recordings.datasets.recorder import ScriptStep, read_task, steps


def test_a_thought_a_text_and_a_tool_are_one_answer() -> None:
    script = "@@ think\nhm\n@@ agent\nlooking\n@@ bash\nls -l\n"
    assert list(steps(script)) == [
        ScriptStep(
            "agent", "looking", thought="hm", calls=[ToolCall("", "bash", {"command": "ls -l"})]
        )
    ]


def test_each_further_tool_is_an_answer_of_its_own() -> None:
    script = "@@ read a.py\n@@ read b.py 10 5\n"
    assert list(steps(script)) == [
        ScriptStep("agent", calls=[ToolCall("", "read", {"path": "a.py"})]),
        ScriptStep(
            "agent", calls=[ToolCall("", "read", {"path": "b.py", "offset": 10, "limit": 5})]
        ),
    ]


def test_a_plus_makes_a_parallel_call() -> None:
    [acts] = steps("@@ list .\n@@ + grep src\nx+\n")
    assert [call.arguments for call in acts.calls] == [
        {"path": "."},
        {"pattern": "x+", "path": "src"},
    ]


def test_a_user_may_take_minutes() -> None:
    assert list(steps("@@ user 12m\nhello\n@@ user\nthere")) == [
        ScriptStep("user", "hello", 720.0),
        ScriptStep("user", "there"),
    ]


def test_an_edit_has_an_old_and_a_new_text_and_the_new_one_may_be_empty() -> None:
    [acts] = steps("@@ edit a.py\n<<<<\nold\nlines\n====\n>>>>\n")
    assert acts.calls[0].arguments == {"path": "a.py", "old": "old\nlines", "new": ""}


def test_a_written_file_keeps_its_decorators_and_diff_marks() -> None:
    [acts] = steps("@@ write a.py\n@dataclass\nclass A: ...\n@@ -1,2 +1,2 @@\n")
    assert acts.calls[0].arguments["content"] == "@dataclass\nclass A: ...\n@@ -1,2 +1,2 @@\n"


def test_marks_and_ways_back_are_steps() -> None:
    assert list(steps("@@ mark fork\n@@ agent\nleft\n@@ back fork\n@@ agent\nright")) == [
        ScriptStep("mark", "fork"),
        ScriptStep("agent", "left"),
        ScriptStep("back", "fork"),
        ScriptStep("agent", "right"),
    ]


def test_an_edit_without_its_marks_is_named_with_its_line() -> None:
    with pytest.raises(FormatError, match=r"script, line 3: an edit needs"):
        list(steps("@@ user\nhi\n@@ edit a.py\nold\n"))


def test_a_line_before_the_first_step_is_an_error() -> None:
    with pytest.raises(FormatError, match="line 1"):
        list(steps("hello\n@@ user\nhi\n"))


def test_a_way_back_to_no_mark_is_an_error() -> None:
    with pytest.raises(FormatError, match="'fork'"):
        list(steps("@@ user\nhi\n@@ back fork\n"))


def test_a_folder_without_a_script_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "task.toml").write_text('title = "t"\n')
    with pytest.raises(FormatError, match=r"system\.md"):
        read_task(tmp_path)


def test_a_task_without_a_title_names_the_field(tmp_path: Path) -> None:
    (tmp_path / "task.toml").write_text('start = "2026-01-01T00:00:00Z"\n')
    (tmp_path / "system.md").write_text("be brief")
    (tmp_path / "script.md").write_text("@@ user\nhi\n")
    with pytest.raises(FormatError, match="'title'"):
        read_task(tmp_path)
