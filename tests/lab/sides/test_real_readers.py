"""What the measures predict beside what real readers answered."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from workbench import SettingError
from workbench.cli import main
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.lab.judge.work_exam.graded_answers import read_answers
from workbench.lab.sides import real_readers as side
from workbench.lab.sides.real_readers import (
    kind_of,
    ordered_pairs,
    own_studies,
    real_readers,
    work_answers,
)
from workbench.lab.sides.side import SideTable

SECOND_LOOK = side.STUDIES / "second-look"


@pytest.fixture(scope="module")
def table() -> SideTable:
    return real_readers([SECOND_LOOK])


def answers(*contexts: tuple[str, float, float]) -> pd.DataFrame:
    """An answer of one boundary for each strategy, with its measure and the real reader's score."""
    place = {"session": "s", "at": 9, "share": 0.1, "writer": "", "chain": 1}
    rows = [
        place | {"strategy": name, "measure": value, "score": score}
        for name, value, score in contexts
    ]
    return pd.DataFrame(rows)


def test_both_halves_stand_beside_bm25(table: SideTable) -> None:
    measures = table.rows.groupby("half")["measure"].apply(list)
    assert "BM25" in measures["the work"] and "BM25" in measures["names"]
    assert (table.rows["answers"] > 0).all()


def test_the_fitted_reader_is_ahead_of_bm25_on_the_same_answers(table: SideTable) -> None:
    auc = table.rows[table.rows["half"] == "the work"].set_index("measure")["auc"]
    assert auc["fitted reader, as shipped, answers with BM25"] > auc["BM25"] > 0.5


def test_every_answer_is_in_one_tenth_and_one_kind(table: SideTable) -> None:
    expected = len(read_answers([SECOND_LOOK]))
    assert table.details["calibration, from the lowest promised tenth"]["answers"].sum() == expected
    assert table.details["level by kind of context"]["answers"].sum() == expected


def test_the_shipped_reader_s_chance_is_that_of_the_features() -> None:
    rows = work_answers([SECOND_LOOK])
    features = rows.loc[0, list(shipped_reader().weights)].tolist()
    assert rows.loc[0, "shipped"] == pytest.approx(shipped_reader().probability(features))


def test_a_context_of_a_model_s_summary_is_told_from_a_rule_s() -> None:
    assert kind_of("summarize", "folder:summaries") == "a model's summary"
    assert kind_of("summarize", "extractive") == "a rule's summary"
    assert kind_of("soup", "") == "soup"


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
    assert real_readers().rows.empty
    assert real_readers().says == side.NOT_HERE


def test_a_folder_without_answers_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=str(tmp_path)):
        real_readers([tmp_path])


def test_the_command_writes_its_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["lab", "validate", "readers", str(SECOND_LOOK), "--out", str(tmp_path / "tables")])
        == 0
    )
    assert "fitted reader" in capsys.readouterr().out
    written = pd.read_csv(tmp_path / "tables" / "readers.csv")
    assert {"half", "measure", "auc", "order"} <= set(written.columns)
