"""The measure `work` in a run: at the boundaries that have a written exam, and absent elsewhere."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from lab.judge.work_exam.test_write import Writer

from builders import remembering
from workbench import Results, Session, compare, save
from workbench.lab.judge.work_exam.write import write_exams

WORK = "work"

STRATEGIES = ("truncate", "summarize")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A session on disk, without an exam."""
    path = tmp_path / "mail.jsonl"
    save(Session.of(remembering(40), id="mail", project="mail"), path)
    return path


def run(recording: Path, *, boundaries: tuple[float, ...] = (0.5,), out: str = "run") -> Results:
    return compare(
        [recording],
        strategies=STRATEGIES,
        shares=(0.4,),
        boundaries=boundaries,
        window=4_000,
        out=recording.parent / out,
        quiet=True,
    )


def with_exam(recording: Path, share: float = 0.5) -> Path:
    outcomes = write_exams([recording], model=Writer(), boundaries=(share,), quiet=True)
    assert outcomes is not None
    assert outcomes[0].exam is not None
    return recording


def matched(results: Results, metric: str) -> pd.DataFrame:
    scores = results.scores
    return scores[(scores["metric"] == metric) & (scores["mode"] == "matched")].set_index(
        "strategy"
    )


def test_a_session_with_an_exam_has_a_value_for_every_strategy_and_reference(
    recording: Path,
) -> None:
    work = matched(run(with_exam(recording)), WORK)
    assert work["value"].notna().all()
    assert work["value"].between(0, 1).all()
    assert work.loc["none", "value"] > work.loc["null", "value"]
    assert (work["n"] == 1).all()


def test_a_session_without_one_has_the_reason_and_no_zero(recording: Path) -> None:
    work = matched(run(recording), WORK)
    assert work["value"].isna().all()
    assert work["why"].str.contains("no exam of the work").all()


def test_an_exam_that_is_written_later_is_read_by_the_same_command(recording: Path) -> None:
    assert matched(run(recording), WORK)["value"].isna().all()
    assert matched(run(with_exam(recording)), WORK)["value"].notna().all()


def test_the_exams_boundaries_are_added_where_the_run_has_none_of_them(recording: Path) -> None:
    plain = run(recording, out="plain")
    results = run(with_exam(recording, share=0.7), out="beside")
    assert matched(results, WORK)["value"].notna().all()
    for metric in ("exam_recall", "recall_bound", "tokens_kept"):
        assert matched(results, metric)["value"].equals(matched(plain, metric)["value"])
    assert (
        results.table("boundaries")["at"].nunique() == plain.table("boundaries")["at"].nunique() + 1
    )


def test_boundaries_that_the_run_shares_with_the_exam_are_enough(recording: Path) -> None:
    write_exams([recording], model=Writer(), boundaries=(0.5, 0.7), quiet=True)
    results = run(recording)
    assert (matched(results, WORK)["n"] == 1).all()
    assert results.table("boundaries")["at"].nunique() == 1


def test_the_baseline_is_read_at_the_sizes_of_the_others(recording: Path) -> None:
    at_sizes = run(with_exam(recording)).table("baseline_at_sizes")
    assert at_sizes.loc[at_sizes["metric"] == WORK, "value"].notna().all()


def test_a_damaged_exam_fails_no_replay(recording: Path) -> None:
    recording.with_name(f"{recording.name}.exam.json").write_text("{")
    results = run(recording)
    assert (results.replays["status"] == "ok").all()
    assert matched(results, WORK)["why"].str.contains("cannot be read").all()
