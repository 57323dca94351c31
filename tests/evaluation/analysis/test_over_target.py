"""Strategies that do not get as small as was asked: in whose figures their sessions count."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

from planted_run import PlantedRun, written

from workbench import ExamResults, Findings, Report

TOO_LARGE = "it stays larger than the size that was set"
LARGE = f"{TOO_LARGE} at 1 of 2 boundaries, up to 3.0 times"
STRATEGIES = ("none", "truncate", "masks")
SESSIONS = 12


def rows(**larger: int) -> list[dict[str, Any]]:
    """The scores of three strategies at two sizes in twelve sessions; at the larger size some
    strategies have none in so many of the last sessions, since they stay larger.
    """
    scores = []
    for name in STRATEGIES:
        for number in range(SESSIONS):
            for share in (0.1, 0.2):
                has_none = share == 0.2 and number >= SESSIONS - larger.get(name, 0)
                row: dict[str, Any] = {"session": f"s{number}", "strategy": name, "share": share}
                row |= {"mode": "matched", "metric": "exam_recall", "better": "higher"}
                row |= {"value": None if has_none else 0.5, "why": LARGE if has_none else ""}
                scores.append(row)
    return scores


def counted(scores: list[dict[str, Any]]) -> list[int]:
    """In how many sessions the mean of each strategy is: the same at the larger size as over both
    sizes.
    """
    strategies = Findings.of(PlantedRun({}, {"scores": scores})).figures.strategies
    counts = []
    for name in STRATEGIES:
        over_sizes = strategies[name].same_size["exam_recall"]
        at_size = strategies[name].at_share[0.2]
        assert (over_sizes and over_sizes.n) == (at_size and at_size.n)
        counts.append(0 if at_size is None else at_size.n)
    return counts


def notes(folder: Path, **larger: int) -> str:
    """What the report says where a model read the contexts of the same sessions."""
    items = []
    for row in rows(**larger):
        item = {"session": row["session"], "project": row["session"], "strategy": row["strategy"]}
        item |= {"share": row["share"], "at": 5, "item": 0, "reader": "r", "reason": row["why"]}
        items.append(item | {"score": row["value"], "lexical": row["value"], "replicate": 0})
    written(folder, {})
    ExamResults.write(folder, items, {"reader": "r", "admission": {}})
    return " ".join(unescape(Report.open(folder).validation.html).split())


def test_where_everybody_gets_that_small_every_session_counts(tmp_path: Path) -> None:
    assert counted(rows()) == [12, 12, 12]
    assert "stays larger" not in notes(tmp_path)


def test_a_session_in_which_one_that_is_compared_stays_larger_counts_for_nobody(
    tmp_path: Path,
) -> None:
    assert counted(rows(truncate=1)) == [11, 11, 11]
    assert (
        "truncate stays larger than the size that was set in 1 of 12 sessions; no strategy's"
        " figures count it."
    ) in notes(tmp_path, truncate=1)


def test_who_stays_larger_in_more_than_a_tenth_takes_nothing_from_the_others(
    tmp_path: Path,
) -> None:
    assert counted(rows(masks=2)) == [12, 12, 10]
    assert (
        "masks stays larger than the size that was set in 2 of 12 sessions; its figures are of the"
        " other 10 sessions and may not be compared."
    ) in notes(tmp_path / "two", masks=2)
    assert counted(rows(masks=12, truncate=1)) == [11, 11, 0]
    assert "in 12 of 12 sessions; it has no figures." in notes(tmp_path / "all", masks=12)
