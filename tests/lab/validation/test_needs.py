"""Sheets of the exam's items for readers to label, and what their labels say."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command import answer, printed

import workbench as wb
from workbench.cli import main
from workbench.recordings.datasets.generator import generate

LABELS = {"label": ("needed", "boilerplate", "duplicate"), "given_away": ("yes", "no")}

ITEMS = 12
TEXTS = ["request", "evidence", "use", "cue", "answer", "look_alikes"]
NEEDS = ("lab", "validate", "needs")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recordings")
    for seed in (1, 2):
        wb.save(generate(30_000, seed, "coding").session, folder / f"{seed}.jsonl")
    return folder


def sheet(recordings: Path, file: Path, items: int = ITEMS) -> pd.DataFrame:
    """A sheet as a reader opens it."""
    printed(*NEEDS, recordings, "--sheet", file, "--items", items)
    return pd.read_csv(file, dtype={"key": str}, keep_default_na=False)


@pytest.fixture(scope="module")
def items(recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return sheet(recordings, tmp_path_factory.mktemp("sheet") / "items.csv")


def filled(items: pd.DataFrame, path: Path, labels: list[str], given_away: int = 0) -> Path:
    given = ["yes"] * given_away + ["no"] * (len(items) - given_away)
    items.assign(label=labels, given_away=given).to_csv(path, index=False)
    return path


def precision(*sheets: Path, recordings: Path | None = None) -> dict[str, dict[str, Any]]:
    """What the command says of two filled sheets, by kind of item."""
    words: list[object] = [*NEEDS]
    if recordings is not None:
        words.append(recordings)
    for path in sheets:
        words += ["--labels", path]
    rows = answer(*words)["items that the agent needed"]
    return {row["kind"]: row for row in rows}


def complaint(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What the command says of input that it cannot use."""
    assert main([*NEEDS, *map(str, words)]) == 2
    return capsys.readouterr().err


def test_a_sheet_has_each_item_once_and_the_same_ones_each_time(
    recordings: Path, items: pd.DataFrame, tmp_path: Path
) -> None:
    assert len(items) == ITEMS and not items.duplicated(["session", "key"]).any()
    assert (items.groupby("session").size() == ITEMS / 2).all() and (items["label"] == "").all()
    pd.testing.assert_frame_equal(items, sheet(recordings, tmp_path / "again.csv"))


def test_what_an_earlier_boundary_asks_for_is_in_no_sheet_again(
    recordings: Path, tmp_path: Path
) -> None:
    every = sheet(recordings, tmp_path / "every.csv", 1_000)
    assert every.groupby(["session", "kind", "answer"])["at"].nunique().max() == 1


def test_a_row_has_what_a_reader_needs_and_stands_for_items_of_its_kind(
    items: pd.DataFrame,
) -> None:
    facts = items[items["kind"] == "fact"]
    assert (facts[["evidence", "use", "answer", "look_alikes", "cue"]] != "").all().all()
    assert (items["weight"] >= 1).all() and (facts["between"].astype(float) > 0).all()


def test_two_readers_give_a_precision_and_their_agreement(
    items: pd.DataFrame, tmp_path: Path
) -> None:
    path = filled(
        items, tmp_path / "one.csv", ["needed"] * 9 + ["boilerplate"] * 3, given_away=ITEMS
    )
    other = filled(items, tmp_path / "other.csv", ["needed"] * 6 + ["duplicate"] * 6)
    found = precision(path, other)["all"]
    first, both = (items["weight"] * ([1] * n + [0] * (ITEMS - n)) for n in (9, 6))
    sums = items["weight"].groupby(items["session"]).sum()
    assert found["needed"] == pytest.approx((both.groupby(items["session"]).sum() / sums).mean())
    assert found["by_either"] == pytest.approx(
        (first.groupby(items["session"]).sum() / sums).mean()
    )
    assert found["kappa"] == pytest.approx(0.5) and found["given_away"] == 0


@pytest.mark.parametrize(
    ("first", "second", "kappa"),
    [
        (["needed", "needed", "duplicate"], ["needed", "needed", "boilerplate"], 1),
        (["needed", "needed", "duplicate", "duplicate"], ["needed", "duplicate"] * 2, 0),
        (["needed"], ["needed"], None),
    ],
)
def test_kappa_takes_chance_off(
    items: pd.DataFrame, tmp_path: Path, first: list[str], second: list[str], kappa: float | None
) -> None:
    one = filled(items, tmp_path / "one.csv", first * (ITEMS // len(first)))
    other = filled(items, tmp_path / "other.csv", second * (ITEMS // len(second)))
    assert precision(one, other)["all"]["kappa"] == kappa


def test_labels_hold_while_the_exam_asks_the_item(
    recordings: Path, items: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = filled(items, tmp_path / "items.csv", ["needed"] * ITEMS)
    assert precision(path, path, recordings=recordings)["all"]["items"] == ITEMS
    other = filled(items.assign(key="0" * 12), tmp_path / "other.csv", ["needed"] * ITEMS)
    text = complaint(capsys, recordings, "--labels", other, "--labels", other)
    assert "none of the labelled items" in text


def test_a_sheet_with_another_label_is_refused_by_its_row(
    items: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = filled(items, tmp_path / "one.csv", ["needed"] * (ITEMS - 1) + ["maybe"])
    twice = ("--labels", path, "--labels", path)
    text = complaint(capsys, *twice)
    assert "one.csv, row 13: label is 'maybe'; it must be one of needed" in text
    items.drop(columns="key").to_csv(path)
    assert "the column 'key' is missing" in complaint(capsys, *twice)
    path.write_text("no table\n\n1,2,3\n1,2,3,4\n")
    assert "is no table of comma-separated values" in complaint(capsys, *twice)


def test_the_labels_that_ship_are_of_two_readers_and_hold_no_text() -> None:
    shipped = precision()["all"]
    assert shipped["items"] >= 300 and shipped["sessions"] >= 30
    with files("workbench.lab.validation").joinpath("needs.csv").open() as file:
        found = pd.read_csv(file, dtype={"key": str})
    assert len(found) == shipped["items"]
    for name, known in LABELS.items():
        assert set(found[f"{name}_1"]) | set(found[f"{name}_2"]) <= set(known)
    assert {"session", "at", "kind", "key"} <= set(found) and not set(TEXTS) & set(found)
