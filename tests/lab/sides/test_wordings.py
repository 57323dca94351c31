"""The same facts in three wordings."""

import json
from importlib.resources import files

import pytest

from workbench.lab.sides.side import SideTable
from workbench.lab.sides.wordings import wordings


@pytest.fixture(scope="module")
def table() -> SideTable:
    return wordings()


def test_each_wording_tells_the_same_facts(table: SideTable) -> None:
    counts = table.rows.groupby("half")["facts"].unique()
    assert counts["the work"].tolist() == [40]
    assert counts["names"].tolist() == [12]


@pytest.mark.parametrize("half", ["the work", "names"])
def test_a_measure_sees_most_in_the_exam_s_own_words(half: str, table: SideTable) -> None:
    reader = table.rows[table.rows["half"] == half].set_index("wording")["reader"]
    assert reader["verbatim"] > reader["terse"]
    assert reader["verbatim"] > reader["other words"]


def test_the_sentence_has_the_gap(table: SideTable) -> None:
    reader = table.rows[table.rows["half"] == "the work"].set_index("wording")["reader"]
    assert f"{reader['verbatim'] - reader['other words']:.2f} on the work" in table.says


def test_a_name_stands_in_each_of_its_wordings() -> None:
    document = json.loads(files("workbench.lab.sides").joinpath("wordings.json").read_text("utf-8"))
    for fact in document["names"]:
        for wording in ("terse", "other_words"):
            assert fact["name"].split()[0] in fact[wording], fact
