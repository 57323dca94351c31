"""How the script of a task is read, as its session shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from recordings.datasets.recorded import played, write_task

from workbench import AssistantMessage, Session
from workbench.cli import main
from workbench.engine.transcript.message import Json, Thinking, plain_text


def answers(session: Session) -> list[AssistantMessage]:
    return [message for message in session.messages if isinstance(message, AssistantMessage)]


def calls(session: Session) -> list[list[tuple[str, dict[str, Json]]]]:
    """The names and arguments of the calls of each answer."""
    return [
        [(call.name, dict(call.arguments)) for call in answer.calls] for answer in answers(session)
    ]


def test_a_thought_a_text_and_a_tool_are_one_answer(tmp_path: Path) -> None:
    session = played(tmp_path, "@@ think\nhm\n@@ agent\nlooking\n@@ bash\nls -l\n")
    (answer,) = answers(session)
    assert plain_text(answer) == "looking"
    assert [block.text for block in answer.blocks if isinstance(block, Thinking)] == ["hm"]
    assert calls(session) == [[("bash", {"command": "ls -l"})]]


def test_each_further_tool_is_an_answer_of_its_own(tmp_path: Path) -> None:
    assert calls(played(tmp_path, "@@ read a.py\n@@ read b.py 10 5\n")) == [
        [("read", {"path": "a.py"})],
        [("read", {"path": "b.py", "offset": 10, "limit": 5})],
    ]


def test_a_plus_makes_a_parallel_call(tmp_path: Path) -> None:
    session = played(tmp_path, "@@ list .\n@@ + grep src\nx+\n")
    assert calls(session) == [
        [("list", {"path": "."}), ("grep", {"pattern": "x+", "path": "src"})],
    ]


def test_a_user_may_take_minutes(tmp_path: Path) -> None:
    session = played(tmp_path, "@@ user 12m\nhello\n@@ agent\nyes\n@@ user\nthere\n@@ agent\nyes")
    system, hello, _, there, _ = session.messages
    assert (plain_text(hello), plain_text(there)) == ("hello", "there")
    assert (hello.time or 0) - (system.time or 0) >= 720
    assert 0 < (there.time or 0) - (hello.time or 0) < 720


def test_an_edit_has_an_old_and_a_new_text_and_the_new_one_may_be_empty(tmp_path: Path) -> None:
    session = played(tmp_path, "@@ edit a.py\n<<<<\nold\nlines\n====\n>>>>\n")
    assert calls(session) == [[("edit", {"path": "a.py", "old": "old\nlines", "new": ""})]]


def test_a_written_file_keeps_its_decorators_and_diff_marks(tmp_path: Path) -> None:
    content = "@dataclass\nclass A: ...\n@@ -1,2 +1,2 @@\n"
    session = played(tmp_path, f"@@ write a.py\n{content}")
    assert calls(session) == [[("write", {"path": "a.py", "content": content})]]


def test_marks_and_ways_back_are_steps(tmp_path: Path) -> None:
    script = "@@ user\ngo\n@@ mark fork\n@@ agent\nleft\n@@ back fork\n@@ agent\nright"
    session = played(tmp_path, script)
    assert session.branches == 2
    assert [plain_text(message) for message in session.messages][1:] == ["go", "right"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("@@ user\nhi\n@@ edit a.py\nold\n", "script.md, line 3: an edit needs"),
        ("hello\n@@ user\nhi\n", "script.md, line 1: "),
        ("@@ user\nhi\n@@ back fork\n", "'fork'"),
    ],
)
def test_a_script_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, script: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_task(tmp_path / "task", script)
    assert main(["lab", "dataset", "record", str(tmp_path / "task"), "--out", "never"]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"task.toml": 'title = "t"\n'}, "system.md"),
        (
            {
                "task.toml": 'start = "2026-01-01T00:00:00Z"\n',
                "system.md": "be brief",
                "script.md": "@@ user\nhi\n",
            },
            "'title'",
        ),
    ],
)
def test_a_folder_that_lacks_a_part_of_a_task_names_it(
    tmp_path: Path, files: dict[str, str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert main(["lab", "dataset", "record", str(tmp_path), "--out", "never"]) == 2
    assert expected in capsys.readouterr().err
