"""`workbench lab` copies the course and starts JupyterLab in the copy."""

import sys
from pathlib import Path

from workbench.cli.notebooks import command_line
from workbench.report.notebooks import copy_course, course


def test_the_course_is_copied_once_and_what_was_changed_stays(tmp_path: Path) -> None:
    copied, there = copy_course(tmp_path / "course")
    assert [path.name[:2] for path in copied[:4]] == ["01", "02", "03", "04"] and not there
    copied[0].write_text("mine")
    copied[1].unlink()
    again, there = copy_course(tmp_path / "course")
    assert [path.name for path in again] == [copied[1].name] and len(there) == len(copied) - 1
    assert copied[0].read_text() == "mine"


def test_the_course_itself_is_never_opened(tmp_path: Path) -> None:
    copy_course(tmp_path)
    words = command_line(tmp_path)
    assert f"--ServerApp.root_dir={tmp_path.resolve()}" in words
    assert str(course()[0].parent) not in " ".join(words)


def test_options_reach_jupyterlab(tmp_path: Path) -> None:
    copy_course(tmp_path)
    words = command_line(tmp_path, "--port", "9000", "--no-browser")
    assert words[:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--LabApp.default_url=/lab/tree/01_first_replay.ipynb" in words
    assert words[-3:] == ["--port", "9000", "--no-browser"]


def test_it_asks_nobody_for_news(tmp_path: Path) -> None:
    words = command_line(tmp_path)
    assert "--LabApp.news_url=None" in words and any("NeverCheckForUpdate" in word for word in words)
