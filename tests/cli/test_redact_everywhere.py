"""Every command that reads sessions takes `--redact`, and shows and writes nothing that it masks."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import typer
from evaluation.watching.claude_lines import lines

from profiles import FULL
from workbench.cli import main
from workbench.cli.app import COMMANDS, GROUPS, commands
from workbench.evaluation.watching.server import Answers

TOKEN = "gh" + "p_q7Rk2mVx9TzLw4Hn8PcYd3FsB6GjA1Ue5XoK"
PLANTED = (TOKEN, "jane.doe", "Tr0ub4dor3x")
SECRETS = f"The token is {TOKEN}, ask jane.doe@corp.co.uk, password=Tr0ub4dor3x!"
ARGUMENTS = {"paths", "session", "target", "grid", "file"}
"""Names of the arguments by which a command is told what to read."""
READS_BY_OTHER_MEANS = {"hook", "trial", "experiment"}
NO_SESSIONS = {"gate"}
"""Has an argument of such a name, and reads a finished run."""
SMALL = ["--strategies", "truncate,summarize", "--window", "1000", "--shares", "0.3", "--jobs", "1"]
LINES: dict[str, list[str]] = {
    "compare": ["compare", "FILE", *SMALL, "--out", "OUT"],
    "replay": ["replay", "FILE", "--window", "1000", "--losses", "30"],
    "simulate": ["simulate", "FILE", "--strategies", "truncate", "--window", "1000", "--jobs", "1", "--out", "OUT"],
    "learn": ["learn", "FILE", "--out", "OUT/weights.json", "--jobs", "1"],
    "inspect": ["inspect", "FILE"],
    "watch": ["watch", "FILE", "--once"],
    "sweep": ["sweep", "GRID", "--jobs", "1", "--out", "OUT", "--no-report"],
    "ablate": ["ablate", "FILE", "--window", "1000", "--shares", "0.3", "--jobs", "1"],
    "validate gamers": ["validate gamers", "FILE", "--window", "1000"],
    "validate behaviour": ["validate behaviour", "FILE", "--json"],
    "validate needs": ["validate needs", "FILE", "--sheet", "OUT/sheet.csv"],
    "exam write": ["exam", "write", "FILE", "--model", "folder:OUT/asked", "--boundaries", "0.6", "--out", "OUT/exams"],
    "exam show": ["exam", "show", "FILE", "--exams", "OUT"],
    "judge work": ["judge", "work", "FILE", "--model", "folder:OUT/asked", "--exams", "OUT", "--out", "OUT"],
    "judge exam": ["judge", "exam", "FILE", "--model", "scripted:no", "--strategies", "truncate", "--out", "OUT"],
}
SLOW: dict[str, list[str]] = {
    "advise": ["advise", "FILE", "--candidates", "2", "--window", "1000", "--jobs", "1", "--out", "OUT"],
    "validate": ["validate", "FILE"],
    "validate detours": ["validate detours", "FILE", "--window", "1000", "--jobs", "1"],
    "trial": ["trial", "--seeds", "1", "--strategies", "truncate", "--jobs", "1", "--out", "OUT"],
    "experiment": ["experiment", "-p", "sessions", "FILE", "-p", "window", "1000", "--out", "OUT"],
}


def options_of(name: str) -> set[str]:
    """The names of a command's options and arguments."""
    group, _, inner = name.partition(" ") if name.split()[0] in GROUPS else ("", "", name)
    command = typer.main.get_command(commands(group or name)).commands[group or name]  # type: ignore[attr-defined]
    command = command.commands[inner] if group else command
    return {option for parameter in command.params for option in parameter.opts}


def commands_of_groups() -> Iterator[str]:
    for group in GROUPS:
        inner = typer.main.get_command(commands(group)).commands[group]  # type: ignore[attr-defined]
        yield from (f"{group} {name}" for name in inner.commands)


def test_every_command_that_reads_sessions_takes_the_option() -> None:
    names = [*COMMANDS, *commands_of_groups()]
    reading = {name for name in names if options_of(name) & ARGUMENTS} - NO_SESSIONS | READS_BY_OTHER_MEANS
    assert {name for name in reading if "--redact" not in options_of(name)} == set()
    assert reading == LINES.keys() | SLOW.keys() | {"hook", "mcp"}, "each of them is tried below"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A session that names its secrets early, writes them, and needs them later."""
    text = re.sub(r'"input_tokens": \d+', '"input_tokens": 0', "\n".join(lines(steps=14, after=12)))
    for words in ("Fix the parser.", "edited src/parser.py", '"new_string": "9'):
        text = text.replace(words, f"{words} {SECRETS}")
    text = text.replace("def parse(): ...", f"def parse(): use {TOKEN}")
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / "session.jsonl"
    file.write_text(text + "\n")
    return file


def files_of(folder: Path) -> Iterator[str]:
    for file in folder.rglob("*"):
        if file.suffix == ".parquet":
            yield pd.read_parquet(file).to_json()
        elif file.is_file():
            yield file.read_bytes().decode(errors="replace")


def shown_and_written(name: str, recording: Path, capfd: pytest.CaptureFixture[str], *more: str) -> list[str]:
    """All that a command prints, and the text of all files that it makes."""
    folder = recording.parent.parent
    (folder / "out").mkdir()
    grid = folder / "grid.toml"
    grid.write_text(f'sessions = ["{recording}"]\nstrategies = ["truncate"]\nwindows = [1000]\nshares = [0.3]\n')
    places = {"FILE": str(recording), "GRID": str(grid)}
    words = [places.get(word, word.replace("OUT", str(folder / "out"))) for word in (LINES | SLOW)[name]]
    assert main([*words[0].split(), *words[1:], *more]) in (0, 1, 2, 3)
    shown = capfd.readouterr()
    assert "no such option" not in shown.err.lower()
    return [shown.out, shown.err, *files_of(folder / "out"), *files_of(folder / "reports")]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "out" / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", [*LINES, *(SLOW if FULL else ())])
def test_no_command_shows_or_writes_what_it_masks(
    name: str, recording: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = shown_and_written(name, recording, capfd, "--redact")
    assert not [value for value in PLANTED for text in texts if value in text]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["compare", "sweep", "watch", "validate needs", "exam write"])
def test_without_the_option_they_would(name: str, recording: Path, capfd: pytest.CaptureFixture[str]) -> None:
    texts = shown_and_written(name, recording, capfd)
    assert [value for value in PLANTED for text in texts if value in text]


def test_the_hook_tells_the_agent_nothing_that_it_masks(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    about = {"session_id": "s", "transcript_path": str(recording)}
    for event in ({"hook_event_name": "PreCompact"}, {"hook_event_name": "SessionStart", "source": "compact"}):
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(about | event)))
        assert main(["hook", "--redact"]) == 0
    shown = capfd.readouterr()
    assert "recall" in shown.out and not shown.err
    assert not [value for value in PLANTED for text in (shown.out, *files_of(tmp_path / "cache")) if value in text]


def test_the_server_gives_back_nothing_that_it_masks(recording: Path, tmp_path: Path) -> None:
    plain, masked = Answers(recording, tmp_path), Answers(recording, tmp_path, frozenset({"email"}))
    query = "token password ask"
    assert TOKEN in plain.recall(query=query)
    texts = [masked.recall(query=query), masked.what_was_lost()]
    assert "REDACTED-" in texts[0] and not [value for value in PLANTED for text in texts if value in text]
