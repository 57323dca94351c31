"""A command that a page offers runs as it is pasted, wherever the program stands."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.cli.next_steps import advice_on, next_for, program_typed


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


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of Codex's sessions in a new home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return tmp_path / ".codex/sessions"


def write_session(sessions: Path, day: int, size: int = 2) -> Path:
    """A session of that day of November, written at its begin."""
    file = sessions / f"2026/11/{day}/rollout-1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("x" * size)
    time = datetime(2026, 11, day).timestamp()
    os.utime(file, (time, time))
    return file


def test_from_one_session_one_is_led_to_an_advice_on_all_of_its_agent(sessions: Path) -> None:
    write_session(sessions, 20)
    file = write_session(sessions, 21)
    compare, advise = next_for([str(file)])
    assert compare == "workbench compare ~/.codex/sessions/2026/11/21/rollout-1.jsonl"
    assert advise == "workbench advise ~/.codex/sessions --candidates 8"


def test_of_many_bytes_the_newest_are_advised_on(sessions: Path) -> None:
    for day in range(10, 20):
        write_session(sessions, day, size=2_000_000)
    advise = "workbench advise ~/.codex/sessions --newest 5 --candidates 8"
    assert advice_on([str(sessions / "2026/11/10/rollout-1.jsonl")]) == advise


def test_three_are_advised_on_however_large_they_are(sessions: Path) -> None:
    for day in range(10, 20):
        file = write_session(sessions, day, size=9_000_000)
    assert "--newest 3 " in advice_on([str(file)])


def test_an_advice_reads_the_files_that_were_written_last(
    sessions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in (12, 14, 13):
        write_session(sessions, day)
    assert main(["advise", str(sessions), "--newest", "2"]) == 2
    refusal = capsys.readouterr().err
    assert "/14/" in refusal
    assert "/12/" not in refusal
    assert main(["advise", "-", "--newest", "2"]) == 2
    assert "--newest takes files of this machine, which - is not" in capsys.readouterr().err


def test_of_an_agent_that_writes_beside_the_work_all_are_advised_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("first", "second"):
        (tmp_path / f"{name}.traj.json").write_text("{}")
    assert advice_on(["first.traj.json"]) == "workbench advise '*.traj.json' --candidates 8"


def test_a_session_that_lies_elsewhere_is_advised_on_alone(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("{}")
    assert advice_on([str(file)], window=8_000).endswith("mine.jsonl --window 8000 --candidates 8")


def test_a_comparison_in_which_nothing_is_compacted_is_not_offered() -> None:
    advise = "workbench advise a.json --candidates 8"
    in_a_window_that_it_fills = "workbench compare a.json --window 25000"
    assert list(next_for(["a.json"], largest=50_000)) == [in_a_window_that_it_fills, advise]
    assert list(next_for(["a.json"], largest=1_000)) == [advise, "workbench compare"]


def test_in_a_notebook_it_is_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/ipykernel_launcher.py"])
    assert program_typed() == "workbench"
