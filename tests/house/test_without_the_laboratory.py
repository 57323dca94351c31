"""The main job runs where the laboratory is left out: `compare`, its report, and a sentence for
what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SESSION = ROOT / "datasets" / "recorded" / "kiln-uploads" / "session.jsonl.gz"


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package but its laboratory."""
    folder = tmp_path_factory.mktemp("without")
    shutil.copytree(ROOT / "workbench", folder / "workbench", ignore=shutil.ignore_patterns("lab"))
    (folder / "datasets").symlink_to(ROOT / "datasets")
    (folder / "notebooks").symlink_to(ROOT / "notebooks")
    assert not (folder / "workbench" / "lab").exists()
    return folder


def workbench(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line of that folder's package."""
    code = "import sys; from workbench.cli import main; sys.exit(main(sys.argv[1:]))"
    env = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_sessions_are_compared_and_a_report_is_written(without: Path) -> None:
    chosen = ["--strategies", "truncate,summarize", "--jobs", "1", "--quiet", "--out", "run"]
    compared = workbench(without, "compare", str(SESSION), *chosen)
    assert compared.returncode == 0, compared.stderr
    assert "summarize" in (without / "run" / "report.html").read_text("utf-8")


def test_a_command_of_the_laboratory_says_that_it_is_missing(without: Path) -> None:
    judged = workbench(without, "lab", "judge", "exam", str(SESSION), "--model", "fitted")
    assert judged.returncode == 2
    assert "needs the laboratory (`workbench/lab`)" in judged.stderr
    assert "Traceback" not in judged.stderr
