"""How far the readers of the same exams agree."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from workbench import ExamResults
from workbench.cli import main
from workbench.lab.judge.exam.scores import readers_agreement

KNOWN: dict[str, tuple[float, ...]] = {
    "good": (1.0, 1.0, 1.0),
    "fair": (1.0, 1.0, 0.0),
    "poor": (0.0, 0.0, 0.0),
}


def sat(reader: str, scores: dict[str, tuple[float, ...]], at: int = 40) -> list[dict[str, object]]:
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


def agreed(*rows: list[dict[str, object]]) -> pd.DataFrame:
    return readers_agreement(map(pd.DataFrame, rows)).set_index(["reader", "other"])


def test_a_reader_is_held_against_the_lexical_one_and_against_each_other_reader() -> None:
    reverse = dict(zip(KNOWN, reversed(list(KNOWN.values())), strict=True))
    found = agreed(sat("same", KNOWN), sat("reverse", reverse))
    assert found.loc[("same", "lexical"), ["agreement", "kappa", "rank"]].tolist() == [1, 1, 1]
    assert found.loc[("reverse", "lexical"), "rank"] == -1
    assert found.loc[("same", "reverse"), ["items", "rank", "boundaries"]].tolist() == [9, -1, 1]


def test_two_runs_of_one_reader_count_together() -> None:
    found = agreed(sat("one", KNOWN), sat("one", KNOWN, at=60))
    assert found.index.tolist() == [("one", "lexical")]
    assert found.iloc[0]["boundaries"] == 2


def test_readers_of_different_exams_are_no_pair() -> None:
    assert len(agreed(sat("one", KNOWN), sat("other", KNOWN, at=60))) == 2


def test_the_command_reads_the_folders_of_exams(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ExamResults.write(tmp_path / "exam", sat("one", KNOWN), {"reader": "one"})
    assert main(["lab", "validate", "models", str(tmp_path / "exam"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["readers"]
    assert (row["reader"], row["agreement"]) == ("one", 1)
    assert main(["lab", "validate", "models", str(tmp_path)]) == 2
    assert "workbench lab judge exam" in capsys.readouterr().err
