"""Kills a run of 200 replays 30 times at random moments, lets it go on each time, and compares it
with a calm one.

    python tests/benchmarks/bench_kill.py [--sessions 40] [--kills 30] [--jobs 2] [--seed 1]
    [--victim run|worker]
                                          [--dask]

`--victim run` kills the command itself and gives it again; `--victim worker` kills one of its
workers, and the command must come to its end by itself. With `--dask` these are workers of a Dask
cluster, and its nannies replace them. It prints, and fails on, finished replays that were computed
again or lost, and tables that are not the calm run's bytes.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from builders import remembering, rules
from workbench import Session, save
from workbench.evaluation.experiment.table_columns import COLUMNS

STRATEGIES = "truncate,summarize,pipeline"
REPLAYS_A_SESSION = 5
"""With the references `none` and `null`."""


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--sessions", type=int, default=40)
    options.add_argument("--kills", type=int, default=30)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--victim", choices=("run", "worker"), default="run")
    options.add_argument("--dask", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "sessions").mkdir()
        for n in range(given.sessions):
            one = Session.of(
                [rules("be brief"), *remembering(30 + n % 7)], id=f"s{n}", project=f"p{n % 3}"
            )
            save(one, root / "sessions" / f"s{n:03}.jsonl")
        started = time.monotonic()
        begin(root, "calm", given.jobs).wait()
        seconds = time.monotonic() - started
        whole = given.sessions * REPLAYS_A_SESSION
        assert len(replays(root / "calm")) == whole, (len(replays(root / "calm")), whole)
        print(f"calm run: {whole} replays, {given.jobs} workers, {seconds:.1f} s")
        if not given.dask:
            return disturbed(root, given, whole)
        from distributed import LocalCluster

        with LocalCluster(
            given.jobs, threads_per_worker=1, dashboard_address=None, silence_logs=60
        ) as cluster:
            # a new nanny for one that gave up
            cluster.adapt(minimum=given.jobs, maximum=given.jobs)

            def running(_: int) -> list[int]:
                """Workers that have started: a nanny gives up one that is killed before, which
                is Dask's own rule.
                """
                nannies = [
                    worker for worker in cluster.workers.values() if worker.process is not None
                ]
                return [one.pid for one in nannies if one.process.status.name == "running"]

            return disturbed(
                root, given, whole, "--scheduler", cluster.scheduler_address, victims=running
            )


def disturbed(
    root: Path,
    given: argparse.Namespace,
    whole: int,
    *more: str,
    victims: Callable[[int], list[int]] | None = None,
) -> int:
    draw = random.Random(given.seed)
    moments = sorted(draw.randrange(whole) for _ in range(given.kills))
    run, kills, before, again, lost, late = root / "hit", 0, {}, 0, 0, 0
    started = time.monotonic()
    process = begin(root, "hit", given.jobs, *more)
    for moment in moments:
        while len(replays(run)) < moment and process.poll() is None:
            time.sleep(0.005)
        time.sleep(draw.random() * 0.3)
        if process.poll() is not None:
            break
        children = (victims or workers)(process.pid)
        if given.victim == "run":
            process.send_signal(signal.SIGKILL)
            process.wait()
        elif children:
            os.kill(draw.choice(children), signal.SIGKILL)
        else:
            continue
        kills += 1
        if given.victim == "run":
            late += gone_late(children)
            process = begin(root, "hit", given.jobs)
        now = replays(run)
        again += sum(now[name] != mark for name, mark in before.items() if name in now)
        lost += sum(name not in now for name in before)
        before = now
    code = process.wait()
    now = replays(run)
    again += sum(now[name] != mark for name, mark in before.items() if name in now)
    lost += sum(name not in now for name in before)
    if code:
        print(f"exit code {code} after {kills} kills of the {given.victim}")
        return 1
    same = [
        (run / f"{t}.parquet").read_bytes() == (root / "calm" / f"{t}.parquet").read_bytes()
        for t in COLUMNS
    ]
    left = len(list(run.rglob("*.part")))
    print(
        f"{kills} kills of the {given.victim} at {moments[:kills]} finished replays,"
        f" {time.monotonic() - started:.0f} s"
    )
    print(
        f"exit code {code}; replays {len(now)} of {whole}; computed again {again}; lost {lost};"
        f" partial files {left}"
    )
    print(f"workers that outlived their run by more than 3 s: {late}")
    print(f"tables that are byte for byte those of the calm run: {sum(same)} of {len(same)}")
    return (
        0
        if (code, again, lost, left, late) == (0, 0, 0, 0, 0) and all(same) and len(now) == whole
        else 1
    )


def begin(root: Path, name: str, jobs: int, *more: str) -> subprocess.Popen[bytes]:
    words = ["compare", str(root / "sessions"), "-s", STRATEGIES, "-w", "4000", "--shares", "0.2"]
    words += ["--out", str(root / name), "--jobs", str(jobs), "--no-report", "--quiet", *more]
    code = "import sys; from workbench.cli import main; sys.exit(main())"
    there = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", code, *words], env={**os.environ, "PYTHONPATH": there}
    )


def replays(run: Path) -> dict[str, tuple[int, int]]:
    """Each finished replay with its inode and its time, which a second writing would change."""
    found = {}
    for path in run.glob("replays/*.json"):
        stat = path.stat()
        found[path.name] = (stat.st_ino, stat.st_mtime_ns)
    return found


def workers(parent: int) -> list[int]:
    """The worker processes of a run; helpers of Python's own are left alone."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            words = (path.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == parent and b"popen_loky" in words:
            found.append(int(path.parent.name))
    return found


def gone_late(children: list[int]) -> int:
    """How many of these processes are still there after three seconds."""
    end = time.monotonic() + 3
    while time.monotonic() < end and any(Path(f"/proc/{child}").exists() for child in children):
        time.sleep(0.02)
    return sum(Path(f"/proc/{child}").exists() for child in children)


if __name__ == "__main__":
    if shutil.which("kill") is None:
        sys.exit("this needs a system with signals")
    sys.exit(main())
