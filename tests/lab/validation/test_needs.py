from pathlib import Path

import pandas as pd
import pytest

from workbench import Prepared, SettingError, prepared
from workbench.lab.validation.fetched_again import kappa, precision_table
from workbench.lab.validation.needs import labelled, sheet, still_asked
from workbench.recordings.datasets.generator import generate

LABELS = {"label": ("needed", "boilerplate", "duplicate"), "given_away": ("yes", "no")}

ITEMS = 12
TEXTS = ["request", "evidence", "use", "cue", "answer", "look_alikes"]


@pytest.fixture(scope="module")
def sessions() -> list[Prepared]:
    return [prepared(generate(30_000, seed, "coding").session) for seed in (1, 2)]


@pytest.fixture(scope="module")
def items(sessions: list[Prepared]) -> pd.DataFrame:
    return sheet(sessions, ITEMS, seed=1)


def filled(items: pd.DataFrame, path: Path, labels: list[str], given_away: int = 0) -> Path:
    given = ["yes"] * given_away + ["no"] * (len(items) - given_away)
    items.assign(label=labels, given_away=given).to_csv(path, index=False)
    return path


def test_a_sheet_has_each_item_once_and_the_same_ones_each_time(
    sessions: list[Prepared], items: pd.DataFrame
) -> None:
    assert len(items) == ITEMS and not items.duplicated(["session", "key"]).any()
    assert (items.groupby("session").size() == ITEMS / 2).all() and (items["label"] == "").all()
    pd.testing.assert_frame_equal(items, sheet(sessions, ITEMS, seed=1))
    assert set(sheet(sessions, ITEMS, seed=2)["key"]) != set(items["key"])


def test_what_an_earlier_boundary_asks_for_is_in_no_sheet_again(sessions: list[Prepared]) -> None:
    every = sheet(sessions, 1_000)
    assert every.groupby(["session", "kind", "answer"])["at"].nunique().max() == 1


def test_a_row_has_what_a_reader_needs_and_stands_for_items_of_its_kind(
    items: pd.DataFrame,
) -> None:
    facts = items[items["kind"] == "fact"]
    assert (facts[["evidence", "use", "answer", "look_alikes", "cue"]] != "").all().all()
    assert (items["weight"] >= 1).all() and (facts["between"] > 0).all()


def test_two_readers_give_a_precision_and_their_agreement(
    items: pd.DataFrame, tmp_path: Path
) -> None:
    path = filled(
        items, tmp_path / "one.csv", ["needed"] * 9 + ["boilerplate"] * 3, given_away=ITEMS
    )
    other = filled(items, tmp_path / "other.csv", ["needed"] * 6 + ["duplicate"] * 6)
    found = precision_table(labelled(path, other)).set_index("kind")
    first, both = (items["weight"] * ([1] * n + [0] * (ITEMS - n)) for n in (9, 6))
    sums = items["weight"].groupby(items["session"]).sum()
    assert found["needed"]["all"] == pytest.approx(
        (both.groupby(items["session"]).sum() / sums).mean()
    )
    assert found["by_either"]["all"] == pytest.approx(
        (first.groupby(items["session"]).sum() / sums).mean()
    )
    assert found["kappa"]["all"] == pytest.approx(0.5) and found["given_away"]["all"] == 0


def test_kappa_takes_chance_off() -> None:
    assert kappa([1, 1, 0, 0], [1, 1, 0, 0]) == 1 and kappa([1, 1, 0, 0], [1, 0, 1, 0]) == 0
    assert kappa([1, 1], [1, 1]) is None


def test_labels_hold_while_the_exam_asks_the_item(
    sessions: list[Prepared], items: pd.DataFrame
) -> None:
    labels = items.assign(label_1="needed", label_2="needed")
    assert len(still_asked(labels, sessions)) == ITEMS
    assert len(still_asked(labels.assign(key="0" * 12), sessions)) == 0
    with pytest.raises(SettingError, match="none of the labelled items"):
        precision_table(still_asked(labels, []))


def test_a_sheet_with_another_label_is_refused_by_its_row(
    items: pd.DataFrame, tmp_path: Path
) -> None:
    path = filled(items, tmp_path / "one.csv", ["needed"] * (ITEMS - 1) + ["maybe"])
    with pytest.raises(
        SettingError, match=r"one\.csv, row 13: label is 'maybe'; it must be one of needed"
    ):
        labelled(path, path)
    items.drop(columns="key").to_csv(path)
    with pytest.raises(SettingError, match="the column 'key' is missing"):
        labelled(path, path)
    path.write_text("no table\n\n1,2,3\n1,2,3,4\n")
    with pytest.raises(SettingError, match="is no table of comma-separated values"):
        labelled(path, path)


def test_the_labels_that_ship_are_of_two_readers_and_hold_no_text() -> None:
    found = labelled()
    assert len(found) >= 300 and found["session"].nunique() >= 30
    for name, known in LABELS.items():
        assert set(found[f"{name}_1"]) | set(found[f"{name}_2"]) <= set(known)
    assert {"session", "at", "kind", "key"} <= set(found) and not set(TEXTS) & set(found)
