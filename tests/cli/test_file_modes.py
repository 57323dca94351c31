"""Whatever holds session text is readable by its user alone, as the agents' own files are,
whatever the umask.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine.models.provider import completion, serving

from builders import remembering, rules
from profiles import FULL
from workbench import Session, save
from workbench.cli import main

SMALL = ["--window", "1000", "--jobs", "1", "--quiet"]
RUNS: dict[str, list[list[str]]] = {
    "compare": [
        ["compare", "FILE", "--model", "litellm:openai/stub", "--strategies", "summarize", "--shares", "0.3",
         "--out", "OUT/run", *SMALL],
    ],
    "sweep": [["lab", "sweep", "GRID", "--jobs", "1", "--quiet", "--out", "OUT/run"]],
    "simulate": [["lab", "simulate", "FILE", "--strategies", "truncate", "--out", "OUT/run", *SMALL]],
    "judge exam": [["lab", "judge", "exam", "FILE", "--model", "litellm:openai/stub", "--out", "OUT/run", "--quiet"]],
    "trial": [["lab trial", "--seeds", "1", "--families", "reversals", "--strategies", "truncate", "--out", "OUT/run"]],
    "export, share and save": [
        ["compare", "FILE", "--strategies", "truncate", "--shares", "0.3", "--no-report", "--out", "OUT/run", *SMALL],
        ["runs", "export", "OUT/run", "--to", "csv", "--out", "OUT/csv"],
        ["runs", "export", "OUT/run", "--to", "inspect", "--out", "OUT/logs"],
        ["runs", "share", "OUT/run", "--no-report", "--out", "OUT/shared"],
        ["lab dataset generate", "--tokens", "1000", "--out", "OUT/made/big.jsonl", "--facts", "OUT/made/facts.jsonl"],
        ["lab validate needs", "FILE", "--sheet", "OUT/sheets/sheet.csv"],
    ],
    "learn": [["lab", "learn", "--out", "OUT/weights/weights.json", "--jobs", "1"]],
    "experiment": [["lab experiment", "-p", "sessions", "FILE", "-p", "window", "1000", "--out", "OUT/run", "--quiet"]],
}  # fmt: skip
SLOW = {"experiment", "trial", "learn"}


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def too_open(folder: Path) -> dict[str, str]:
    """Files and folders below a folder that others may look into, by their modes."""
    modes = {file: file.stat().st_mode & 0o777 for file in folder.rglob("*")}
    wrong = {
        file: mode for file, mode in modes.items() if mode != (0o700 if file.is_dir() else 0o600)
    }
    return {str(file.relative_to(folder)): oct(mode) for file, mode in wrong.items()}


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("name", [name for name in RUNS if FULL or name not in SLOW])
def test_all_that_a_command_leaves_is_its_users_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording, grid, out = tmp_path / "chat.jsonl", tmp_path / "grid.toml", tmp_path / "out"
    save(Session.of([rules("be brief"), *remembering(16, later=5, words=20)]), recording)
    grid.write_text(
        f'sessions = ["{recording}"]\nstrategies = ["truncate"]\nwindows = [1000]\nshares = [0.3]\n'
    )
    out.mkdir()
    places = {"FILE": str(recording), "GRID": str(grid)}
    monkeypatch.setenv("WORKBENCH_CACHE", str(out / "cache"))
    with serving() as server:
        server.replies = [completion("The limit of part 0 is 1000.")]
        monkeypatch.setenv("WORKBENCH_API_BASE", server.address)
        for words in RUNS[name]:
            given = [places.get(word, word.replace("OUT", str(out))) for word in words]
            assert main([*given[0].split(), *given[1:]]) in (0, 1)
    assert [file for file in out.rglob("*") if file.is_file()]
    assert too_open(out) == {}


def generate(file: Path) -> None:
    """Have a command write a session to a file."""
    words = ["lab", "dataset", "generate", "--tokens", "1000", "--out", str(file)]
    assert main(words) == 0


def test_a_file_and_its_folders_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    generate(tmp_path / "a" / "b" / "text.jsonl")
    assert too_open(tmp_path) == {}


@pytest.mark.usefixtures("open_umask")
def test_a_file_that_others_could_read_is_closed_and_a_folder_of_the_users_stays(
    tmp_path: Path,
) -> None:
    (tmp_path / "theirs").mkdir(mode=0o755)
    file = tmp_path / "theirs" / "old.jsonl"
    file.write_text("old")
    generate(file)
    assert file.read_text() != "old"
    assert too_open(tmp_path) == {"theirs": "0o755"}
