"""Whoever clones a folder of recordings runs no code that lies in it, whatever the command."""

import json
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from builders import conversation, rules
from profiles import FULL
from workbench import Session, save

COMMAND = shutil.which("workbench", path=Path(sys.executable).parent) or ""
NAMES = (
    "json",
    "typing",
    "random",
    "logging",
    "pandas",
    "numpy",
    "tiktoken",
    "matplotlib",
    "IPython",
    "sitecustomize",
)
PLANT = "import pathlib; pathlib.Path(__file__).with_suffix('.ran').touch()"
PLUGIN = "[workbench.importers]\nplanted = json:PLANT\n"
FEW = ("compare . -s truncate --window 5000 -j 2 --out run",)
ALL = (
    *FEW, "experiment -o ran.ipynb -p window 5000 -p limit 1", "report run", "inspect chat.jsonl",
    "replay chat.jsonl -s truncate --window 5000", "list formats", "doctor",
    "simulate chat.jsonl --strategies truncate --window 5000 -j 2 --out simulated",
    "trial --families changed_values --seeds 1 --strategies truncate,summarize -j 2 --out trials",
    "diff run run", "gate run -b run --margin 0.1", "share run --out shared",
    "export run --to csv --out tables", "ablate chat.jsonl --window 5000 -j 2", "validate needs",
    "dataset list", "validate chat.jsonl --window 5000", "validate trials trials", "sweep grid.toml -j 2 --out swept",
    "judge exam chat.jsonl --help", "lab --help", "serve --help", "watch --help",
)  # fmt: skip


@pytest.fixture
def cloned(tmp_path: Path) -> Path:
    save(Session.of([rules("be brief"), *conversation(30, words=120)]), tmp_path / "chat.jsonl")
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(PLANT)
    (tmp_path / "grid.toml").write_text('strategies = ["truncate"]\nwindows = [5000]\n')
    (tmp_path / "planted.egg-info").mkdir()
    (tmp_path / "planted.egg-info" / "entry_points.txt").write_text(PLUGIN)
    return tmp_path


@pytest.mark.skipif(not FULL, reason="a cluster costs seconds; part of the full profile")
def test_no_module_beside_a_recording_is_imported_by_a_cluster(
    cloned: Path, tmp_path_factory: Any
) -> None:
    pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "dask").write_text(
        "from dask.__main__ import main\nif __name__ == '__main__':\n    main()"
    )  # as pip installs it
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    start = partial(subprocess.Popen, cwd=cloned, env=env, stderr=subprocess.DEVNULL)
    where = ["--scheduler-file", str(folder / "where.json"), "--no-dashboard"]
    dask = [sys.executable, str(folder / "dask")]
    with (
        start([*dask, "scheduler", "--port", "0", *where]) as scheduler,
        start([*dask, "worker", *where]) as worker,
    ):
        try:
            while not (folder / "where.json").is_file() or not (
                folder / "where.json"
            ).read_text().endswith("}"):
                assert scheduler.poll() is None
                time.sleep(0.1)
            address = json.loads((folder / "where.json").read_text())["address"]
            words = (
                f"compare . -s truncate --window 5000 --out run --no-report --scheduler {address}"
            )
            process = subprocess.run(
                [COMMAND, *words.split()], cwd=cloned, env=env, check=False, timeout=900
            )
        finally:
            worker.terminate()
            scheduler.terminate()
    assert process.returncode == 0 and not [path.stem for path in cloned.glob("*.ran")]


@pytest.mark.slow
def test_no_module_beside_a_recording_is_imported(cloned: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    for words in ALL if FULL else FEW:
        process = subprocess.run(
            [COMMAND, *words.split()],
            cwd=cloned,
            env=env,
            check=False,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert not [path.stem for path in cloned.glob("*.ran")], words
        assert process.returncode in (0, 1), f"{words}: {process.stderr}"
