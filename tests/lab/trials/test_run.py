from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pandas.testing import assert_frame_equal
from planted_run import written

import workbench as wb
from profiles import FULL
from workbench import (
    Completion,
    Report,
    SettingError,
    SummaryRequest,
    TrialResults,
    UnknownName,
)
from workbench.cli import main

FEW = ("far_dependency",)


def tried(out: Path, **settings: Any) -> TrialResults:
    """The trials of one task under one strategy, with these settings more."""
    results = wb.trial(
        families=FEW, seeds=1, strategies=("truncate",), quiet=True, out=out, **settings
    )
    assert results is not None
    return results


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> TrialResults:
    return tried(tmp_path_factory.mktemp("trials"))


def test_each_strategy_is_tried_on_each_task_between_the_references(
    done: TrialResults, tmp_path: Path
) -> None:
    table = done.table
    assert list(table.columns) == list(TrialResults.write(tmp_path, [], {}).table.columns)
    assert [*table["strategy"]] == ["none", "truncate", "null"] * len(FEW)
    assert (table["status"] == "ok").all()
    assert (table[table["strategy"] == "none"]["success"] == 1).all()
    assert table[table["strategy"] != "none"].groupby("family")["window"].nunique().eq(1).all()


@pytest.mark.slow
def test_it_is_the_same_when_it_goes_on_after_it_was_killed(
    done: TrialResults, tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-m",
        "workbench",
        "lab",
        "trial",
        "--families",
        ",".join(FEW),
        "--seeds",
        "1",
    ]
    command += [
        "--strategies",
        "truncate",
        "--out",
        str(tmp_path),
        "--quiet",
        "--jobs",
        "2" if FULL else "1",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=dict(os.environ)) as running:
        until = time.monotonic() + 60
        while not list(tmp_path.glob("replays/*.json")) and time.monotonic() < until:
            time.sleep(0.005)
        running.send_signal(signal.SIGKILL)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("replays/*.json")}
    assert kept
    again = tried(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert_frame_equal(again.table, done.table)


class BrokenModel:
    """An agent with a bug."""

    name = "broken"

    def complete(self, request: SummaryRequest, /) -> Completion:
        raise ZeroDivisionError("division by zero")


def test_a_bug_in_an_agent_fails_its_trials_and_leaves_the_table(tmp_path: Path) -> None:
    trial_results = tried(tmp_path, agent=BrokenModel(), window=4_000, no_sandbox=True)
    assert (trial_results.table["status"] == "failed").all()
    assert (trial_results.table["reason"] == "ZeroDivisionError: division by zero").all()


@pytest.mark.skipif(not FULL, reason="starts a cluster")
def test_a_cluster_comes_to_the_same(done: TrialResults, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as there:
        trial_results = tried(tmp_path, scheduler=there.scheduler_address)
    assert_frame_equal(trial_results.table, done.table)


def test_the_command_prints_what_each_strategy_succeeds_in(
    done: TrialResults, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "lab",
        "trial",
        "--families",
        ",".join(FEW),
        "--seeds",
        "1",
        "--strategies",
        "truncate",
        "--jobs",
        "1",
        "--quiet",
    ]
    assert main([*words, "--out", str(done.path)]) == 0
    text = capsys.readouterr().out
    assert all(word in text for name in FEW for word in name.split("_"))
    assert main([*words, "--out", str(done.path), "--dry-run"]) == 0
    assert "it costs nothing" in capsys.readouterr().out


def test_its_tables_fit_80_columns_and_break_no_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ways = "openhands_rolling,truncate+recall"
    words = [
        "lab",
        "trial",
        "--families",
        "far_dependency",
        "--seeds",
        "1",
        "--strategies",
        ways,
        "--quiet",
    ]
    assert main([*words, "--out", str(tmp_path)]) == 0
    first, *tables = capsys.readouterr().out.partition("Table:")[0].split("\n\n")
    assert all(len(line) <= 80 for text in (first, tables[-1]) for line in text.splitlines())
    for text in (first, tables[-1]):
        assert all(
            any(line.startswith(f"{name} ") for line in text.splitlines())
            for name in ways.split(",")
        )


def test_half_a_character_in_a_reason_does_not_lose_the_table(tmp_path: Path) -> None:
    trial_results = TrialResults.write(
        tmp_path, [{"strategy": "none", "reason": "half \ud800"}], {}
    )
    assert trial_results.table["reason"].tolist() == ["half ?"]


def test_intervals_are_paired_by_family(tmp_path: Path) -> None:
    gains = [1, 1, 1, 1, 1, 0, 1, 1]
    rows = [
        {"strategy": name, "family": f"f{family}", "seed": seed, "status": "ok", "success": value}
        for family, gain in enumerate(gains)
        for seed in range(3)
        for name, value in (("truncate", 0), ("summarize", gain))
    ]
    TrialResults.write(written(tmp_path, {}), rows, {})
    table = Report.open(tmp_path).closed_loop.data
    assert table is not None
    summarize = table.set_index("strategy").loc["summarize"]
    assert summarize["difference"] == pytest.approx(7 / 8)
    assert 0 < summarize["low"] < 7 / 8 < summarize["high"]


def test_a_forecast_of_a_models_bill_comes_before_it_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("litellm")
    words = [
        "trial",
        "--agent",
        "litellm:gpt-4o-mini",
        "--families",
        FEW[0],
        "--seeds",
        "2",
        "--strategies",
        "truncate",
    ]
    assert main([*words, "--no-sandbox", "--dry-run", "--out", str(tmp_path)]) == 0
    assert "requests to gpt-4o-mini for the agent" in capsys.readouterr().out.replace(
        "litellm:", ""
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main([*words, "--dry-run", "--out", str(tmp_path)]) == 2
    assert "bubblewrap" in capsys.readouterr().err


def test_the_window_is_that_of_the_whole_task_when_trials_are_short(
    done: TrialResults, tmp_path: Path
) -> None:
    trial_results = tried(tmp_path, steps=3)
    assert set(trial_results.table["reason"]) == {"it was stopped after 3 answers"}
    assert list(trial_results.table["window"]) == list(done.table["window"])


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"families": ("no",)}, UnknownName),
        ({"seeds": 0}, SettingError),
        ({"share": 2}, SettingError),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        wb.trial(**wrong)  # type: ignore[arg-type]  # that is what is tried


def test_conversations_are_kept_as_sessions_on_request(done: TrialResults, tmp_path: Path) -> None:
    assert not (done.path / "conversations").exists()
    tried(tmp_path, conversations=True, no_references=True, turns=2)
    (file,) = (tmp_path / "conversations").iterdir()
    (session,) = wb.load(file)
    kept = json.loads(file.read_text())
    assert len(session.messages) > kept["start"] > len(kept["opening"]) > 0, (
        "the opening was compacted"
    )


def test_the_uncompacted_conversation_is_kept_though_it_measured_the_window(tmp_path: Path) -> None:
    tried(tmp_path, conversations=True)
    kept = {file.name.partition("-")[0] for file in (tmp_path / "conversations").iterdir()}
    assert kept == {"none", "truncate", "null"}


def test_a_folder_of_finished_trials_gets_its_conversations_when_they_are_asked_for(
    tmp_path: Path,
) -> None:
    tried(tmp_path, no_references=True)
    tried(tmp_path, no_references=True, conversations=True)
    assert len(list((tmp_path / "conversations").iterdir())) == 1


@pytest.mark.parametrize("name", ["bundled", "extractive"])
def test_a_model_that_only_writes_summaries_is_no_agent(name: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=f"{name} is no language model"):
        tried(tmp_path / "run", agent=name)
    assert not (tmp_path / "run").exists()
