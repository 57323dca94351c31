"""A Dask cluster gives what local processes give."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from builders import remembering, rules
from profiles import FULL
from workbench import (
    Budget,
    Context,
    Plan,
    Preset,
    Results,
    Session,
    SetupError,
    Strategy,
    compare,
    save,
)
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.evaluation.experiment.table_columns import COLUMNS

distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
with_workers = pytest.mark.skipif(not FULL, reason="starts workers; part of the full profile")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    yield cluster.scheduler_address
    cluster.close()


@contextlib.contextmanager
def started(
    command: list[str], env: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    for n in range(3):
        path = tmp_path / "sessions" / f"s{n}.jsonl"
        path.parent.mkdir(exist_ok=True)
        save(
            Session.of([rules("be brief"), *remembering(24 + n)], id=f"s{n}", project=f"p{n}"), path
        )
    return tmp_path / "sessions"


def run(folder: Path | str, out: Path, scheduler: str | None, *own: Preset) -> Results:
    return compare(
        folder,
        window=4_000,
        shares=(0.2,),
        out=out,
        quiet=True,
        strategies=("truncate", *own),
        scheduler=scheduler,
    )


def same(one: Results, other: Results) -> bool:
    return all(
        (one.path / f"{t}.parquet").read_bytes() == (other.path / f"{t}.parquet").read_bytes()
        for t in COLUMNS
    )


@with_workers
def test_a_cluster_gives_the_same_bytes_and_relative_paths_mean_the_same_there(
    sessions: Path, tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results, other = run("sessions", Path("here"), None), run("sessions", Path("there"), scheduler)
    assert results.sessions["path"].iloc[0] == "sessions/s0.jsonl"
    assert same(results, other)


@dataclass(frozen=True)
class FatalOnce:
    """A stage that kills the first process that runs it."""

    mark: str
    name: ClassVar[str] = "fatal_once"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        if not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return STAGES["truncate"]().plan(context, budget)


@with_workers
def test_a_killed_worker_of_a_cluster_loses_nothing(
    sessions: Path, tmp_path: Path, scheduler: str
) -> None:
    part = Preset("fatal", Strategy("fatal", (FatalOnce(str(tmp_path / "mark")),)))
    hit = run(sessions, tmp_path / "hit", scheduler, part)
    assert (tmp_path / "mark").exists()
    assert same(run(sessions, tmp_path / "calm", None, part), hit)


def test_a_cluster_whose_workers_are_gone_ends_the_run_and_what_is_done_is_kept(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.evaluation.experiment.cluster.PATIENCE", 1.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as cluster,
        pytest.raises(SetupError, match="it has had no worker for 1 s; finished work is kept"),
    ):
        run(sessions, tmp_path / "run", cluster.scheduler_address)


@dataclass(frozen=True)
class Ending:
    """A stage that kills the cluster's scheduler."""

    scheduler: int
    name: ClassVar[str] = "ending"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.scheduler, signal.SIGKILL)
        return STAGES["truncate"]().plan(context, budget)


@contextlib.contextmanager
def apart(folder: Path, env: dict[str, str]) -> Iterator[tuple[str, int]]:
    """A scheduler and a worker as Dask's own commands start them: the scheduler's address and
    process.
    """
    where = folder / "where.json"
    parts = ["--no-dashboard", "--scheduler-file", str(where)]
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", *parts]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", *parts]
    with started(scheduler, env) as process, started(worker, env):
        end = time.monotonic() + 60
        while not where.exists() or not where.read_text().endswith("}"):
            assert time.monotonic() < end, "Dask's scheduler did not start"
            time.sleep(0.05)
        yield json.loads(where.read_text())["address"], process.pid


@with_workers
def test_a_scheduler_that_dies_ends_the_run_in_one_sentence(sessions: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with (
        apart(tmp_path, env) as (address, pid),
        pytest.raises(
            SetupError,
            match="cannot finish the run: its scheduler went away; finished work is kept",
        ),
    ):
        run(
            sessions,
            tmp_path / "run",
            address,
            Preset("ending", Strategy("ending", (Ending(pid),))),
        )


@with_workers
def test_a_cluster_that_lacks_the_module_of_a_strategy_is_one_sentence(
    sessions: Path, tmp_path: Path
) -> None:
    with (
        apart(tmp_path, {**os.environ}) as (address, _),
        pytest.raises(
            SetupError, match="cannot read its tasks; install on its scheduler and workers the"
        ),
    ):
        run(sessions, tmp_path / "run", address, Preset("ending", Strategy("ending", (Ending(0),))))


def test_an_address_where_no_scheduler_answers_is_one_sentence(
    sessions: Path, tmp_path: Path
) -> None:
    with pytest.raises(SetupError, match="no Dask scheduler answers at 'nonsense'"):
        run(sessions, tmp_path / "run", "nonsense")
