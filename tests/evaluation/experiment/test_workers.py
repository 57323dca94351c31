"""Workers die; runs end, lose nothing, and say what could not be done."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from tqdm import tqdm

from builders import remembering, rules
from profiles import FULL
from workbench import (
    Budget,
    Context,
    MemoryShort,
    Plan,
    Preset,
    Results,
    Session,
    SettingError,
    Strategy,
    compare,
    preset,
    save,
)
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.evaluation.experiment import memory
from workbench.evaluation.experiment.available_workers import workers
from workbench.evaluation.experiment.cluster import task_ranges
from workbench.evaluation.experiment.job import Crew
from workbench.evaluation.experiment.processes import Processes, lasting_workers
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.table_columns import COLUMNS
from workbench.evaluation.experiment.units import units_of

in_full = pytest.mark.skipif(
    not FULL, reason="every worker costs seconds; part of the full profile"
)


@dataclass(frozen=True)
class Fatal:
    """A stage whose process is killed: the first time, always, or always where a message has
    some text.
    """

    mark: str
    always: bool = False
    text: str = ""
    name: ClassVar[str] = "fatal"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        if (self.always and self.text in str(context.messages[0])) or not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return STAGES["truncate"]().plan(context, budget)


@dataclass(frozen=True)
class Noting:
    """A stage that notes in a folder which process it works in."""

    folder: str
    name: ClassVar[str] = "noting"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        Path(self.folder, str(os.getpid())).touch()
        return STAGES["truncate"]().plan(context, budget)


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sessions")
    for n in range(3):
        save(
            Session.of([rules("be brief"), *remembering(16 + n)], id=f"s{n}", project=f"p{n}"),
            folder / f"s{n}.jsonl",
        )
    return folder


def run(folder: Path, out: Path, *strategies: str | Preset, **more: object) -> Results:
    return compare(
        folder,
        window=4_000,
        shares=(0.2,),
        out=out,
        quiet=True,
        strategies=strategies or ("truncate", "summarize"),
        **more,  # type: ignore[arg-type]
    )


def same(one: Results, other: Results) -> bool:
    return all(
        (one.path / f"{t}.parquet").read_bytes() == (other.path / f"{t}.parquet").read_bytes()
        for t in COLUMNS
    )


def fatal(mark: Path, always: bool = False, text: str = "") -> Preset:
    return Preset("fatal", Strategy("fatal", (Fatal(str(mark), always, text),)))


@in_full
def test_one_worker_and_more_workers_than_sessions_give_the_same_bytes(
    sessions: Path, tmp_path: Path
) -> None:
    results, two = (run(sessions / "s0.jsonl", tmp_path / str(n), jobs=n) for n in (1, 2))
    assert same(results, two)


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(sessions: Path, tmp_path: Path) -> None:
    (tmp_path / "mark").touch()
    calm = run(sessions, tmp_path / "calm", fatal(tmp_path / "mark"), "truncate")
    (tmp_path / "mark").unlink()
    hit = run(sessions, tmp_path / "hit", fatal(tmp_path / "mark"), "truncate", jobs=2)
    assert (tmp_path / "mark").exists()
    assert same(calm, hit)


@in_full
def test_a_replay_that_kills_every_worker_is_a_failed_replay_beside_the_others(
    sessions: Path, tmp_path: Path
) -> None:
    results = run(
        sessions / "s0.jsonl",
        tmp_path / "run",
        fatal(tmp_path / "mark", always=True),
        "truncate",
        jobs=2,
    )
    replays = results.replays
    assert set(replays[replays["status"] == "failed"]["strategy"]) == {"fatal"}
    assert replays[replays["status"] == "failed"]["reason"].str.contains("died").all()
    assert set(replays[replays["status"] == "ok"]["strategy"]) == {"none", "truncate", "null"}


@in_full
def test_it_is_a_failed_replay_also_where_other_sessions_survive_it(tmp_path: Path) -> None:
    sessions = [
        Session.of([rules(f"be {word}"), *remembering(24)], id=word) for word in ("brief", "deadly")
    ]
    (tmp_path / "mark").touch()
    results = compare(
        sessions,
        strategies=(fatal(tmp_path / "mark", always=True, text="be deadly"),),
        window=4_000,
        shares=(),
        out=tmp_path / "run",
        jobs=2,
        quiet=True,
    )
    status = results.replays.set_index(["session", "strategy"])["status"]
    assert (
        status["brief", "fatal"] == status["deadly", "none"] == "ok"
        and status["deadly", "fatal"] == "failed"
    )


def test_few_sources_are_cut_into_pieces_for_many_workers() -> None:
    crew = Crew(Processes(3), tqdm(disable=True))
    presets = [preset(name) for name in ("none", "truncate", "summarize", "null")]
    units = units_of([SessionSource(number=0)], presets, crew)
    assert sorted(preset.name for unit in units for preset in unit.presets) == sorted(
        ["none", "truncate", "summarize", "null"]
    )
    assert len(units) == 3


def _ends_its_process(task: int) -> int:
    if task == 1:
        os._exit(1)
    return task


@pytest.mark.slow
def test_only_the_task_of_a_dead_worker_is_lost() -> None:
    with Processes(2) as crew:
        found = dict(crew.each(_ends_its_process, range(4)))
    assert {place for place, result in found.items() if result == place} == {0, 2, 3}


@dataclass(frozen=True)
class Hungry:
    """A stage that takes so much memory."""

    bytes: int
    name: ClassVar[str] = "hungry"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        assert len(bytearray(self.bytes)) == self.bytes
        return STAGES["truncate"]().plan(context, budget)


@in_full
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds what a process holds")
@pytest.mark.parametrize(("machine", "status"), [(5e9, "ok"), (2e9, "failed")])
def test_a_worker_takes_its_share_of_the_memory_and_alone_all_of_it(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: float, status: str
) -> None:
    monkeypatch.setattr(memory, "of_machine", lambda: machine)
    hungry = Preset("hungry", Strategy("hungry", (Hungry(3_000_000_000),)))
    results = run(sessions / "s0.jsonl", tmp_path / "run", hungry, "truncate", jobs=2)
    rows = results.replays.set_index("strategy")
    assert rows["status"]["hungry"] == status and rows["status"]["truncate"] == "ok"
    assert status == "ok" or "memory ran out" in rows["reason"]["hungry"]


def test_a_recording_that_needs_more_memory_than_a_worker_may_take_is_told_before(
    tmp_path: Path,
) -> None:
    with (tmp_path / "large.jsonl").open("wb") as large:
        large.truncate(1 << 40)
    with pytest.warns(
        MemoryShort,
        match=r"large\.jsonl needs about [\d,.]+ GB of memory, and each of 2 workers may take",
    ):
        workers(2, sources=[SessionSource(tmp_path / "large.jsonl")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        workers(2, sources=[SessionSource()])


def _ends_three_processes(marks: Path) -> int:
    deaths = len(list(marks.iterdir()))
    if deaths < 3:
        (marks / str(deaths)).touch()
        os._exit(1)
    return deaths


@in_full
def test_a_task_survives_what_killed_its_worker_once_among_others_and_twice_alone(
    tmp_path: Path,
) -> None:
    with Processes(2) as crew:
        assert list(crew.surely(_ends_three_processes, [tmp_path])) == [(0, 3)]


_REMEMBERED: list[bytes] = []


def _remembers_much(task: int) -> int:
    _REMEMBERED.append(b"1" * 200_000_000)
    time.sleep(1.1)  # loky looks for leaks once a second
    return os.getpid()


@in_full
def test_a_worker_may_remember_much() -> None:
    with Processes(1) as crew:
        found = {result for _, result in crew.each(_remembers_much, range(3))}
    assert len(found) == 1, "what a worker remembers is no leak"


def _process(task: int) -> int:
    return os.getpid()


@pytest.mark.slow
def test_lasting_workers_are_started_once_for_all_jobs_and_ended_with_the_last() -> None:
    found: set[int] = set()
    with lasting_workers():
        for _ in range(3):
            with workers(2) as crew:
                found.update(result or 0 for _, result in crew.each(_process, range(2)))
    assert len(found) == 2
    with workers(2) as crew:
        later = {result for _, result in crew.each(_process, range(2))}
    assert not found & later


def _most_memory(task: int) -> int:
    import resource

    return resource.getrlimit(resource.RLIMIT_DATA)[0]


@in_full
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds what a process holds")
def test_lasting_workers_take_their_share_again_behind_a_task_that_was_done_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "of_machine", lambda: 5e9)
    with lasting_workers():
        with workers(2) as crew:
            assert list(crew.surely(_ends_three_processes, [tmp_path])) == [(0, 3)]
        with workers(2) as crew:
            most = {result for _, result in crew.each(_most_memory, range(2))}
    assert most == {2_500_000_000}


def _marks_a_second_later(mark: Path | None) -> bool:
    if mark is not None:
        time.sleep(1)
        mark.touch()
    return True


@pytest.mark.slow
def test_what_a_job_leaves_behind_is_ended_with_it(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with lasting_workers():
        with workers(2) as crew:
            next(crew.each(_marks_a_second_later, [None, mark]))
        time.sleep(1.5)
    assert not mark.exists()


def _reader(source: SessionSource) -> tuple[str, int]:
    time.sleep(0.2)  # so that one worker cannot do all
    return source.name, os.getpid()


@pytest.mark.slow
def test_a_worker_gets_the_recordings_again_that_it_has_read() -> None:
    sources = [SessionSource(session=Session.of([], id=name)) for name in "abcdef"]
    with Processes(2) as crew:
        readers = dict(result or ("", 0) for _, result in crew.each(_reader, sources))
        again = dict(result or ("", 0) for _, result in crew.each(_reader, sources[::-1]))
    assert set(readers) == set("abcdef")
    same = [name for name in readers if again[name] == readers[name]]
    assert len(same) >= 5, "the last one may go to a worker that would be idle"


def test_no_worker_at_all_is_refused() -> None:
    with pytest.raises(SettingError, match="`jobs` is 0; it must be at least 1"):
        compare(jobs=0)


@pytest.mark.parametrize(
    ("tasks", "workers_here", "ranges"), [(0, 2, 0), (5, 2, 5), (640, 2, 32), (100_000, 4, 1_000)]
)
def test_a_cluster_gets_ranges_that_hold_every_task_once(
    tasks: int, workers_here: int, ranges: int
) -> None:
    cut = task_ranges(tasks, workers_here)
    assert len(cut) == ranges
    assert [place for places in cut for place in places] == list(range(tasks))


@pytest.mark.slow
def test_a_comparison_and_its_simulation_share_their_workers(
    sessions: Path, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    noting = Preset("noting", Strategy("noting", (Noting(str(pids)),)))
    results = run(sessions, tmp_path / "run", noting, "truncate", jobs=2)
    assert (results.path / "simulated.parquet").is_file()
    assert len(list(pids.iterdir())) <= 2
