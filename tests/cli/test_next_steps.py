"""A command that a page offers runs as it is pasted, wherever the program stands."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import pytest

from builders import recorded_by, rules, said, told
from workbench import Session, save
from workbench.cli import main
from workbench.engine.transcript.message import Message

Printed: TypeAlias = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder without any session."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)


def program_typed(printed: Printed) -> str:
    """How the page of `workbench` alone calls this program again."""
    assert main([]) == 0
    (line,) = [line for line in printed.readouterr().out.splitlines() if line.endswith(" compare")]
    return line.removeprefix("  ").removesuffix(" compare")


def offered(path: Path | str, printed: Printed) -> list[str]:
    """The commands that `workbench inspect` offers to type next."""
    assert main(["inspect", str(path)]) == 0
    following = printed.readouterr().out.partition("\nNext:\n")[2].splitlines()
    return [line.strip() for line in following if line.startswith("  workbench")]


def advice_on(path: Path | str, printed: Printed) -> str:
    """The command that advises, of those that are offered."""
    (advise,) = [line for line in offered(path, printed) if line.startswith("workbench advise")]
    return advise


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
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return file


def test_a_program_that_the_shell_does_not_find_is_offered_by_its_place(
    program: Path, capsys: Printed
) -> None:
    assert program_typed(capsys) == ".venv/bin/workbench"


def test_a_program_that_the_shell_finds_is_offered_by_its_name(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    assert program_typed(capsys) == "workbench"


def test_another_program_of_that_name_is_not_offered(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    other = tmp_path / "bin/workbench"
    other.parent.mkdir()
    other.write_bytes(program.read_bytes())
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    assert program_typed(capsys) == ".venv/bin/workbench"


def test_a_folder_that_uvx_searches_for_one_command_is_not_the_shells(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("UV", "/usr/bin/uv")
    assert program_typed(capsys) == ".venv/bin/workbench"


def test_a_module_is_offered_as_a_module(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/workbench/__main__.py"])
    monkeypatch.setattr("sys.executable", "/opt/python")
    assert program_typed(capsys) == "/opt/python -m workbench"


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """The folder of Codex's sessions in a new home folder."""
    return tmp_path / ".codex/sessions"


def write_session(sessions: Path, day: int, size: int = 2) -> Path:
    """A session of that day of November, written at its begin."""
    file = sessions / f"2026/11/{day}/rollout-1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("x" * size)
    time = datetime(2026, 11, day).timestamp()
    os.utime(file, (time, time))
    return file


def write_talk(
    path: Path, tokens: int = 9_000, window: int = 10_000, format: str = "native"
) -> Path:
    """A recording that can be read, of about so many tokens, in a window."""
    time = path.stat().st_mtime if path.exists() else None
    talk: list[Message] = [rules("be brief"), said("word " * (tokens - 20)), told("done")]
    save(recorded_by(format, replace(Session.of(talk), window=window)), path)
    if time is not None:
        os.utime(path, (time, time))
    return path


def test_from_one_session_one_is_led_to_an_advice_on_all_of_its_agent(
    sessions: Path, capsys: Printed
) -> None:
    write_session(sessions, 20)
    file = write_talk(write_session(sessions, 21))
    compare, advise = offered(file, capsys)
    assert compare == "workbench compare ~/.codex/sessions/2026/11/21/rollout-1.jsonl"
    assert advise == "workbench advise ~/.codex/sessions --candidates 8"


def test_the_first_step_after_a_session_of_an_agent_that_can_be_set_is_an_advice(
    sessions: Path, capsys: Printed
) -> None:
    write_session(sessions, 20)
    file = write_talk(write_session(sessions, 21), format="codex")
    assert offered(file, capsys)[0] == "workbench advise ~/.codex/sessions --candidates 8"
    write_talk(file, tokens=50_100, window=200_000, format="codex")
    assert offered(file, capsys)[0].startswith("workbench advise ")


def test_a_session_that_is_too_short_and_alone_is_not_advised_on_first(
    sessions: Path, capsys: Printed
) -> None:
    file = write_session(sessions, 21)
    write_talk(file, tokens=50_100, window=200_000, format="codex")
    assert offered(file, capsys)[0].endswith("--window 25000")


def test_of_many_bytes_the_newest_are_advised_on(sessions: Path, capsys: Printed) -> None:
    for day in range(10, 20):
        write_session(sessions, day, size=2_000_000)
    file = write_talk(sessions / "2026/11/10/rollout-1.jsonl")
    advise = "workbench advise ~/.codex/sessions --newest 5 --candidates 8"
    assert advice_on(file, capsys) == advise


def test_three_are_advised_on_however_large_they_are(sessions: Path, capsys: Printed) -> None:
    for day in range(10, 20):
        write_session(sessions, day, size=9_000_000)
    file = write_talk(sessions / "2026/11/10/rollout-1.jsonl")
    assert "--newest 3 " in advice_on(file, capsys)


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name in ("first", "second"):
        write_talk(Path(f"{name}.traj.json"))
    advise = "workbench advise '*.traj.json' --candidates 8"
    assert advice_on("first.traj.json", capsys) == advise


def test_a_session_that_lies_elsewhere_is_advised_on_alone(tmp_path: Path, capsys: Printed) -> None:
    file = write_talk(tmp_path / "mine.jsonl")
    assert advice_on(file, capsys) == "workbench advise ~/mine.jsonl --candidates 8"


def test_a_comparison_in_which_nothing_is_compacted_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    write_talk(Path("a.jsonl"), tokens=50_100, window=200_000)
    advise = "workbench advise a.jsonl --candidates 8"
    in_a_window_that_it_fills = "workbench compare a.jsonl --window 25000"
    assert offered("a.jsonl", capsys) == [in_a_window_that_it_fills, advise]
    write_talk(Path("b.jsonl"), tokens=1_000, window=200_000)
    advise = "workbench advise b.jsonl --candidates 8"
    assert offered("b.jsonl", capsys) == [advise, "workbench compare"]


def test_in_a_notebook_it_is_its_name(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/ipykernel_launcher.py"])
    assert program_typed(capsys) == "workbench"
