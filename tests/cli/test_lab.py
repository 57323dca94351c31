"""`workbench lab` copies the course and starts JupyterLab in the copy."""

import sys
from pathlib import Path

import pytest
from jupyter_server.services.config import ConfigManager

from workbench.cli.notebooks import command_line, lab_environment
from workbench.report.page.notebooks import copy_course, course


def test_the_course_is_copied_once_and_what_was_changed_stays(tmp_path: Path) -> None:
    copied, paths = copy_course(tmp_path / "course")
    assert [path.name[:2] for path in copied[:4]] == ["01", "02", "03", "04"] and not paths
    copied[0].write_text("mine")
    copied[1].unlink()
    again, paths = copy_course(tmp_path / "course")
    assert [path.name for path in again] == [copied[1].name] and len(paths) == len(copied) - 1
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


def test_it_neither_asks_for_news_nor_whether_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "labconfig").mkdir()
    (tmp_path / "labconfig" / "default_setting_overrides.json").write_text('{"mine": {"one": 1}}')
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", lab_environment()["JUPYTER_CONFIG_PATH"])
    defaults = ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")
    assert defaults["@jupyterlab/apputils-extension:notification"] == {
        "fetchNews": "false",
        "checkForUpdates": False,
    }
    assert defaults["mine"] == {"one": 1}
