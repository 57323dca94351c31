"""A command that a page offers runs as it is pasted, wherever the program stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli.next_steps import advised_paths, next_for, program_typed


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program of an environment in this folder, which the shell does not search."""
    file = tmp_path / ".venv/bin/workbench"
    file.parent.mkdir(parents=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UV", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr("sys.argv", [str(file)])
    return file


def test_a_program_that_the_shell_does_not_find_is_offered_by_its_place(program: Path) -> None:
    assert program_typed() == ".venv/bin/workbench"


def test_a_program_that_the_shell_finds_is_offered_by_its_name(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    assert program_typed() == "workbench"


def test_another_program_of_that_name_is_not_offered(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "bin/workbench"
    other.parent.mkdir()
    other.write_bytes(program.read_bytes())
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    assert program_typed() == ".venv/bin/workbench"


def test_a_folder_that_uvx_searches_for_one_command_is_not_the_shells(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("UV", "/usr/bin/uv")
    assert program_typed() == ".venv/bin/workbench"


def test_a_module_is_offered_as_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/workbench/__main__.py"])
    monkeypatch.setattr("sys.executable", "/opt/python")
    assert program_typed() == "/opt/python -m workbench"


def test_from_one_session_one_is_led_to_an_advice_on_all_of_its_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    sessions = tmp_path / ".codex/sessions"
    for day in ("20", "21"):
        file = sessions / f"2026/11/{day}/rollout-1.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text("{}")
    compare, advise = next_for([str(file)])
    assert compare == "workbench compare ~/.codex/sessions/2026/11/21/rollout-1.jsonl"
    assert advise == "workbench advise ~/.codex/sessions --candidates 8"


def test_a_session_that_lies_elsewhere_is_advised_on_alone(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("{}")
    assert advised_paths([str(file)]) == [str(file)]


def test_in_a_notebook_it_is_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/ipykernel_launcher.py"])
    assert program_typed() == "workbench"
