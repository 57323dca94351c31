"""How far the readers of the same exams agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from command import answer

from workbench import ExamResults
from workbench.cli import main

KNOWN: dict[str, tuple[float, ...]] = {
    "good": (1.0, 1.0, 1.0),
    "fair": (1.0, 1.0, 0.0),
    "poor": (0.0, 0.0, 0.0),
}
Row: TypeAlias = dict[str, Any]


def sat(reader: str, scores: dict[str, tuple[float, ...]], at: int = 40) -> list[Row]:
    """One boundary read by a reader: the scores of each strategy's items; the lexical reader's
    are `KNOWN`.
    """
    return [
        {
            "session": "s",
            "project": "p",
            "strategy": name,
            "share": 0.2,
            "at": at,
            "item": item,
            "reader": reader,
            "score": score,
            "lexical": KNOWN[name][item],
            "replicate": 0,
        }
        for name, own in scores.items()
        for item, score in enumerate(own)
    ]


def agreed(folder: Path, *exams: Sequence[Row]) -> dict[tuple[str, str], Row]:
    """What `workbench lab validate models` says of these exams, by pair of readers."""
    folders = []
    for number, rows in enumerate(exams):
        folders.append(folder / f"exam-{number}")
        ExamResults.write(folders[-1], rows, {"reader": rows[0]["reader"]})
    pairs = answer("lab", "validate", "models", *folders)["readers"]
    return {(row["reader"], row["other"]): row for row in pairs}


def test_a_reader_is_held_against_the_lexical_one_and_against_each_other_reader(
    tmp_path: Path,
) -> None:
    reverse = dict(zip(KNOWN, reversed(list(KNOWN.values())), strict=True))
    found = agreed(tmp_path, sat("same", KNOWN), sat("reverse", reverse))
    same = found["same", "lexical"]
    assert (same["agreement"], same["kappa"], same["rank"]) == (1, 1, 1)
    assert found["reverse", "lexical"]["rank"] == -1
    both = found["same", "reverse"]
    assert (both["items"], both["rank"], both["boundaries"]) == (9, -1, 1)


def test_two_runs_of_one_reader_count_together(tmp_path: Path) -> None:
    found = agreed(tmp_path, sat("one", KNOWN), sat("one", KNOWN, at=60))
    assert list(found) == [("one", "lexical")]
    assert found["one", "lexical"]["boundaries"] == 2


def test_readers_of_different_exams_are_no_pair(tmp_path: Path) -> None:
    assert len(agreed(tmp_path, sat("one", KNOWN), sat("other", KNOWN, at=60))) == 2


def test_a_folder_without_an_exam_is_told_how_to_get_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "validate", "models", str(tmp_path)]) == 2
    assert "workbench lab judge exam" in capsys.readouterr().err
