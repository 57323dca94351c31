"""What the measures predict beside what real readers answered."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command import answer

from workbench.cli import main
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.lab.judge.work_exam.graded_answers import read_answers
from workbench.lab.sides import real_readers as side
from workbench.lab.sides.real_readers import (
    ordered_pairs,
    own_studies,
    work_answers,
)

SECOND_LOOK = side.STUDIES / "second-look"


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    """What `workbench lab validate readers` says of a study."""
    tables: dict[str, Any] = answer("lab", "validate", "readers", SECOND_LOOK)
    return tables


def answers(*contexts: tuple[str, float, float]) -> pd.DataFrame:
    """An answer of one boundary for each strategy, with its measure and the real reader's score."""
    place = {"session": "s", "at": 9, "share": 0.1, "writer": "", "chain": 1}
    rows = [
        place | {"strategy": name, "measure": value, "score": score}
        for name, value, score in contexts
    ]
    return pd.DataFrame(rows)


def test_both_halves_stand_beside_bm25(said: dict[str, Any]) -> None:
    for half in ("the work", "names"):
        assert "BM25" in {row["measure"] for row in said["rows"] if row["half"] == half}
    assert all(row["answers"] > 0 for row in said["rows"])


def test_the_fitted_reader_is_ahead_of_bm25_on_the_same_answers(said: dict[str, Any]) -> None:
    auc = {row["measure"]: row["auc"] for row in said["rows"] if row["half"] == "the work"}
    assert auc["fitted reader, as shipped, answers with BM25"] > auc["BM25"] > 0.5


def test_every_answer_is_in_one_tenth_and_one_kind(said: dict[str, Any]) -> None:
    expected = len(read_answers([SECOND_LOOK]))
    for title in ("calibration, from the lowest promised tenth", "level by kind of context"):
        assert sum(row["answers"] for row in said[title]) == expected


def test_the_shipped_reader_s_chance_is_that_of_the_features() -> None:
    rows = work_answers([SECOND_LOOK])
    features = rows.loc[0, list(shipped_reader().weights)].tolist()
    assert rows.loc[0, "shipped"] == pytest.approx(shipped_reader().probability(features))


def test_contexts_are_told_apart_by_who_made_them(said: dict[str, Any]) -> None:
    answers = read_answers([SECOND_LOOK])
    counts: Counter[str] = Counter()
    for row in said["level by kind of context"]:
        counts[row["kind"]] += row["answers"]
    is_of_rule = answers["writer"].str.startswith("extractive")
    is_of_model = (answers["writer"] != "") & ~is_of_rule
    assert counts["a model's summary"] == is_of_model.sum() > 0
    assert counts["a rule's summary"] == is_of_rule.sum()
    for name in ("null", "oracle", "soup", "index"):
        assert counts[name] == (answers["strategy"] == name).sum()


def test_only_contexts_that_real_readers_hold_apart_are_ordered() -> None:
    rows = answers(("a", 0.2, 0.2), ("b", 0.4, 0.25), ("c", 0.3, 0.9))
    assert ordered_pairs(rows, "measure") == (2, 0.5)


def test_equal_values_order_nothing_and_references_are_no_strategies() -> None:
    rows = answers(("a", 0.2, 0.2), ("b", 0.2, 0.9), ("oracle", 0.1, 1.0))
    assert ordered_pairs(rows, "measure") == (1, 0.0)


def test_the_project_s_own_answers_are_at_hand_in_a_checkout() -> None:
    assert [folder.name for folder in own_studies()] == list(side.OWN_STUDIES)


def test_an_installed_package_says_that_the_answers_do_not_ship(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side, "STUDIES", tmp_path)
    said = answer("lab", "validate", "readers")
    assert said["rows"] == []
    assert said["says"] == side.NOT_HERE


def test_a_folder_without_answers_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "validate", "readers", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_the_command_writes_its_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["lab", "validate", "readers", str(SECOND_LOOK), "--out", str(tmp_path / "tables")])
        == 0
    )
    assert "fitted reader" in capsys.readouterr().out
    written = pd.read_csv(tmp_path / "tables" / "readers.csv")
    assert {"half", "measure", "auc", "order"} <= set(written.columns)
