"""On Linux workers are forked from one process that has loaded what they need."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest

import workbench
from workbench.evaluation.experiment.processes import Processes

PACKAGE = Path(workbench.__file__).parent
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")


@dataclass(frozen=True)
class Origin:
    """Where a worker comes from: its parent, how many threads that has, and what is loaded."""

    parent: int
    threads: int
    is_loaded: bool


def _origin(task: int) -> Origin:
    parent = os.getppid()
    threads = len(list(Path(f"/proc/{parent}/task").iterdir()))
    return Origin(parent, threads, "workbench.evaluation.experiment.units" in sys.modules)


def test_all_workers_are_forked_from_one_process_with_one_thread_that_has_loaded_the_modules() -> (
    None
):
    origins: set[Origin | None] = set()
    for _ in range(2):
        with Processes(2) as crew:
            origins.update(origin for _, origin in crew.each(_origin, range(2)))
    (origin,) = origins
    assert origin is not None
    assert origin.parent != os.getpid()
    assert origin.threads == 1
    assert origin.is_loaded


WHERE = """
import sys
sys.path.insert(0, sys.argv[1])
import workbench
from workbench.evaluation.experiment.processes import Processes

def place(task):
    import workbench
    return workbench.__file__

with Processes(1) as crew:
    (worker,) = crew.each(place, [0])
print(workbench.__file__ == worker[1])
"""


def workers_package_is_ours(script_folder: Path, search_first: Path, working_folder: Path) -> bool:
    """Whether a worker of a script has the package that the script has itself."""
    script = script_folder / "where.py"
    script.write_text(WHERE)
    run = subprocess.run(
        [sys.executable, script, search_first],
        cwd=working_folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout == "True\n"


def test_a_worker_has_the_package_that_a_script_searches_first(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for folder in (PACKAGE, PACKAGE.parent / "datasets"):
        (other / folder.name).symlink_to(folder)
    assert workers_package_is_ours(tmp_path, other, tmp_path)


def test_a_worker_has_no_package_of_the_working_folder(tmp_path: Path) -> None:
    at_hand = tmp_path / "at hand"
    (at_hand / "workbench").mkdir(parents=True)
    (at_hand / "workbench/__init__.py").touch()
    assert workers_package_is_ours(tmp_path, PACKAGE.parent, at_hand)


def _variables(task: int) -> tuple[str | None, ...]:
    return tuple(map(os.environ.get, ("TOLD_LATER", "OMP_NUM_THREADS")))


@pytest.mark.slow
def test_a_worker_has_the_environment_of_the_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("first", "second"):
        monkeypatch.setenv("TOLD_LATER", value)
        with Processes(1) as crew:
            assert list(crew.each(_variables, [0])) == [(0, (value, "1"))]
    monkeypatch.delenv("TOLD_LATER")
    with Processes(1) as crew:
        assert list(crew.each(_variables, [0])) == [(0, (None, "1"))]


def _random_number(task: int) -> float:
    return float(numpy.random.rand())


def test_workers_draw_random_numbers_of_their_own() -> None:
    numbers: set[float | None] = set()
    for _ in range(2):
        with Processes(1) as crew:
            numbers.update(number for _, number in crew.each(_random_number, [0]))
    assert len(numbers) == 2


@pytest.mark.slow
def test_workers_load_by_themselves_where_the_temporary_folder_takes_no_socket(
    tmp_path: Path,
) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ASKS_FOR_PARENT)],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == "its parent is the script\n"


ASKS_FOR_PARENT = """
    import os
    from workbench.evaluation.experiment.processes import Processes

    def parent(task):
        return os.getppid()

    with Processes(1) as crew:
        [(_, parent_id)] = crew.each(parent, [0])
    if parent_id == os.getpid():
        print("its parent is the script")
"""


def _kills_what_forked_it(mark: Path) -> str:
    if not mark.exists():
        mark.touch()
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    return "done"


@pytest.mark.slow
def test_a_task_is_done_again_where_the_process_was_killed_that_forks_workers(
    tmp_path: Path,
) -> None:
    with Processes(2) as crew:
        results = list(crew.surely(_kills_what_forked_it, [tmp_path / "mark"]))
    assert results == [(0, "done")]


SCRIPT = """
    import os, time
    from workbench.evaluation.experiment.processes import Processes

    print("the script runs", flush=True)

    def tells_and_waits(task):
        print(os.getpid(), os.getppid(), flush=True)
        time.sleep(600)

    with Processes(1) as crew:
        list(crew.each(tells_and_waits, [0]))
"""


def test_workers_of_a_killed_script_end_and_do_not_run_it_again(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    short_folder = tmp_path_factory.mktemp("t")  # the killed script leaves its socket there
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    with subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "TMPDIR": str(short_folder)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        process.kill()
        lines += process.stdout.readlines()  # ends when no process holds the pipe any more
    assert lines[0] == "the script runs\n"
    assert len(lines) == 2
    running = set(map(int, lines[1].split()))
    for _ in range(200):  # a process closes its files a moment before it has ended
        running = {pid for pid in running if not _has_ended(pid)}
        if not running:
            break
        time.sleep(0.05)
    assert running == set()


def _has_ended(pid: int) -> bool:
    """Whether it is gone, or only waits to be asked how it ended: in a container nobody may ask."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] == "Z"


KILLED = """
import os, signal
from workbench.evaluation.experiment.forking import is_possible

assert is_possible()
print("ready", flush=True)
{then}
"""
DIES = "os.kill(os.getpid(), signal.SIGKILL)"
WAITS = "input()"


def fork_server_of(folder: Path, then: str) -> subprocess.Popen[str]:
    """A process that has started its fork server, with its temporary files in this folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED.format(then=then)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_what_a_killed_run_left_of_its_fork_server_is_removed_by_the_next_one(
    tmp_path: Path,
) -> None:
    foreign = tmp_path / "pymp-foreign"
    foreign.mkdir()
    with fork_server_of(tmp_path, DIES):
        pass
    (left,) = set(tmp_path.glob("pymp-*")) - {foreign}
    with fork_server_of(tmp_path, WAITS) as living:
        (of_living,) = set(tmp_path.glob("pymp-*")) - {foreign}
        assert of_living != left
        with fork_server_of(tmp_path, WAITS) as second:
            assert of_living.exists()
            second.communicate("\n")
        living.communicate("\n")
    assert list(tmp_path.iterdir()) == [foreign]
