"""A run: from sessions to tables."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar

import pandas as pd
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
    SettingError,
    Strategy,
    UnknownName,
    compare,
    save,
)
from workbench.evaluation.experiment.processes import Processes
from workbench.evaluation.experiment.table_columns import COLUMNS

TABLES = tuple(COLUMNS)


def session(number: int = 0) -> Session:
    return Session.of(
        [rules("be brief"), *remembering(20 + number)], id=f"s{number}", project=f"p{number}"
    )


def run(tmp_path: Path, *sessions: Session | Path, name: str = "run", **more: object) -> Results:
    return compare(
        sessions or (session(),),
        window=4_000,
        shares=(0.2,),
        out=tmp_path / name,
        quiet=True,
        simulate=False,
        strategies=("truncate", "summarize"),
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A run over one session, to read in."""
    return run(tmp_path_factory.mktemp("whole"))


def same(one: Results, other: Results) -> bool:
    return all(
        (one.path / f"{t}.parquet").read_bytes() == (other.path / f"{t}.parquet").read_bytes()
        for t in TABLES
    )


def test_a_copy_of_a_file_is_no_second_session_of_a_run(tmp_path: Path) -> None:
    for name in ("one", "copy"):
        save(session(), tmp_path / f"{name}.jsonl")
    results = run(tmp_path, tmp_path / "one.jsonl", tmp_path / "copy.jsonl")
    left_out = results.sessions[results.sessions["status"] != "ok"]
    (reason,) = left_out["reason"]
    assert re.search(r"session 's0': all of its \d+ requests were copied from session 's0'", reason)
    assert "copy.jsonl" in reason
    assert len(results.sessions) == 2


def test_every_table_has_its_documented_columns(whole: Results) -> None:
    for name, columns in COLUMNS.items():
        assert list(whole.table(name).columns) == list(columns), name


def test_the_documentation_names_every_column() -> None:
    text = (Path(__file__).parents[3] / "docs" / "reference" / "tables.md").read_text()
    for columns in COLUMNS.values():
        for column in columns:
            assert column in text, column


def test_none_scores_1_and_null_0_on_the_scaled_headline(whole: Results) -> None:
    scores = whole.scores
    headline = scores[scores["metric"] == "exam_recall"].dropna(subset=["scaled"])
    assert not headline.empty
    assert (headline[headline["strategy"] == "none"]["scaled"] == 1).all()
    assert (headline[headline["strategy"] == "null"]["scaled"] == 0).all()


def test_the_same_run_twice_gives_the_same_bytes(whole: Results, tmp_path: Path) -> None:
    assert same(whole, run(tmp_path))


def test_who_keeps_every_frame_changes_nothing(whole: Results, tmp_path: Path) -> None:
    """A sampling profiler, a debugger, or Dask's look at what its workers do."""
    kept: list[FrameType] = []
    sys.setprofile(lambda frame, event, _: kept.append(frame) if event == "return" else None)
    try:
        watched = run(tmp_path)
    finally:
        sys.setprofile(None)
    assert len(kept) > 1_000
    assert (watched.replays["status"] == "ok").all(), watched.replays["reason"].tolist()
    assert same(whole, watched)


def test_a_finished_replay_is_not_computed_again(whole: Results, tmp_path: Path) -> None:
    shutil.copytree(whole.path, tmp_path / "run")
    replays = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "replays").iterdir()}
    assert len(replays) == 4
    run(tmp_path)
    assert {
        path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "replays").iterdir()
    } == replays


def test_a_clock_that_jumped_computes_nothing_again(whole: Results, tmp_path: Path) -> None:
    shutil.copytree(whole.path, tmp_path / "run")
    for path, year in zip(
        (tmp_path / "run" / "replays").iterdir(), cycle((1971, 2105)), strict=False
    ):
        os.utime(path, (0, (year - 1970) * 365 * 86_400))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "replays").iterdir()}
    assert same(run(tmp_path), whole)
    assert {
        path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "replays").iterdir()
    } == before


@pytest.mark.skipif(not FULL, reason="every worker costs seconds; part of the full profile")
def test_of_two_processes_in_one_folder_the_second_comes_later_or_is_refused(
    whole: Results, tmp_path: Path
) -> None:
    def outcome(out: Path) -> str:
        try:
            return str(run(out).path)
        except SettingError as error:
            return str(error)

    with Processes(2) as crew:
        outcomes = [result for _, result in crew.each(outcome, [tmp_path, tmp_path])]
    written = str(tmp_path / "run")
    assert written in outcomes
    for result in outcomes:
        assert result is not None
        assert result == written or result.startswith("another process is writing a run into")
    assert same(Results.open(tmp_path / "run"), whole)
    assert not list(tmp_path.rglob("*.part"))


