"""Runs of many sessions and of one very long one: seconds, the memory of the command and of its
largest worker.

    python tests/benchmarks/bench_scale.py [--sessions 2000] [--messages 100000] [--jobs 2]

The many are compared in one process, and with workers, stopped half-way and resumed; all tables
must be the same bytes. The long session is compared under the same strategies, in a window of 8,000
tokens: 100,000 messages take some 10 minutes of the processor and 3 GB. Exits with 1 where a table
differs or a replay failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.bench_kill import replays

from builders import remembering, rules
from workbench import Results, Session, save
from workbench.evaluation.experiment.table_columns import COLUMNS

STRATEGIES = "truncate,summarize"
TICK = 0.1
"""Seconds between two looks at the memory of processes."""


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--sessions", type=int, default=2_000)
    options.add_argument("--messages", type=int, default=100_000)
    options.add_argument("--jobs", type=int, default=2)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        failed = many(root, given.sessions, given.jobs) if given.sessions else 0
        return int(bool(failed + (one_long(root, given.messages) if given.messages else 0)))


def many(root: Path, sessions: int, jobs: int) -> int:
    """How many tables differ between one process, and several that were stopped half-way and
    went on.
    """
    (root / "many").mkdir()
    for n in range(sessions):
        made = Session.of(
            [rules("be brief"), *remembering(30 + n % 7)], id=f"s{n}", project=f"p{n % 9}"
        )
        save(made, root / "many" / f"s{n:05}.jsonl")
    print(f"{sessions:,} sessions, {4 * sessions:,} replays")
    measured(root / "many", root / "alone", 8_000, 1)
    measured(root / "many", root / "beside", 8_000, jobs, stop_at=2 * sessions)
    measured(root / "many", root / "beside", 8_000, jobs)
    wrong = 0
    for table in COLUMNS:
        texts = [(root / run / f"{table}.parquet").read_bytes() for run in ("alone", "beside")]
        wrong += len(set(texts)) > 1
    print(f"tables that differ: {wrong} of {len(COLUMNS)}")
    return wrong + Results.open(root / "alone").failed


def one_long(root: Path, messages: int) -> int:
    """How many replays of a very long session failed."""
    path = root / "long.jsonl"
    save(Session.of([rules("be brief"), *remembering(messages // 4)], id="long"), path)
    print(f"one session of {messages:,} messages, {path.stat().st_size / 1e6:.0f} MB")
    measured(path, root / "long", 8_000, 1)
    return Results.open(root / "long").failed


def measured(what: Path, out: Path, window: int, jobs: int, stop_at: int = 0) -> None:
    """Run it, and print what it took; it is ended once so many replays are on disk."""
    words = [
        "compare",
        str(what),
        "-s",
        STRATEGIES,
        "-w",
        str(window),
        "--shares",
        "0.2",
        "--boundaries",
        "0.5",
    ]
    words += ["--out", str(out), "--jobs", str(jobs), "--no-report", "--quiet"]
    code = "import sys; from workbench.cli import main; sys.exit(main())"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", code, *words], env=env)
    own = largest = 0
    while process.poll() is None:
        own = max(own, peak(process.pid))
        largest = max([largest, *map(peak, children(process.pid))])
        if stop_at and len(replays(out)) >= stop_at:
            process.terminate()
            process.wait()
        time.sleep(TICK)
    how = f"{jobs} jobs, stopped half-way" if stop_at else f"{jobs} jobs"
    ended = f"exit code {process.returncode}, {time.monotonic() - started:.0f} s"
    print(f"  {how}: {ended}, command {own:.0f} MB, largest worker {largest:.0f} MB", flush=True)


def children(parent: int) -> list[int]:
    """The processes that a process has started."""
    try:
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    except OSError:
        return []
    return [int(pid) for pid in text.split()]


def peak(pid: int) -> float:
    """The most memory that a process has held, in MB; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    for line in lines:
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1e3
    return 0


if __name__ == "__main__":
    sys.exit(main())
