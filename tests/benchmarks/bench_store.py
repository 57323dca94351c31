"""A run over an object store on two Dask workers, killed and resumed, beside a local run.

    python tests/benchmarks/bench_store.py --sessions 2000 --kills 3

Sessions are made up and small. The store is a real S3 server on this machine, the workers share no
folder with the command: each has an empty cache and an empty current folder of its own. Each kill
ends the command and both workers at once, by SIGKILL. It fails where a table differs from the local
run's, or a replay that was finished before a kill was written again after it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from object_store import BUCKET, environment, put, serving_s3  # noqa: E402

from builders import remembering, rules  # noqa: E402
from workbench import (  # noqa: E402
    Results,
    Session,
    save,
)
from workbench.base import remote  # noqa: E402
from workbench.evaluation.experiment.table_columns import COLUMNS  # noqa: E402

SESSIONS = f"s3://{BUCKET}/sessions"
OUT = f"s3://{BUCKET}/runs/killed"
REPLAYS_A_SESSION = 3
"""`truncate` and the two references."""
COMMAND = """
import sys
import workbench as wb
what, out, scheduler = sys.argv[1:]
wb.compare(
    what, strategies=("truncate",), window=1_000, boundaries=(0.5,), shares=(0.3,), out=out,
    scheduler=scheduler or None, quiet=True,
)
"""
LONGEST_SECONDS = 3_600
"""That the whole may take."""


@dataclass
class Outcome:
    """What was measured.

    Attributes:
        finished: replays in the store at each kill.
        rewritten: replays that were there at a kill and were written again.
        different: tables that differ from those of the local run.
    """

    sessions: int
    local_seconds: float = 0.0
    store_seconds: float = 0.0
    finished: list[int] = field(default_factory=list)
    rewritten: int = 0
    different: list[str] = field(default_factory=list)
    command_megabytes: int = 0

    @property
    def is_good(self) -> bool:
        return not self.different and not self.rewritten

    def __str__(self) -> str:
        kills = ", ".join(f"{count:,}" for count in self.finished) or "none"
        return (
            f"{self.sessions:,} sessions, {REPLAYS_A_SESSION * self.sessions:,} replays:"
            f" {self.local_seconds:.0f} s here; {self.store_seconds:.0f} s over the store, two"
            f" workers; killed at {kills} replays; written again {self.rewritten}; tables that"
            f" differ: {', '.join(self.different) or 'none'}; largest process"
            f" {self.command_megabytes} MB"
        )


def measured(session_count: int, kills: int) -> Outcome:
    """Both runs, and how they compare."""
    outcome = Outcome(session_count)
    with ExitStack() as stack:
        work = Path(stack.enter_context(TemporaryDirectory()))
        recordings = work / "sessions"
        write_sessions(recordings, session_count)
        began = time.monotonic()
        local = work / "local"
        finish(start([sys.executable, "-c", COMMAND, str(recordings), str(local), ""], {}, work))
        outcome.local_seconds = time.monotonic() - began
        server = stack.enter_context(serving_s3())
        put(recordings, SESSIONS)
        env = environment(server) | {"PYTHONPATH": os.pathsep.join(sys.path[1:])}
        began = time.monotonic()
        run_with_kills(outcome, kills, env, work)
        outcome.store_seconds = time.monotonic() - began
        os.environ["WORKBENCH_CACHE"] = str(work / "reader")
        outcome.different = different_tables(Results.open(local), Results.open(OUT), recordings)
    outcome.command_megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    return outcome


def write_sessions(folder: Path, count: int) -> None:
    """Small sessions, no two of which are alike."""
    folder.mkdir()
    for number in range(count):
        messages = [rules(f"be brief, reader {number}"), *remembering(4 + number % 3, later=3)]
        session = Session.of(messages, id=f"s{number:05}", project=f"p{number % 7}")
        save(session, folder / f"s{number:05}.jsonl")


def run_with_kills(outcome: Outcome, kills: int, env: Mapping[str, str], work: Path) -> None:
    """The run over the store: so many times everything but the store is killed in the middle."""
    whole = REPLAYS_A_SESSION * outcome.sessions
    versions: dict[str, str] = {}
    for sitting in range(kills + 1):
        with cluster(env, work / f"sitting-{sitting}") as scheduler:
            arguments = [sys.executable, "-c", COMMAND, SESSIONS, OUT, scheduler]
            command = start(arguments, env | {"WORKBENCH_CACHE": str(work / "command")}, work)
            if sitting == kills:
                finish(command)
            else:
                wait_for_replays(command, whole * (sitting + 1) // (kills + 1), whole)
                command.send_signal(signal.SIGKILL)
                command.wait()
        replays = finished_replays()
        for address, version in versions.items():
            outcome.rewritten += replays[address] != version
        if sitting < kills:
            outcome.finished.append(len(replays))
        versions = replays


@contextmanager
def cluster(env: Mapping[str, str], folder: Path) -> Iterator[str]:
    """The address of a scheduler with two workers, each of which has a folder of its own; all are
    killed in the end.
    """
    address_file = folder / "scheduler.json"
    folder.mkdir(parents=True)
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--port", "0", "--no-dashboard", "--scheduler-file", str(address_file)]
    processes = [start([*dask, *options], env, folder)]
    try:
        for number in range(2):
            own = folder / f"worker-{number}"
            own.mkdir()
            worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1"]
            options = ["--no-dashboard", "--scheduler-file", str(address_file), "--no-nanny"]
            own_env = {**env, "WORKBENCH_CACHE": str(own / "cache")}
            processes.append(start([*worker, *options], own_env, own))
        yield scheduler_address(address_file)
    finally:
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()


def scheduler_address(file: Path) -> str:
    """What a scheduler wrote of itself."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if file.is_file() and file.stat().st_size:
            return str(json.loads(file.read_text(encoding="utf-8"))["address"])
        time.sleep(0.2)
    raise TimeoutError("the Dask scheduler did not start")


def start(command: list[str], env: Mapping[str, str], folder: Path) -> subprocess.Popen[bytes]:
    """A process in a folder."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[1:]), **env},
        stdout=subprocess.DEVNULL,
        stderr=(folder / "errors.txt").open("ab"),
    )


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that must end well."""
    if process.wait(timeout=LONGEST_SECONDS):
        raise RuntimeError(f"the run ended with {process.returncode}; see its errors.txt")


def wait_for_replays(command: subprocess.Popen[bytes], count: int, whole: int) -> None:
    """Nothing, until so many of all replays are in the store."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while len(finished_replays()) < count:
        if command.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the run ended before it was killed")
        time.sleep(1 + whole / 1_000)  # listing many takes the server a while


def finished_replays() -> dict[str, str]:
    """The version of each replay in the store, which changes when it is written again."""
    try:
        listed = remote.files_below(f"{OUT}/replays")
    except remote.MissingPath:
        return {}
    return {file.address: f"{file.version} {file.changed}" for file in listed}


def different_tables(local: Results, stored: Results, recordings: Path) -> list[str]:
    """The names of tables that differ; of sessions all but their places must be the same."""
    names: list[str] = []
    for name in COLUMNS:
        expected = local.table(name)
        table = stored.table(name)
        if name == "sessions":
            table["path"] = table["path"].str.replace(SESSIONS, str(recordings), regex=False)
        if not table.equals(expected):
            names.append(name)
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--kills", type=int, default=1)
    options = parser.parse_args()
    outcome = measured(options.sessions, options.kills)
    print(outcome)
    return 0 if outcome.is_good else 1


if __name__ == "__main__":
    raise SystemExit(main())
