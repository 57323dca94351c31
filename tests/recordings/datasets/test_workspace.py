from __future__ import annotations

from pathlib import Path

import pytest

from workbench.recordings.datasets.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "root"
    root.mkdir()
    made = Workspace(root, "shop", seconds=20)
    made.use("write", {"path": "src/a.py", "content": "one = 1\ntwo = 2\nthree = 1\n"})
    return made


def test_a_command_really_runs(workspace: Workspace) -> None:
    assert workspace.use("bash", {"command": "echo $((6 * 7)); wc -l < src/a.py"})[0] == "42\n3"


def test_a_failing_command_says_its_exit_code(workspace: Workspace) -> None:
    outcome = workspace.use("bash", {"command": "echo no >&2; exit 3"})
    assert outcome == ("no\n[exit code 3]", True)


def test_a_command_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    outcome = Workspace(tmp_path, "shop", seconds=0.5).use(
        "bash", {"command": "echo begun; exec tail -f /dev/null"}
    )
    assert outcome == ("begun\n\n[stopped after 0.5 s]", True)


def test_the_folder_calls_itself_by_its_recorded_name(workspace: Workspace) -> None:
    assert (
        workspace.use("bash", {"command": "pwd; cat /home/dev/shop/src/a.py | head -1"})[0]
        == "/home/dev/shop\none = 1"
    )


def test_the_shell_sees_nothing_of_the_users_environment(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hidden")
    assert "hidden" not in workspace.use("bash", {"command": "env"})[0]


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "src/../../x", "/home/dev/other/x", "link/passwd"]
)
@pytest.mark.parametrize("tool", ["read", "write", "edit", "grep", "list"])
def test_no_file_tool_leaves_the_folder(workspace: Workspace, tool: str, path: str) -> None:
    (workspace.cwd / "link").symlink_to("/etc")
    more = {
        "write": {"content": "x"},
        "edit": {"old": "a", "new": "b"},
        "grep": {"pattern": "root"},
    }.get(tool, {})
    outcome = workspace.use(tool, {"path": path, **more})
    assert outcome[1]
    assert "is outside of shop" in outcome[0]


def test_reading_shows_line_numbers_and_what_is_left(workspace: Workspace) -> None:
    assert (
        workspace.use("read", {"path": "src/a.py", "offset": 2, "limit": 1})[0]
        == "    2\ttwo = 2\n[1 more lines]"
    )


def test_an_edit_shows_its_surroundings(workspace: Workspace) -> None:
    outcome = workspace.use("edit", {"path": "src/a.py", "old": "two = 2", "new": "two = 22"})
    assert outcome[0] == "edited src/a.py:\n    1\tone = 1\n    2\ttwo = 22\n    3\tthree = 1"
    assert (workspace.cwd / "src/a.py").read_text() == "one = 1\ntwo = 22\nthree = 1\n"


def test_an_edit_of_what_occurs_twice_is_refused(workspace: Workspace) -> None:
    outcome = workspace.use("edit", {"path": "src/a.py", "old": "= 1", "new": "= 2"})
    assert outcome[1]
    assert "occurs 2 times" in outcome[0]


def test_a_missing_file_is_an_error(workspace: Workspace) -> None:
    assert workspace.use("read", {"path": "b.py"})[0] == "error: there is no file b.py"


def test_a_search_names_file_and_line(workspace: Workspace) -> None:
    assert (
        workspace.use("grep", {"path": ".", "pattern": "= 1$"})[0]
        == "src/a.py:1: one = 1\nsrc/a.py:3: three = 1"
    )


def test_a_bad_pattern_is_an_error(workspace: Workspace) -> None:
    assert workspace.use("grep", {"path": ".", "pattern": "("})[1]


def test_a_long_output_is_cut_in_the_middle(workspace: Workspace) -> None:
    text = workspace.use(
        "bash", {"command": "printf 'a%.0s' $(seq 24000); printf 'b%.0s' $(seq 100)"}
    )[0]
    assert "[100 characters cut]" in text
    assert text.startswith("a") and text.endswith("b")


def test_a_folder_goes_back_to_what_it_was(workspace: Workspace) -> None:
    workspace.save("before")
    workspace.use("write", {"path": "src/b.py", "content": "x"})
    workspace.restore("before")
    assert workspace.use("list", {"path": "."})[0].split() == ["26", "src/a.py"]