def test_a_half_written_replay_counts_as_none(whole: Results, tmp_path: Path) -> None:
    copy = shutil.copytree(whole.path, tmp_path / "run")
    for path in (copy / "replays").iterdir():
        path.write_text(path.read_text()[:100])
    assert same(run(tmp_path), whole)


@dataclass(frozen=True)
class Broken:
    """A stage with a bug."""

    name: ClassVar[str] = "broken"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        raise ZeroDivisionError("an author's mistake")


def test_a_failed_replay_is_a_row_with_its_reason_and_never_a_zero(tmp_path: Path) -> None:
    broken = Preset("broken", Strategy("broken", (Broken(),)))
    results = compare(
        session(), strategies=("truncate", broken), window=4_000, out=tmp_path / "run", quiet=True
    )
    failed = results.replays[results.replays["status"] == "failed"]
    assert list(failed["strategy"]) == ["broken"]
    assert "an author's mistake" in failed["reason"].iloc[0]
    assert "broken" not in set(results.scores["strategy"])
    assert results.failed == 1


def test_sessions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    results = run(tmp_path, session(), session())
    assert list(results.sessions["session"]) == ["s0", "s0~2"]


def test_a_file_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    save(session(), tmp_path / "s.jsonl")
    how: dict[str, Any] = {
        "strategies": ("truncate",),
        "window": 4_000,
        "shares": (),
        "quiet": True,
    }
    results = compare(
        [tmp_path / "s.jsonl", tmp_path, tmp_path / "s.jsonl"], out=tmp_path / "run", **how
    )
    assert list(results.sessions["session"]) == ["s0"]


def test_a_run_that_can_read_nothing_leaves_the_finished_one_as_it_is(tmp_path: Path) -> None:
    before = run(tmp_path, session())
    (tmp_path / "cut.jsonl").write_text('{"role": "us')
    with pytest.raises(SettingError, match="the recording s0, and this one has not"):
        run(tmp_path, tmp_path / "cut.jsonl")
    assert list(Results.open(before.path).sessions["session"]) == ["s0"]


def test_a_file_that_can_no_longer_be_read_leaves_the_finished_run_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    save(session(), file)
    before = run(tmp_path, file)
    file.write_text('{"role": "us')
    with pytest.raises(SettingError, match="the finished run in"):
        run(tmp_path, file)
    assert list(Results.open(before.path).sessions["session"]) == ["s0"]


def test_a_folder_that_cannot_hold_a_run_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(SettingError, match="is a file; a folder, or a new name, would be accepted"):
        run(tmp_path, session())


def test_a_limit_takes_the_first_sessions(tmp_path: Path) -> None:
    results = run(tmp_path, session(0), session(1), session(2), limit=2)
    assert list(results.sessions["session"]) == ["s0", "s1"]


def test_what_a_run_wrote_is_no_recording(tmp_path: Path) -> None:
    save(session(), tmp_path / "s.jsonl")
    for _ in range(2):
        results = compare(
            tmp_path, window=4_000, out=tmp_path / "run", quiet=True, strategies=("truncate",)
        )
    assert list(results.sessions["session"]) == ["s0"]


def test_an_unknown_strategy_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="known are"):
        compare(session(), strategies=("nonsense",), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="manifest"):
        Results.open(tmp_path)


def test_losses_name_the_entity_its_evidence_its_use_and_the_stage(whole: Results) -> None:
    losses = whole.losses
    for row in losses.itertuples():
        assert row.entity and row.evidence and row.use
        assert row.evidence_at < row.at <= row.needed_at
        assert row.stage in {"truncate", "summarize"}


def test_text_with_lone_surrogates_does_not_stop_a_run(tmp_path: Path) -> None:
    odd = Session.of([rules("be \ud800 brief"), *remembering(30)], id="odd")
    assert run(tmp_path, odd).failed == 0


def test_tables_are_readable_by_others(whole: Results) -> None:
    assert pd.read_parquet(whole.path / "scores.parquet").equals(whole.scores)
