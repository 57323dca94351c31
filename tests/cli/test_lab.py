"""`workbench lab` copies the course and starts JupyterLab in the copy."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest
from jupyter_server.services.config import ConfigManager

from workbench.cli import main

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
COURSE = sorted(set(NOTEBOOKS.glob("*.ipynb")) - {NOTEBOOKS / "report.ipynb"})


@dataclass(frozen=True)
class Started:
    """The words that JupyterLab was started with, and its environment."""

    words: list[str]
    environment: dict[str, str]


Start: TypeAlias = Callable[..., Started]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Calls `workbench lab`, and catches the start of JupyterLab."""
    starts: list[Started] = []

    def execve(program: str, words: list[str], environment: dict[str, str]) -> None:
        assert program == words[0]
        starts.append(Started(words, environment))
        raise KeyboardInterrupt  # it would not come back

    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> Started:
        assert main(["lab", *words]) == 130
        return starts[-1]

    return call


def test_the_course_is_copied_once_and_what_was_changed_stays(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start()
    copied = sorted((tmp_path / "workbench-course").glob("*.ipynb"))
    assert [path.name for path in copied] == [path.name for path in COURSE]
    assert [path.name[:2] for path in copied[:4]] == ["01", "02", "03", "04"]
    expected = f"workbench-course: {len(copied)} notebooks copied, 0 there already"
    assert expected in capsys.readouterr().out
    copied[0].write_text("mine")
    copied[1].unlink()
    start("course")
    expected = f"workbench-course: 1 notebook copied, {len(copied) - 1} there already"
    assert expected in capsys.readouterr().out
    assert copied[0].read_text() == "mine" and copied[1].exists()


def test_the_course_itself_is_never_opened(start: Start, tmp_path: Path) -> None:
    words = start("course", "--folder", "mine").words
    assert f"--ServerApp.root_dir={tmp_path / 'mine'}" in words
    assert str(COURSE[0].parent) not in " ".join(words)


def test_options_reach_jupyterlab(start: Start) -> None:
    words = start("--port", "9000", "--no-browser").words
    assert words[:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--LabApp.default_url=/lab/tree/01_first_replay.ipynb" in words
    assert words[-3:] == ["--port", "9000", "--no-browser"]


def test_it_neither_asks_for_news_nor_whether_it_may(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "labconfig").mkdir()
    (tmp_path / "labconfig" / "default_setting_overrides.json").write_text('{"mine": {"one": 1}}')
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    environment = start().environment
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", environment["JUPYTER_CONFIG_PATH"])
    defaults = ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")
    assert defaults["@jupyterlab/apputils-extension:notification"] == {
        "fetchNews": "false",
        "checkForUpdates": False,
    }
    assert defaults["mine"] == {"one": 1}
