"""A Dask cluster gives what local processes give."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from builders import remembering, rules
from workbench.compaction.plan import Plan
from workbench.compaction.stage import Budget
from workbench.compaction.stages.truncate import Truncate
from workbench.compaction.strategy import Preset, Strategy
from workbench.errors import SetupError
from workbench.experiment.compare import compare
from workbench.experiment.store import COLUMNS, Results
from workbench.importers.native import save
from workbench.transcript.context import Context
from workbench.transcript.session import Session

distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    yield cluster.scheduler_address
    cluster.close()


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    for n in range(3):
        path = tmp_path / "sessions" / f"s{n}.jsonl"
        path.parent.mkdir(exist_ok=True)
        save(Session.of([rules("be brief"), *remembering(24 + n)], id=f"s{n}", project=f"p{n}"), path)
    return tmp_path / "sessions"


def run(folder: Path | str, out: Path, scheduler: str | None, *own: Preset) -> Results:
    return compare(
        folder, window=4_000, shares=(0.2,), out=out, quiet=True, strategies=("truncate", *own), scheduler=scheduler
    )


def same(one: Results, other: Results) -> bool:
    return all((one.path / f"{t}.parquet").read_bytes() == (other.path / f"{t}.parquet").read_bytes() for t in COLUMNS)


def test_a_cluster_of_two_workers_gives_the_same_bytes(sessions: Path, tmp_path: Path, scheduler: str) -> None:
    assert same(run(sessions, tmp_path / "here", None), run(sessions, tmp_path / "there", scheduler))


def test_relative_paths_mean_the_same_on_a_worker(
    sessions: Path, tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = run("sessions", Path("here"), None), run("sessions", Path("there"), scheduler)
    assert one.sessions["path"].iloc[0] == "sessions/s0.jsonl"
    assert same(one, other)


@dataclass(frozen=True)
class FatalOnce:
    """A stage that kills the first process that runs it."""

    mark: str
    name: ClassVar[str] = "fatal_once"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        if not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Truncate().plan(context, budget)


def test_a_killed_worker_of_a_cluster_loses_nothing(sessions: Path, tmp_path: Path, scheduler: str) -> None:
    part = Preset("fatal", Strategy("fatal", (FatalOnce(str(tmp_path / "mark")),)))
    hit = run(sessions, tmp_path / "hit", scheduler, part)
    assert (tmp_path / "mark").exists()
    assert same(run(sessions, tmp_path / "calm", None, part), hit)


def test_an_address_where_no_scheduler_answers_is_one_sentence(sessions: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no Dask scheduler answers at 'nonsense'"):
        run(sessions, tmp_path / "run", "nonsense")
