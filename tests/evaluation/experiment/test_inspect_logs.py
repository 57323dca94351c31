"""Our scores as logs of Inspect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import answer
from planted_run import TABLES, written

from workbench import load


@pytest.fixture
def run(tmp_path: Path) -> Path:
    place = {
        "strategy": "mine",
        "metric": "exam_recall",
        "unit": "share",
        "better": "higher",
        "n": 4,
    }
    scores = [
        {**place, "session": "s0", "mode": "natural", "value": 0.5, "why": ""},
        {**place, "session": "s0", "mode": "matched", "share": 0.2, "value": 0.25, "why": ""},
        {**place, "session": "s1", "mode": "natural", "value": None, "why": "nothing was needed"},
    ]
    tables = {
        "sessions": [{"session": "s0", "title": "A <b>title</b>"}, {"session": "s1"}],
        "replays": [
            {"session": "s0", "strategy": "mine", "status": "ok", "reason": ""},
            {"session": "s1", "strategy": "mine", "status": "failed", "reason": "the model failed"},
        ],
        "scores": scores,
    }
    manifest = {"created": 1_790_000_000, "settings": {"model": "extractive"}}
    return written(tmp_path / "run", tables, manifest)


def logs_of(run: Path, out: Path) -> list[Path]:
    """The logs that `workbench runs export` writes."""
    return [Path(file) for file in answer("runs", "export", run, "--out", out)["files"]]


def test_a_strategy_is_a_log_with_a_sample_a_session(run: Path, tmp_path: Path) -> None:
    (path,) = logs_of(run, tmp_path / "logs")
    log = json.loads(path.read_text())
    assert log["eval"]["metadata"]["strategy"] == "mine"
    scores = {sample["id"]: sample["scores"] for sample in log["samples"]}
    found = {name: score["value"] for name, score in scores["s0"].items()}
    assert found == {
        "exam_recall": 0.5,
        "exam_recall@20%": 0.25,
    }


def test_what_has_no_value_and_what_failed_says_why_and_is_no_zero(
    run: Path, tmp_path: Path
) -> None:
    log = json.loads(logs_of(run, tmp_path / "logs")[0].read_text())
    assert log["status"] == "error" and log["results"]["completed_samples"] == 1
    assert log["samples"][1]["scores"] == {}
    assert log["samples"][1]["metadata"]["without_a_value"] == {"exam_recall": "nothing was needed"}
    assert log["samples"][1]["error"]["message"] == "the model failed"
    assert {one["name"]: one["metrics"]["mean"]["value"] for one in log["results"]["scores"]} == {
        "exam_recall": 0.5,
        "exam_recall@20%": 0.25,
    }


def test_inspect_itself_reads_our_log(run: Path, tmp_path: Path) -> None:
    logs = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed")
    (path,) = logs_of(run, tmp_path / "logs")
    log = logs.read_eval_log(str(path))
    assert log.samples[0].scores["exam_recall"].value == 0.5


def test_the_command_writes_logs_or_tables(run: Path, tmp_path: Path) -> None:
    assert logs_of(run, tmp_path / "logs") == [tmp_path / "logs" / "mine.json"]
    files = answer("runs", "export", run, "--to", "csv", "--out", tmp_path / "csv")["files"]
    assert {Path(file) for file in files} == set((tmp_path / "csv").iterdir())
    assert {Path(file).stem for file in files} == set(TABLES)


def test_a_log_of_ours_holds_no_conversation(run: Path, tmp_path: Path) -> None:
    (path,) = logs_of(run, tmp_path / "logs")
    assert all(not session.messages for session in load(path))
