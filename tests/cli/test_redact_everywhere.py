"""Every command that reads sessions takes `--redact`, and shows and writes nothing that it
masks.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from cli.documented import documented_commands
from evaluation.watching.claude_lines import lines

from profiles import FULL
from workbench.cli import main
from workbench.evaluation.watching.server import Answers

TOKEN = "gh" + "p_q7Rk2mVx9TzLw4Hn8PcYd3FsB6GjA1Ue5XoK"
PLANTED = (TOKEN, "jane.doe", "Tr0ub4dor3x")
SECRETS = f"The token is {TOKEN}, ask jane.doe@corp.co.uk, password=Tr0ub4dor3x!"
ARGUMENTS = {"paths", "session", "target", "grid", "file"}
"""Names of the arguments by which a command is told what to read."""
READS_BY_OTHER_MEANS = {"agent hook", "lab trial", "lab experiment"}
NO_SESSIONS = {"gate"}
"""Has an argument of such a name, and reads a finished run."""
SMALL = ["--strategies", "truncate,summarize", "--window", "1000", "--shares", "0.3", "--jobs", "1"]
LINES: dict[str, list[str]] = {
    "compare": ["compare", "FILE", *SMALL, "--out", "OUT"],
    "replay": ["replay", "FILE", "--window", "1000", "--losses", "30"],
    "lab simulate": [
        "lab simulate",
        "FILE",
        "--strategies",
        "truncate",
        "--window",
        "1000",
        "--jobs",
        "1",
        "--out",
        "OUT",
    ],
    "lab learn": ["lab learn", "FILE", "--out", "OUT/weights.json", "--jobs", "1"],
    "inspect": ["inspect", "FILE"],
    "watch": ["watch", "FILE", "--once"],
    "lab sweep": ["lab sweep", "GRID", "--jobs", "1", "--out", "OUT", "--no-report"],
    "lab prompts": [
        "lab prompts",
        "FILE",
        "--prompt",
        "PROMPT",
        "--model",
        "scripted:no",
        "--window",
        "1000",
        "--margin",
        "0.05",
        "--out",
        "OUT",
    ],
    "lab ablate": ["lab ablate", "FILE", "--window", "1000", "--shares", "0.3", "--jobs", "1"],
    "lab validate gamers": ["lab validate gamers", "FILE", "--window", "1000"],
    "lab validate behaviour": ["lab validate behaviour", "FILE", "--json"],
    "lab validate needs": ["lab validate needs", "FILE", "--sheet", "OUT/sheet.csv"],
    "lab exam write": [
        "lab exam write",
        "FILE",
        "--model",
        "folder:OUT/asked",
        "--boundaries",
        "0.6",
        "--out",
        "OUT/exams",
    ],
    "lab exam show": ["lab exam show", "FILE", "--exams", "OUT"],
    "lab judge work": [
        "lab judge work",
        "FILE",
        "--model",
        "folder:OUT/asked",
        "--exams",
        "OUT",
        "--out",
        "OUT",
    ],
    "lab judge exam": [
        "lab judge exam",
        "FILE",
        "--model",
        "scripted:no",
        "--strategies",
        "truncate",
        "--out",
        "OUT",
    ],
}
SLOW: dict[str, list[str]] = {
    "advise": [
        "advise",
        "FILE",
        "--candidates",
        "2",
        "--window",
        "1000",
        "--jobs",
        "1",
        "--out",
        "OUT",
    ],
    "lab validate metrics": ["lab validate metrics", "FILE"],
    "lab validate detours": ["lab validate detours", "FILE", "--window", "1000", "--jobs", "1"],
    "lab trial": [
        "lab trial",
        "--seeds",
        "1",
        "--strategies",
        "truncate",
        "--jobs",
        "1",
        "--out",
        "OUT",
    ],
    "lab experiment": [
        "lab experiment",
        "-p",
        "sessions",
        "FILE",
        "-p",
        "window",
        "1000",
        "--out",
        "OUT",
    ],
}


def test_every_command_that_reads_sessions_takes_the_option() -> None:
    commands = documented_commands()
    reading = {
        name for name, command in commands.items() if command.arguments & ARGUMENTS
    } - NO_SESSIONS | READS_BY_OTHER_MEANS
    assert {name for name in reading if "--redact" not in commands[name].options} == set()
    assert reading == LINES.keys() | SLOW.keys() | {
        "agent hook",
        "agent mcp",
    }, "each of them is tried below"


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


def shown_and_written(
    name: str, recording: Path, capfd: pytest.CaptureFixture[str], *more: str
) -> list[str]:
    """All that a command prints, and the text of all files that it makes."""
    folder = recording.parent.parent
    (folder / "out").mkdir()
    grid = folder / "grid.toml"
    grid.write_text(
        f'sessions = ["{recording}"]\nstrategies = ["truncate"]\nwindows = [1000]\nshares = [0.3]\n'
    )
    prompt = folder / "prompt.md"
    prompt.write_text("Say what was done.")
    places = {"FILE": str(recording), "GRID": str(grid), "PROMPT": str(prompt)}
    words = [
        places.get(word, word.replace("OUT", str(folder / "out"))) for word in (LINES | SLOW)[name]
    ]
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
@pytest.mark.parametrize(
    "name", ["compare", "lab sweep", "watch", "lab validate needs", "lab exam write"]
)
def test_without_the_option_they_would(
    name: str, recording: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = shown_and_written(name, recording, capfd)
    assert [value for value in PLANTED for text in texts if value in text]


def test_the_hook_tells_the_agent_nothing_that_it_masks(
    recording: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    about = {"session_id": "s", "transcript_path": str(recording)}
    for event in (
        {"hook_event_name": "PreCompact"},
        {"hook_event_name": "SessionStart", "source": "compact"},
    ):
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(about | event)))
        assert main(["agent", "hook", "--redact"]) == 0
    shown = capfd.readouterr()
    assert "recall" in shown.out and not shown.err
    assert not [
        value
        for value in PLANTED
        for text in (shown.out, *files_of(tmp_path / "cache"))
        if value in text
    ]


def test_the_server_gives_back_nothing_that_it_masks(recording: Path, tmp_path: Path) -> None:
    plain, masked = Answers(recording, tmp_path), Answers(recording, tmp_path, frozenset({"email"}))
    query = "token password ask"
    assert TOKEN in plain.recall(query=query)
    texts = [masked.recall(query=query), masked.what_was_lost()]
    assert "REDACTED-" in texts[0] and not [
        value for value in PLANTED for text in texts if value in text
    ]
