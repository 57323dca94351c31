"""The same facts in three wordings."""

import json
from importlib.resources import files
from typing import Any

import pytest
from command import answer


@pytest.fixture(scope="module")
def side() -> dict[str, Any]:
    """What `workbench lab validate wordings` says."""
    said: dict[str, Any] = answer("lab", "validate", "wordings")
    return said


def readers(side: dict[str, Any], half: str) -> dict[str, float]:
    """What the reader of a half sees of the facts, by wording."""
    return {row["wording"]: row["reader"] for row in side["rows"] if row["half"] == half}


def test_each_wording_tells_the_same_facts(side: dict[str, Any]) -> None:
    assert {row["facts"] for row in side["rows"] if row["half"] == "the work"} == {40}
    assert {row["facts"] for row in side["rows"] if row["half"] == "names"} == {12}


@pytest.mark.parametrize("half", ["the work", "names"])
def test_a_measure_sees_most_in_the_exam_s_own_words(half: str, side: dict[str, Any]) -> None:
    reader = readers(side, half)
    assert reader["verbatim"] > reader["terse"]
    assert reader["verbatim"] > reader["other words"]


def test_the_sentence_has_the_gap(side: dict[str, Any]) -> None:
    reader = readers(side, "the work")
    gap = reader["verbatim"] - reader["other words"]
    assert f"lose {gap:.2f} on the work" in side["says"]


def test_a_name_stands_in_each_of_its_wordings() -> None:
    document = json.loads(files("workbench.lab.sides").joinpath("wordings.json").read_text("utf-8"))
    for fact in document["names"]:
        for wording in ("terse", "other_words"):
            assert fact["name"].split()[0] in fact[wording], fact
