"""What changed between two runs, the worst first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import answer
from planted_run import Row, written


def scores(**values: float | None) -> list[Row]:
    """Scores of `session_metric`; each session was also asked for names, so that runs share it."""
    place = {"strategy": "mine", "mode": "natural", "better": "higher"}
    rows: list[Row] = []
    for name, value in values.items():
        session, metric = name.split("_", 1)
        rows.append({**place, "session": session, "metric": metric, "value": value})
    return rows


def losses(**weights: float) -> list[Row]:
    place = {"session": "s", "strategy": "mine", "mode": "matched", "share": 0.2, "kind": "path"}
    rows: list[Row] = []
    for name, weight in weights.items():
        lost = {"entity": name, "weight": weight, "evidence": f"line of {name}"}
        rows.append({**place, **lost})
    return rows


def run(folder: Path, tables: dict[str, list[Row]]) -> Path:
    """A run with these tables, of every session that they name; each has lost one thing alike."""
    of_session = {"s": scores(s_exam_recall=0.5)[0]}
    for row in tables.get("scores", ()):
        of_session[str(row["session"])] = row
    replays = [{"session": name, "strategy": "mine", "status": "ok"} for name in of_session]
    sessions = [{"session": name, "project": name, "status": "ok"} for name in of_session]
    all_scores = [*tables.get("scores", ()), *scores(s_exam_recall=0.5)]
    all_losses = [*tables.get("losses", ()), *losses(alike=0.1)]
    of_run = {"scores": all_scores, "replays": replays, "sessions": sessions, "losses": all_losses}
    return written(folder, tables | of_run)


def changes(folder: Path, earlier: dict[str, list[Row]], later: dict[str, list[Row]]) -> Any:
    """What `workbench runs diff` answers."""
    runs = run(folder / "earlier", earlier), run(folder / "later", later)
    return answer("runs", "diff", *runs, "--metric", "exam_recall")


def test_the_largest_regression_stands_first_and_what_is_equal_is_left_out(tmp_path: Path) -> None:
    earlier = scores(a_exam_recall=0.5, b_exam_recall=0.6, c_exam_recall=0.7, d_exam_recall=0.8)
    later = scores(a_exam_recall=0.4, b_exam_recall=0.2, c_exam_recall=0.7, d_exam_recall=0.9)
    rows = changes(tmp_path, {"scores": earlier}, {"scores": later})["values"]
    assert [row["session"] for row in rows] == ["b", "a", "d"]
    assert [row["difference"] for row in rows] == pytest.approx([-0.4, -0.1, 0.1])


def test_a_value_that_is_gone_is_a_regression(tmp_path: Path) -> None:
    earlier = scores(a_exam_recall=0.5, b_exam_recall=0.6)
    later = scores(a_exam_recall=None, b_exam_recall=0.5)
    rows = changes(tmp_path, {"scores": earlier}, {"scores": later})["values"]
    assert [row["session"] for row in rows] == ["a", "b"]
    assert rows[0]["worse_by"] == 1.0


def test_new_losses_come_before_mended_ones_each_with_its_evidence(tmp_path: Path) -> None:
    earlier = losses(old=1.0, both=0.5, faded=0.75)
    later = losses(new=0.5, worst=1.0, both=0.5, faded=1.0)
    rows = changes(tmp_path, {"losses": earlier}, {"losses": later})["entities"]
    assert [(row["entity"], row["change"]) for row in rows] == [
        ("worst", "lost"),
        ("new", "lost"),
        ("faded", "worse"),
        ("old", "mended"),
    ]
    assert [row["evidence"] for row in rows] == [
        "line of worst",
        "line of new",
        "line of faded",
        "line of old",
    ]
    assert {row["share"] for row in rows} == {0.2}


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    tables = {"scores": scores(a_exam_recall=0.5), "losses": losses(a=1.0)}
    equal = changes(tmp_path, tables, tables)
    assert equal["values"] == equal["entities"] == []
