"""The pytest fixture that gates somebody's own strategy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders import remembering, rules
from workbench import Preset, Session, preset, save
from workbench.testing import CompactionGate

ROOT = Path(__file__).parents[2]
THEIRS = """
import workbench as wb

inner = wb.preset("truncate")
MINE = wb.Preset("mine", inner.strategy, inner.trigger)

def test_it_is_as_good_as_itself(compaction_gate):
    verdict = compaction_gate(MINE, baseline="truncate", sessions="in", window=4000, share=0.2)
    assert verdict.difference == 0

def test_it_is_as_good_as_a_summary(compaction_gate):
    compaction_gate(MINE, baseline="summarize", sessions="in", window=4000, share=0.2, each=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("theirs")
    (path / "in").mkdir()
    for n in range(2):
        save(
            Session.of([rules("be brief"), *remembering(20 + n)], id=f"s{n}"),
            path / "in" / f"s{n}.jsonl",
        )
    (path / "test_theirs.py").write_text(THEIRS)
    return path


def test_a_users_tests_pass_and_fail_in_a_sentence(folder: Path) -> None:
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    # where it is installed it would load twice
    alone = {"PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    process = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "workbench.testing",
            "-q",
            "--rootdir",
            ".",
            "-c",
            os.devnull,
            ".",
        ],
        cwd=folder,
        env={**os.environ, **alone},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed" in process.stdout, process.stdout + process.stderr
    assert "mine failed against summarize on exam_recall" in process.stdout
    assert "at the sizes asked for" not in process.stdout
    assert (
        "2 of 2 sessions lost more than 0.02" in process.stdout
        and "worst session s" in process.stdout
    )


def test_an_earlier_run_may_be_the_baseline(folder: Path, tmp_path: Path) -> None:
    sessions = folder / "in"
    before, after = CompactionGate(tmp_path / "before"), CompactionGate(tmp_path / "after")
    before("truncate", sessions=sessions, window=4_000, share=0.2)
    summarize, truncate = preset("summarize"), preset("truncate")
    worse = Preset("summarize", truncate.strategy, truncate.trigger)
    before(summarize, baseline="summarize", sessions=sessions, window=4_000, share=0.2)
    with pytest.raises(pytest.fail.Exception, match="summarize failed against summarize"):
        after(
            worse,
            baseline=tmp_path / "before",
            sessions=sessions,
            window=4_000,
            share=0.2,
            each=True,
        )


def test_too_few_sessions_fail_and_say_what_would_do(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"undecided .* at least 6 would do"):
        CompactionGate(tmp_path)(
            "truncate", baseline="summarize", sessions=folder / "in", window=4_000, share=0.2
        )


def test_loading_the_plugin_loads_nothing_slow() -> None:
    code = (
        "import sys, workbench.testing; slow = {'pandas', 'litellm', 'tiktoken', 'matplotlib',"
        " 'numpy', 'papermill', 'joblib'} & set(sys.modules); assert not slow, slow"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
