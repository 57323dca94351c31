"""A grid becomes one run in which every point is a strategy."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import conversation, remembering, reporting, rules
from workbench import (
    LeftOut,
    Preset,
    Report,
    Results,
    Session,
    SettingError,
    UnknownName,
    preset,
    save,
    sweep,
    sweep_table,
)
from workbench.evaluation.experiment.table_columns import COLUMNS

GRID = """
strategies = ["truncate", "summarize"]
windows = [4000, 8000]
shares = [0.2]

[settings.summarize]
trigger.threshold = [0.6, 0.9]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "in").mkdir()
    save(Session.of([rules("be brief"), *remembering(24)], id="s"), folder / "in" / "s.jsonl")
    (folder / "grid.toml").write_text(f"sessions = [{str(folder / 'in')!r}]\n{GRID}")
    return sweep(folder / "grid.toml", out=folder / "run", quiet=True)


def test_every_combination_is_a_strategy_named_after_what_varies(results: Results) -> None:
    assert list(results.variants["strategy"]) == [
        "truncate window=4000",
        "truncate window=8000",
        "summarize threshold=0.6 window=4000",
        "summarize threshold=0.6 window=8000",
        "summarize threshold=0.9 window=4000",
        "summarize threshold=0.9 window=8000",
    ]
    references = {"none", "oracle", "random", "null"}
    assert set(results.replays["strategy"]) - references == set(results.variants["strategy"])
    assert {"none", "null"} <= set(results.replays["strategy"]) and results.failed == 0


def test_the_points_differ_as_their_settings_do(results: Results) -> None:
    table = sweep_table(results).set_index("strategy")
    assert (
        table.at["truncate window=4000", "peak_context"]
        < table.at["truncate window=8000", "peak_context"]
    )
    early, late = (f"summarize threshold={t} window=4000" for t in ("0.6", "0.9"))
    assert table.at[early, "peak_context"] < table.at[late, "peak_context"]
    assert table.at[early, "trigger.threshold"] == 0.6 and table.at[early, "window"] == 4000
    assert table["on_frontier"].any()


def test_a_sweep_goes_on_from_the_replays_that_are_there_and_gives_the_same_bytes(
    results: Results,
) -> None:
    replays = {path: path.stat().st_mtime_ns for path in results.path.rglob("replays/*.json")}
    before = {name: (results.path / f"{name}.parquet").read_bytes() for name in COLUMNS}
    sweep(results.path.parent / "grid.toml", out=results.path, quiet=True)
    assert {
        path: path.stat().st_mtime_ns for path in results.path.rglob("replays/*.json")
    } == replays
    assert {name: (results.path / f"{name}.parquet").read_bytes() for name in COLUMNS} == before


def test_where_windows_differ_no_session_claims_one_of_them(results: Results) -> None:
    assert results.sessions["window_used"].isna().all()


def test_windows_that_come_to_the_same_are_one_point_and_the_run_says_so(tmp_path: Path) -> None:
    save(
        Session.of(reporting(conversation(24, words=60), overhead=30_000), id="tools"),
        tmp_path / "tools.jsonl",
    )
    grid = {
        "sessions": [str(tmp_path / "tools.jsonl")],
        "strategies": ["truncate"],
        "windows": [8_000, 16_000],
    }
    with pytest.warns(LeftOut, match="the points with window 16,000 are left out"):
        results = sweep(grid, out=tmp_path / "run", quiet=True)
    assert sweep_table(results)["window"].tolist() == [8_000]
    assert "same window as with 8,000" in Report(results).sweep.plain


def test_a_run_that_is_no_sweep_has_no_sweep_table(results: Results) -> None:
    with pytest.raises(SettingError, match="is no sweep"):
        sweep_table(Results.open(next(iter((results.path / "runs").iterdir()))))


def test_a_strategy_of_ones_own_can_be_swept(tmp_path: Path) -> None:
    inner = preset("truncate")
    own = Preset("mine", inner.strategy, inner.trigger)
    grid = {
        "strategies": [own],
        "shares": [],
        "windows": [4000],
        "settings": {"mine": {"threshold": [0.5, 0.9]}},
    }
    save(Session.of([rules("be brief"), *remembering(20)], id="s"), tmp_path / "s.jsonl")
    found = sweep({**grid, "sessions": [str(tmp_path / "s.jsonl")]}, out=tmp_path / "run")
    assert list(found.variants["strategy"]) == ["mine threshold=0.5", "mine threshold=0.9"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"wnidows": [4000]},
            "there is no setting `wnidows`; there are redact, unmasked, price_model, prices",
        ),
        ({"windows": 4000}, "`windows` is 4000; it must be a list"),
        ({"windows": []}, "it must be a list of 1 or more values"),
        ({"windows": ["big"]}, "`windows` holds 'big'; it must be a whole number"),
        ({"windows": [10]}, "`windows` holds 10; it must be at least 1000"),
        ({"windows": [4000, 4000]}, "twice"),
        ({"shares": [2]}, "`shares` holds 2; it must be less than 1"),
        ({"limit": 0}, "`limit` is 0; it must be at least 1"),
        ({"redact": "yes"}, "it must be true or false"),
        (
            {"settings": {"summarize": {"nonsense": [1]}}},
            "no setting 'nonsense'; `workbench list strategies summarize` shows all",
        ),
        (
            {"settings": {"summarize": {"threshold": []}}},
            "at least one string, number, boolean or list",
        ),
        ({"settings": {"opal": {"threshold": [0.5]}}}, "not among the strategies"),
        (
            {"settings": {"summarize": {"most": list(range(500)), "least": [1, 2, 3]}}},
            "1,503 points",
        ),
    ],
)
def test_a_wrong_grid_is_one_sentence_and_nothing_runs(
    fields: dict[str, object], said: str
) -> None:
    with pytest.raises(SettingError, match=said):
        sweep(fields)


def test_an_unknown_strategy_is_told_with_those_that_are_known() -> None:
    with pytest.raises(UnknownName, match="known are"):
        sweep({"strategies": ["nonsense"]})


def test_a_file_that_is_no_toml_names_itself(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text("strategies = [")
    with pytest.raises(SettingError, match=r"grid\.toml cannot be read"):
        sweep(tmp_path / "grid.toml")
    with pytest.raises(SettingError, match="there is no file"):
        sweep(tmp_path / "none.toml")
