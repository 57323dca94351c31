"""An outage in worker processes and on a cluster, and a run that is killed while it asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from engine.models.provider import Provider, Reply, refusal
from evaluation.experiment.outages import MODEL, spent, summary

from builders import remembering, rules
from profiles import FULL
from workbench import Results, Session, save
from workbench.evaluation.experiment.table_columns import COLUMNS

ROUNDS = 4

pytestmark = pytest.mark.skipif(not FULL, reason="starts workers; part of the full profile")
SESSIONS = 6
WHERE = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def sessions(tmp_path: Path) -> None:
    for n in range(SESSIONS):
        path = tmp_path / "sessions" / f"s{n}.jsonl"
        path.parent.mkdir(exist_ok=True)
        save(
            Session.of([rules("be brief"), *remembering(14 + n)], id=f"s{n}", project=f"p{n}"), path
        )


def command(tmp_path: Path, name: str, *more: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "workbench",
        "compare",
        str(tmp_path / "sessions"),
        "--strategies",
        "summarize",
        "--window",
        "2500",
        "--shares",
        "0.3",
        "--boundaries",
        "0.6",
        "--model",
        MODEL,
        "--no-report",
        "--quiet",
        "--cache",
        str(tmp_path / f"cache-{name}"),
        "--out",
        str(tmp_path / name),
        *more,
    ]


def tables(folder: Path) -> dict[str, bytes]:
    """All tables but for the seconds that answers took and the dollars of calls that a kill cut
    off.
    """
    results = Results.open(folder)
    drop = {"compactions": ["seconds"], "replays": ["usd"]}
    return {
        name: results.table(name).drop(columns=drop.get(name, [])).to_csv().encode()
        for name in COLUMNS
    }


def outage(tmp_path: Path, provider: Provider, *more: str) -> None:
    """A provider that is down is called a few times by all workers together, and the next run
    asks for all.
    """
    provider.by = lambda asked: refusal(401, "no")
    down = subprocess.run(
        command(tmp_path, "run", *more), cwd=WHERE, capture_output=True, text=True
    )
    assert down.returncode == 3, down.stderr
    assert len(provider.requests) <= 2 * ROUNDS
    assert Results.open(tmp_path / "run").pending == SESSIONS
    provider.by = summary
    up = subprocess.run(command(tmp_path, "run", *more), cwd=WHERE, capture_output=True, text=True)
    assert up.returncode == 0, up.stderr
    results = Results.open(tmp_path / "run")
    assert results.pending == results.failed == 0
    assert results.replays["usd"].sum() == pytest.approx(spent(tmp_path / "cache-run"))


def test_all_workers_notice_an_outage_together(provider: Provider, tmp_path: Path) -> None:
    outage(tmp_path, provider, "--jobs", "2")


def test_and_so_on_a_cluster(provider: Provider, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    try:
        outage(tmp_path, provider, "--scheduler", cluster.scheduler_address)
    finally:
        cluster.close()


def test_a_run_that_was_killed_while_it_asked_ends_with_the_same_tables(
    provider: Provider, tmp_path: Path
) -> None:
    provider.by = summary  # the same answers and counts of tokens throughout
    assert subprocess.run(command(tmp_path, "calm", "--jobs", "1"), cwd=WHERE).returncode == 0
    seen, reached = iter(range(10_000)), threading.Event()

    def one_hangs(asked: dict[str, object]) -> Reply:
        if next(seen) < 9:
            return summary(asked)
        reached.set()
        return Reply("", hangs=True)

    provider.by = one_hangs
    killed = subprocess.Popen(
        command(tmp_path, "killed", "--jobs", "2"), cwd=WHERE, start_new_session=True
    )
    assert reached.wait(120)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    provider.by = summary
    assert subprocess.run(command(tmp_path, "killed", "--jobs", "2"), cwd=WHERE).returncode == 0
    assert tables(tmp_path / "killed") == tables(tmp_path / "calm")
    results = Results.open(tmp_path / "killed")
    assert results.replays["usd"].sum() == pytest.approx(spent(tmp_path / "cache-killed"))
