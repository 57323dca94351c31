"""The tables of a run, put together range by range."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import printed
from planted_run import TABLES, frame
from tqdm import tqdm

from workbench import Results
from workbench.evaluation.experiment import merging
from workbench.evaluation.experiment.job import Crew
from workbench.evaluation.experiment.merging import Merging, StoredReplay, StoredSession, merge
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.workers import Workers

CREW = Crew(Workers(), tqdm(disable=True))
STRATEGIES = ("none", "null", "truncate")


@pytest.fixture
def sessions(tmp_path: Path) -> list[StoredSession]:
    """Five sessions with three replays each, kept in a run's folder."""
    folder = RunFolder(tmp_path)
    stored: list[StoredSession] = []
    for number in range(5):
        replays: list[StoredReplay] = []
        for strategy in STRATEGIES:
            key = f"{number}-{strategy}"
            folder.keep(key, replay_of(strategy, float(number)))
            replays.append(StoredReplay(key, strategy, strategy))
        stored.append(StoredSession(f"session {number}", tuple(replays)))
    return stored


def replay_of(strategy: str, value: float) -> dict[str, object]:
    """A replay that has a score."""
    score = {"strategy": strategy, "mode": "natural", "share": None, "metric": "m", "value": value}
    return {name: [] for name in TABLES} | {"scores": [{"session": "", **score}]}


def merged(
    folder: Path, sessions: list[StoredSession], crew: Crew | None = None
) -> tuple[list[bytes], set[str]]:
    """The files of all tables, and which replays were not there."""
    run = RunFolder(folder)
    with run.writing() as tables:
        absent = merge(Merging(run, {}), sessions, tables, crew)
    return [(folder / f"{name}.parquet").read_bytes() for name in TABLES], absent


@pytest.mark.parametrize("replays_a_range", [1, 4, 1_000])
def test_workers_and_ranges_change_no_byte(
    replays_a_range: int,
    tmp_path: Path,
    sessions: list[StoredSession],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, _ = merged(tmp_path, sessions)
    monkeypatch.setattr(merging, "RANGE_REPLAYS", replays_a_range)
    assert merged(tmp_path, sessions)[0] == whole
    assert merged(tmp_path, sessions, CREW)[0] == whole
    assert not (tmp_path / "table-parts").exists()


@pytest.mark.parametrize("crew", [None, CREW])
def test_a_replay_that_is_not_there_is_named(
    crew: Crew | None, tmp_path: Path, sessions: list[StoredSession]
) -> None:
    (tmp_path / "replays" / "2-null.json").unlink()
    assert merged(tmp_path, sessions, crew)[1] == {"2-null"}


def test_parts_that_a_killed_run_left_do_not_keep_it_from_being_deleted(
    tmp_path: Path, sessions: list[StoredSession]
) -> None:
    run = RunFolder(tmp_path)
    merged(tmp_path, sessions)
    run.finish({"schema": 1})
    run.keep_table_part("scores", 0, frame("scores", ()))
    printed("runs", "delete", tmp_path, "--yes")
    assert not tmp_path.exists()


def test_a_run_that_is_killed_while_it_is_put_together_stays_what_it_was(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.write({}, {"schema": 1})
    with pytest.raises(KeyboardInterrupt), run.writing():
        raise KeyboardInterrupt
    assert Results.open(tmp_path).manifest == {"schema": 1}
