"""A run's folder through versions and accidents."""

from __future__ import annotations

import contextlib
import json
import resource
import signal
from inspect import get_annotations
from pathlib import Path

import pandas as pd
import pytest
from planted_run import TABLES, VERSION, simulation

from profiles import FULL
from workbench import Results, SettingError, TrialResults
from workbench.evaluation.experiment.run_folder import RunFolder


def written(folder: Path, schema: object = VERSION) -> Path:
    RunFolder(folder).write(
        {"replays": [{"session": "s", "strategy": "none", "status": "ok", "reason": ""}]}, {}
    )
    (folder / "manifest.json").write_text(json.dumps({"schema": schema}))
    return folder


@pytest.mark.parametrize(
    ("schema", "advice"), [(VERSION + 1, "install"), (VERSION - 1, "again"), (None, "again")]
)
def test_a_run_of_another_version_is_refused_in_a_sentence_that_says_what_to_do(
    tmp_path: Path, schema: object, advice: str
) -> None:
    with pytest.raises(
        SettingError, match=f"tables of version {schema}, .* reads version {VERSION}; .*{advice}"
    ):
        Results.open(written(tmp_path / "run", schema))


def test_a_run_from_before_a_column_and_a_table_came_has_them_empty(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    table = pd.read_parquet(folder / "replays.parquet")
    table.drop(columns=["reason"]).to_parquet(folder / "replays.parquet")
    (folder / "losses.parquet").unlink()
    results = Results.open(folder)
    assert results.replays["reason"].isna().all() and results.replays["strategy"].tolist() == [
        "none"
    ]
    assert results.losses.empty
    assert {"entity", "evidence", "stage", "weight"} <= set(results.losses.columns)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_damaged_manifest_is_a_sentence(tmp_path: Path, text: str) -> None:
    folder = written(tmp_path / "run")
    (folder / "manifest.json").write_text(text)
    with pytest.raises(SettingError, match="no manifest of a run"):
        Results.open(folder)


def test_a_damaged_table_is_a_sentence(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    whole = (folder / "replays.parquet").read_bytes()
    for damaged in (b"nonsense", whole[: len(whole) // 2]):
        (folder / "replays.parquet").write_bytes(damaged)
        with pytest.raises(SettingError, match=r"replays\.parquet cannot be read as a table"):
            _ = Results.open(folder).replays


def test_a_flipped_bit_in_a_table_is_a_sentence_or_changes_a_value(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    whole = (folder / "replays.parquet").read_bytes()
    for at in range(0, len(whole), 13 if FULL else 101):
        (folder / "replays.parquet").write_bytes(
            whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]
        )
        with contextlib.suppress(SettingError):
            _ = Results.open(folder).replays


@pytest.mark.parametrize(
    "damaged", ['{"replays": 1}', "[]", "", "\0\0", '{"sha256": "", "replay": {"usd": 1}}']
)
def test_a_kept_replay_that_is_not_as_it_was_written_counts_as_none(
    tmp_path: Path, damaged: str
) -> None:
    folder = RunFolder(tmp_path)
    folder.keep("k", {"usd": 1.5, "text": "café\n"})
    path = tmp_path / "replays" / "k.json"
    whole = path.read_text()
    assert folder.replay("k") == json.loads(whole)["replay"] == {"usd": 1.5, "text": "café\n"}
    for text in (damaged, whole * 2, whole[:-1], whole.replace("1.5", "9.5")):
        path.write_text(text)
        assert folder.replay("k") is None


def test_what_killed_processes_left_is_taken_away(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    (folder / "replays").mkdir()
    (folder / "replays" / ".x.json.1.part").write_text("half")
    RunFolder(folder).tidy(before=0)
    assert (folder / "replays" / ".x.json.1.part").exists()
    RunFolder(folder).tidy(before=2**40)
    assert not list(folder.rglob("*.part"))


def test_a_full_disk_names_the_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    told = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"trials\.parquet"):
            TrialResults.write(tmp_path, [{"strategy": "none", "family": "bundled"}], {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, told)
    assert not list(tmp_path.iterdir())


def test_the_simulation_behind_the_bill_is_a_table_of_the_run(tmp_path: Path) -> None:
    folder = written(tmp_path / "run")
    before = Results.open(folder)
    assert not hasattr(before, "simulated") and "simulated" not in dir(before)
    with pytest.raises(AttributeError, match="lab simulate"):
        _ = before.look_ups
    simulation([{"session": "s1", "strategy": "truncate", "saved_usd_net": 0.25}]).to_parquet(
        folder / "simulated.parquet"
    )
    run = Results.open(folder)
    assert list(run.simulated["saved_usd_net"]) == [0.25]
    assert run.simulated.attrs["units"]["saved_usd_net"] == "USD"
    assert "simulated" in dir(run)


def test_the_tables_are_listed_for_completion_and_declared_for_type_checkers(
    tmp_path: Path,
) -> None:
    results = Results.open(written(tmp_path / "run"))
    assert set(TABLES) <= set(dir(results))
    declared = [name for kind in Results.__mro__ for name in get_annotations(kind)]
    assert [name for name in declared if name != "path"] == [*TABLES, "simulated", "look_ups"]
    assert {"path", "manifest", "report", "table"} <= set(dir(results))
    with pytest.raises(AttributeError, match="a run has no table 'score'"):
        _ = results.score  # type: ignore[attr-defined]
